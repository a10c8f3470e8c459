//! Sheets as a PDF file (ISO 32000-1), one page each: lines, filled outlines, and text in Helvetica, which is one of the fonts
//! that every reader has. The same sheets always make the same file: it has no date and no random name.

use super::helvetica::{encoded, width};
use super::{Anchor, Ink, Shape, Sheet, WIDTH};
use std::fmt::Write;

/// Objects that come before the pages: catalog, page tree, two fonts, information.
const FIRST: usize = 6;

pub fn pdf(sheets: &[Sheet]) -> Vec<u8> {
    let kids: String = (0..sheets.len()).map(|i| format!("{} 0 R ", FIRST + 2 * i)).collect();
    let font =
        |name: &str| format!("<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>").into_bytes();
    let title = sheets.first().map_or("", |sheet| &sheet.title);
    let mut objects: Vec<Vec<u8>> = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.trim_end(), sheets.len()).into_bytes(),
        font("Helvetica"),
        font("Helvetica-Bold"),
        [b"<</Producer(scrimp)/Title", &string(title)[..], b">>"].concat(),
    ];
    for (i, sheet) in sheets.iter().enumerate() {
        let height = sheet.height;
        let page = format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {WIDTH:.2} {height:.2}]/Contents {} 0 R\
             /Resources<</Font<</F 3 0 R/B 4 0 R>>>>>>",
            FIRST + 2 * i + 1
        );
        let drawn = contents(sheet);
        let length = format!("<</Length {}>>\nstream\n", drawn.len()).into_bytes();
        objects.extend([page.into_bytes(), [length, drawn, b"\nendstream".to_vec()].concat()]);
    }
    // Bytes above 127 in a comment tell programs that this is no text.
    let mut out = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut places = Vec::with_capacity(objects.len());
    for (i, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend(format!("{} 0 obj\n", i + 1).into_bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let start = out.len();
    let mut end = format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1);
    for place in &places {
        let _ = writeln!(end, "{place:010} 00000 n ");
    }
    let _ = write!(end, "trailer\n<</Size {}/Root 1 0 R/Info 5 0 R>>\nstartxref\n{start}\n%%EOF\n", places.len() + 1);
    out.extend(end.into_bytes());
    out
}

fn contents(sheet: &Sheet) -> Vec<u8> {
    let up = |y: f64| sheet.height - y;
    let mut out = b"1 j 0 J\n".to_vec();
    for shape in &sheet.shapes {
        let mut text = String::new();
        match shape {
            Shape::Line { points, width, ink, dash } => {
                let dash: Vec<String> = dash.iter().map(f64::to_string).collect();
                let _ = write!(text, "{} RG {width} w [{}] 0 d ", colour(*ink), dash.join(" "));
                path(points, &up, &mut text);
                text.push_str("S\n");
            }
            Shape::Area { points, ink } => {
                let _ = write!(text, "{} rg ", colour(*ink));
                path(points, &up, &mut text);
                text.push_str("f\n");
            }
            Shape::Text { at: (x, y), anchor, size, bold, upwards, text: words } => {
                let back = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => width(words, *size, *bold) / 2.0,
                    Anchor::End => width(words, *size, *bold),
                };
                let font = if *bold { 'B' } else { 'F' };
                let place = match upwards {
                    true => format!("0 1 -1 0 {x:.2} {:.2}", up(*y) - back),
                    false => format!("1 0 0 1 {:.2} {:.2}", x - back, up(*y)),
                };
                let _ = write!(text, "0 0 0 rg BT /{font} {size} Tf {place} Tm ");
                out.extend(std::mem::take(&mut text).into_bytes());
                out.extend(string(words));
                text.push_str(" Tj ET\n");
            }
        }
        out.extend(text.into_bytes());
    }
    out
}

fn path(points: &[(f64, f64)], up: &dyn Fn(f64) -> f64, out: &mut String) {
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(out, "{x:.2} {:.2} {} ", up(*y), if i == 0 { 'm' } else { 'l' });
    }
}

fn colour(Ink(red, green, blue): Ink) -> String {
    [red, green, blue].map(|part| format!("{:.3}", f64::from(part) / 255.0)).join(" ")
}

/// A text between parentheses.
fn string(text: &str) -> Vec<u8> {
    let mut out = vec![b'('];
    for byte in encoded(text) {
        if matches!(byte, b'(' | b')' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b')');
    out
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::plots;
    use super::*;

    #[test]
    fn objects_are_where_the_table_says() {
        let sheets: Vec<Sheet> = plots().iter().map(|plot| Sheet::new(plot, true)).collect();
        for sheets in [&sheets[..], &sheets[..1], &[]] {
            let file = pdf(sheets);
            let text: String = file.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '?' }).collect();
            assert!(!text.contains("NaN") && !text.contains("inf"));
            let (_, end) = text.rsplit_once("startxref\n").expect("an end");
            let start: usize = end.lines().next().and_then(|line| line.parse().ok()).expect("a place");
            let table: Vec<&str> = text[start..].lines().skip(3).take_while(|line| line.ends_with("n ")).collect();
            assert_eq!(table.len(), 5 + 2 * sheets.len());
            for (i, line) in table.iter().enumerate() {
                let place: usize = line[..10].parse().expect("a place");
                assert!(text[place..].starts_with(&format!("{} 0 obj\n", i + 1)), "{line}");
            }
            for part in text.split("/Length ").skip(1) {
                let (length, rest) = part.split_once(">>\nstream\n").expect("a stream");
                let length: usize = length.parse().expect("a length");
                assert!(rest[length..].starts_with("\nendstream"));
            }
        }
    }

    #[test]
    fn texts_are_closed() {
        assert_eq!(string("a(b)\\c"), b"(a\\(b\\)\\\\c)");
    }
}
