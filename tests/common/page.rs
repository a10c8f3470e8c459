//! Reads a report as strictly as XML is read, and sees to it that nothing in it comes from elsewhere or runs.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashSet;

/// A page that was read.
pub struct Page {
    /// The file as it is.
    pub text: String,
    /// What a person reads, with spaces between the elements.
    words: String,
    /// The elements, each with its class.
    elements: Vec<(String, String)>,
}

impl Page {
    /// Fails unless all of these are to be read in the page.
    #[track_caller]
    pub fn has(&self, words: &[&str]) {
        for word in words {
            assert!(self.words.contains(word), "no '{word}' in:\n{}", self.words);
        }
    }

    /// How many elements have this name and exactly this class.
    pub fn count(&self, name: &str, class: &str) -> usize {
        self.elements.iter().filter(|(n, c)| n == name && (c == class)).count()
    }
}

#[track_caller]
pub fn read(text: &str) -> Page {
    let mut page = Page { text: text.to_string(), words: String::new(), elements: Vec::new() };
    let (mut names, mut links) = (HashSet::new(), Vec::new());
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut open: Vec<String> = Vec::new();
    loop {
        match reader.read_event().unwrap_or_else(|e| panic!("{e} at {}", reader.error_position())) {
            Event::Start(tag) => {
                open.push(element(&mut page, &tag, &mut names, &mut links));
            }
            Event::Empty(tag) => {
                element(&mut page, &tag, &mut names, &mut links);
            }
            Event::End(_) => {
                open.pop().expect("what ends has begun");
                page.words.push(' ');
            }
            Event::Text(text) => {
                let text = text.decode().expect("the text is UTF-8");
                match open.last().map(String::as_str) {
                    Some("style") => style(&text),
                    _ => page.words.push_str(&text),
                }
            }
            Event::GeneralRef(entity) => {
                let text = match &*entity.decode().expect("the name of an entity is UTF-8") {
                    "lt" => "<",
                    "gt" => ">",
                    "amp" => "&",
                    "quot" => "\"",
                    other => panic!("&{other}; is not needed"),
                };
                page.words.push_str(text);
            }
            Event::DocType(kind) => assert_eq!(kind.decode().expect("UTF-8").trim(), "html"),
            Event::Eof => break,
            other => panic!("{other:?} has no place in a report"),
        }
    }
    assert!(open.is_empty(), "{open:?} is not closed");
    for link in links {
        assert!(names.contains(&link), "nothing is called {link}");
    }
    let allowed = "http://www.w3.org/2000/svg";
    let rest = text.replace(&format!("xmlns=\"{allowed}\""), "");
    for forbidden in ["http:", "https:", "<script", "<link", "<iframe", "<object", "javascript:"] {
        assert!(!rest.contains(forbidden), "{forbidden}");
    }
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "control characters");
    page
}

/// Notes an element; answers its name.
fn element(page: &mut Page, tag: &BytesStart, names: &mut HashSet<String>, links: &mut Vec<String>) -> String {
    let utf8 = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("names are UTF-8");
    let name = utf8(tag.name().as_ref());
    assert!(
        !["script", "img", "iframe", "object", "embed", "link", "base", "form", "input"].contains(&&*name),
        "<{name}>"
    );
    let mut class = String::new();
    // This complains of attributes without quotes or given twice.
    for attribute in tag.attributes() {
        let attribute = attribute.unwrap_or_else(|e| panic!("{e} in {tag:?}"));
        let (key, value) = (utf8(attribute.key.as_ref()), utf8(&attribute.value));
        assert!(!key.starts_with("on") && key != "src" && key != "style", "{key}={value}");
        match key.as_str() {
            "id" => assert!(names.insert(value.clone()), "two elements are called {value}"),
            "class" => class = value.clone(),
            "href" => links.push(value.strip_prefix('#').unwrap_or_else(|| panic!("a link to {value}")).to_string()),
            _ => {}
        }
        if let Some(link) = value.strip_prefix("url(#") {
            links.push(link.trim_end_matches(')').to_string());
        }
    }
    page.elements.push((name.clone(), class));
    page.words.push(' ');
    name
}

/// Rules fetch nothing.
fn style(rules: &str) {
    assert!(!rules.contains("@import") && !rules.contains("url("), "{rules}");
    assert_eq!(rules.matches('{').count(), rules.matches('}').count(), "{rules}");
}
