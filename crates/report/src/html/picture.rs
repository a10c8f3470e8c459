//! Pictures within a page: SVG files made to live side by side in one document.
//!
//! In one document all identifiers are shared, and a style rule of one picture would be a rule for all. So each picture gets a
//! name of its own, which its identifiers begin with and its rules are confined to.

use super::escape;
use crate::plot::{self, Plot};

/// Gives each picture of a page its own name.
#[derive(Debug, Default)]
pub struct Pictures {
    count: usize,
}

impl Pictures {
    /// The text of an SVG file as a part of the page, in a box that it may be too wide for.
    pub fn add(&mut self, svg: &str) -> String {
        self.count += 1;
        let name = format!("picture{}", self.count);
        let svg = svg.trim_start();
        let svg =
            if svg.starts_with("<?") { svg.split_once("?>").map_or(svg, |(_, rest)| rest.trim_start()) } else { svg };
        // Quotes are escaped in text, so that these are attributes and nothing else.
        let unique = svg
            .replace(" id=\"", &format!(" id=\"{name}-"))
            .replace("=\"url(#", &format!("=\"url(#{name}-"))
            .replace("href=\"#", &format!("href=\"#{name}-"));
        let confined = match (unique.find("<style>"), unique.find("</style>")) {
            (Some(begin), Some(end)) if begin < end => {
                let rules = confine(&unique[begin + "<style>".len()..end], &format!("#{name}"));
                format!("{}<style>{rules}{}", &unique[..begin], &unique[end..])
            }
            _ => unique,
        };
        format!("<div class=\"scroll picture\" id=\"{name}\" tabindex=\"0\">{}</div>\n", confined.trim_end())
    }
}

impl Pictures {
    /// Plots side by side, as far as there is room; nothing where there are none.
    pub fn plots(&mut self, plots: &[Plot]) -> String {
        let one = |plot: &Plot| format!("<figure>{}</figure>\n", self.add(&plot::svg(std::slice::from_ref(plot))));
        match plots {
            [] => String::new(),
            some => format!("<div class=\"plots\">\n{}</div>\n", some.iter().map(one).collect::<String>()),
        }
    }
}

/// A picture with words below it.
pub fn caption(picture: &str, words: &str) -> String {
    format!("<figure>{picture}<figcaption>{}</figcaption></figure>\n", escape(words))
}

/// Style rules that hold only within `place`. Rules of media queries are confined, those of other kinds left as they are.
fn confine(rules: &str, place: &str) -> String {
    let mut out = String::with_capacity(rules.len() * 2);
    let mut rest = rules;
    while let Some(open) = rest.find('{') {
        let head = rest[..open].trim();
        let inner = &rest[open + 1..];
        let close = closing(inner);
        let body = &inner[..close];
        match head.starts_with('@') {
            true if head.starts_with("@media") => out.push_str(&format!("{head}{{{}}}", confine(body, place))),
            true => out.push_str(&format!("{head}{{{body}}}")),
            false => {
                let selectors: Vec<String> = head.split(',').map(|one| selector(one.trim(), place)).collect();
                out.push_str(&format!("{}{{{body}}}", selectors.join(",")));
            }
        }
        rest = inner.get(close + 1..).unwrap_or("");
    }
    out
}

/// One selector within a place; what stands for the whole document stands for the place.
fn selector(one: &str, place: &str) -> String {
    match one {
        ":root" => place.to_string(),
        one => format!("{place} {one}"),
    }
}

/// Where the brace that is open is closed.
fn closing(text: &str) -> usize {
    let mut depth = 1usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_confined() {
        let rules = "text{fill:red}.a,.b c{x:1}@media(prefers-color-scheme:dark){text{fill:blue}.a{y:2}}:root{--z:0}";
        let expected = "#p text{fill:red}#p .a,#p .b c{x:1}\
                        @media(prefers-color-scheme:dark){#p text{fill:blue}#p .a{y:2}}#p{--z:0}";
        assert_eq!(confine(rules, "#p"), expected);
        assert_eq!(confine("a{b", "#p"), "#p a{b}");
        assert_eq!(confine("", "#p"), "");
    }

    #[test]
    fn pictures_do_not_share_names() {
        let svg = "<?xml version=\"1.0\"?>\n<svg><style>.x{fill:red}</style><marker id=\"head\"/>\
                   <path marker-end=\"url(#head)\"/><text>url(#head) id=&quot;</text></svg>\n";
        let mut pictures = Pictures::default();
        let (first, second) = (pictures.add(svg), pictures.add(svg));
        assert!(
            first.starts_with("<div class=\"scroll picture\" id=\"picture1\" tabindex=\"0\"><svg><style>#picture1 .x{")
        );
        assert!(first.contains("id=\"picture1-head\"") && first.contains("=\"url(#picture1-head)\""));
        assert!(first.contains("<text>url(#head) id=&quot;</text>"));
        assert!(second.contains("id=\"picture2-head\"") && !second.contains("picture1"));
    }
}
