//! A sheet as an SVG file.

use super::{Anchor, Ink, Shape, Sheet, WIDTH};
use crate::markup::escape;
use std::fmt::Write;

const FONT: &str = "Helvetica,Arial,'Liberation Sans',sans-serif";

pub fn svg(sheet: &Sheet) -> String {
    let (height, title) = (sheet.height, escape(&sheet.title));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.2} {height:.2}\" width=\"84mm\" \
         height=\"{:.2}mm\" role=\"img\" font-family=\"{FONT}\">\n<title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        height / 72.0 * 25.4
    );
    for shape in &sheet.shapes {
        match shape {
            Shape::Line { points, width, ink, dash } => {
                let dash: Vec<String> = dash.iter().map(f64::to_string).collect();
                let dash =
                    if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", dash.join(" ")) };
                let (path, ink) = (path(points), hex(*ink));
                let _ =
                    writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"{width}\"{dash}/>");
            }
            Shape::Area { points, ink } => {
                let _ = writeln!(out, "<path d=\"{}z\" fill=\"{}\"/>", path(points), hex(*ink));
            }
            Shape::Text { at: (x, y), anchor, size, bold, upwards, text } => {
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                let bold = if *bold { " font-weight=\"bold\"" } else { "" };
                let place = match upwards {
                    true => format!("transform=\"translate({x:.2} {y:.2})rotate(-90)\""),
                    false => format!("x=\"{x:.2}\" y=\"{y:.2}\""),
                };
                let text = escape(text);
                let _ =
                    writeln!(out, "<text {place} font-size=\"{size}\" text-anchor=\"{anchor}\"{bold}>{text}</text>");
            }
        }
    }
    out + "</svg>\n"
}

fn path(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(out, "{}{x:.2} {y:.2}", if i == 0 { 'M' } else { 'L' });
    }
    out
}

fn hex(Ink(red, green, blue): Ink) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::plots;
    use super::*;

    #[test]
    fn every_sheet_is_well_formed() {
        for plot in plots() {
            let text = svg(&Sheet::new(&plot, false));
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            let mut reader = quick_xml::Reader::from_str(&text);
            while !matches!(reader.read_event().expect("well-formed"), quick_xml::events::Event::Eof) {}
        }
    }
}
