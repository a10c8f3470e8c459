//! Plots as a picture that stands alone: panels one below the other, no scripts, no fonts of its own, readable in print, on
//! light and on dark backgrounds, and by readers who see colours differently.

use super::path::{Frame, Place};
use super::{Kind, Plot, Series};
use crate::markup::escape;
use std::fmt::Write;

/// Distances, in the units of the picture.
const WIDTH: f64 = 640.0;
const PANEL: f64 = 220.0;
const RIGHT: f64 = 24.0;
const TITLE: f64 = 34.0;
const LEGEND: f64 = 20.0;
const BELOW: f64 = 52.0;
/// How wide a character is, about.
const LETTER: f64 = 6.8;
/// Characters of a name that are shown; the whole text is in the tooltip.
const NAME: usize = 40;

/// Series that differ neither in colour nor in dash come only after so many.
const COLOURS: usize = 6;
const DASHES: [&str; 6] = ["", "7 3", "2 2.5", "9 3 2 3", "14 4", "1 4"];

/// Everything is under a class of its own, since a style inside of a page is valid in the whole page.
const STYLE: &str = ".plot text{font:12px Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif;fill:#1f2328}\
.plot .title{font-size:14px;font-weight:bold}.plot .tick{fill:#57606a}.plot .middle{text-anchor:middle}\
.plot .end{text-anchor:end}.plot .sheet{fill:#ffffff}.plot .grid{stroke:#d0d7de;stroke-width:.6}\
.plot .axis{stroke:#57606a;fill:none}.plot .line{fill:none;stroke-width:1.7;stroke-linejoin:round}\
.plot .bars{fill-opacity:.75;stroke:none}.plot .dots{fill-opacity:.7;stroke:none}\
.plot .s0{stroke:#0072b2;fill:#0072b2}.plot .s1{stroke:#d55e00;fill:#d55e00}.plot .s2{stroke:#009e73;fill:#009e73}\
.plot .s3{stroke:#cc79a7;fill:#cc79a7}.plot .s4{stroke:#e69f00;fill:#e69f00}.plot .s5{stroke:#56b4e9;fill:#56b4e9}\
@media(prefers-color-scheme:dark){.plot text{fill:#e6edf3}.plot .tick{fill:#9aa4af}.plot .sheet{fill:#0d1117}\
.plot .grid{stroke:#30363d}.plot .axis{stroke:#8d96a0}.plot .s0{stroke:#56b4e9;fill:#56b4e9}\
.plot .s1{stroke:#f28e4b;fill:#f28e4b}.plot .s2{stroke:#2fc494;fill:#2fc494}.plot .s5{stroke:#a5d8ff;fill:#a5d8ff}}\
.plot .line{fill:none}.plot .bars,.plot .dots{stroke:none}";

/// The plots as the text of an SVG file, one panel below the other.
pub fn svg(plots: &[Plot]) -> String {
    let mut body = String::new();
    let mut top = 0.0;
    for plot in plots {
        top = panel(plot, top, &mut body);
    }
    let height = top.max(LEGEND);
    let titles: Vec<_> = plots.iter().map(|plot| escape(&plot.title)).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"sheet\" width=\"{WIDTH}\" height=\"{height}\"/>\n{body}</svg>\n",
        titles.join("; ")
    )
}

/// Where the axes of a panel are.
struct Area {
    left: f64,
    top: f64,
}

impl Area {
    fn x(&self, place: f64) -> f64 {
        self.left + place * (WIDTH - RIGHT - self.left)
    }

    fn y(&self, place: f64) -> f64 {
        self.top + (1.0 - place) * PANEL
    }
}

/// Draws a panel from `top` on; answers where it ends.
fn panel(plot: &Plot, top: f64, out: &mut String) -> f64 {
    let frame = Frame::new(plot, 7, 6);
    let widest = frame.y.ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(1);
    let left = 36.0 + widest as f64 * LETTER;
    out.push_str("<g class=\"panel\">\n");
    let _ = writeln!(out, "<text class=\"title\" x=\"12\" y=\"{}\">{}</text>", top + 21.0, escape(&plot.title));
    let legend = if plot.series.len() > 1 { legend(plot, (left, top + TITLE), out) } else { 0.0 };
    let area = Area { left, top: top + TITLE + legend };
    axes(plot, &frame, &area, out);
    for (number, series) in plot.series.iter().enumerate() {
        draw(series, number, &frame, &area, out);
    }
    out.push_str("</g>\n");
    area.top + PANEL + BELOW
}

/// The names of the series, in as many rows as they need; answers how high these are.
fn legend(plot: &Plot, (left, top): (f64, f64), out: &mut String) -> f64 {
    let (mut x, mut y) = (left, top + 8.0);
    for (number, series) in plot.series.iter().enumerate() {
        let name = shortened(&series.name);
        let wide = 46.0 + name.chars().count() as f64 * LETTER;
        if x + wide > WIDTH - RIGHT && x > left {
            (x, y) = (left, y + LEGEND);
        }
        match series.kind {
            Kind::Line | Kind::Marked | Kind::Steps => {
                let _ = writeln!(
                    out,
                    "<path class=\"{}\"{} d=\"M{x:.1} {y:.1}h26\"/>",
                    class(series, number),
                    dash(number)
                );
                if series.kind == Kind::Marked {
                    let mark = dot(number, (x + 13.0, y));
                    let _ = writeln!(out, "<path class=\"s{} dots\" d=\"{mark}\"/>", number % COLOURS);
                }
            }
            Kind::Bars => {
                let _ = writeln!(
                    out,
                    "<rect class=\"{}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"26\" height=\"10\"/>",
                    class(series, number),
                    y - 5.0
                );
            }
            Kind::Dots => {
                let _ =
                    writeln!(out, "<path class=\"{}\" d=\"{}\"/>", class(series, number), dot(number, (x + 13.0, y)));
            }
        }
        let (name, whole) = (escape(&name), escape(&series.name));
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{name}<title>{whole}</title></text>", x + 32.0, y + 4.0);
        x += wide;
    }
    y + LEGEND - 8.0 - top
}

fn axes(plot: &Plot, frame: &Frame, area: &Area, out: &mut String) {
    let (left, right, bottom) = (area.x(0.0), area.x(1.0), area.y(0.0));
    for tick in &frame.y.ticks {
        let y = area.y(frame.y.position(tick.value));
        let _ = writeln!(out, "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>");
        let (x, y, label) = (left - 7.0, y + 4.0, escape(&tick.label));
        let _ = writeln!(out, "<text class=\"tick end\" x=\"{x:.1}\" y=\"{y:.1}\">{label}</text>");
    }
    for tick in &frame.x.ticks {
        let x = area.x(frame.x.position(tick.value));
        let _ = writeln!(out, "<path class=\"grid\" d=\"M{x:.1} {:.1}V{bottom:.1}\"/>", area.top);
        let (y, label) = (bottom + 17.0, escape(&tick.label));
        let _ = writeln!(out, "<text class=\"tick middle\" x=\"{x:.1}\" y=\"{y:.1}\">{label}</text>");
    }
    let _ = writeln!(out, "<path class=\"axis\" d=\"M{left:.1} {:.1}V{bottom:.1}H{right:.1}\"/>", area.top);
    let (x, y, label) = (f64::midpoint(left, right), bottom + 36.0, escape(&plot.x.label));
    let _ = writeln!(out, "<text class=\"middle\" x=\"{x:.1}\" y=\"{y:.1}\">{label}</text>");
    let (y, label) = (f64::midpoint(area.top, bottom), escape(&plot.y.label));
    let _ = writeln!(out, "<text class=\"middle\" transform=\"translate(18 {y:.1})rotate(-90)\">{label}</text>");
}

fn draw(series: &Series, number: usize, frame: &Frame, area: &Area, out: &mut String) {
    let point = |place: &Place| (area.x(place.0), area.y(place.1));
    let dots = || frame.lines(series).iter().flatten().map(|place| dot(number, point(place))).collect::<String>();
    let mut path = String::new();
    match series.kind {
        Kind::Line | Kind::Marked | Kind::Steps => {
            for line in frame.lines(series) {
                for (i, place) in line.iter().enumerate() {
                    let (x, y) = point(place);
                    let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
                }
                if line.len() == 1 {
                    // A line of one point would not be seen.
                    path.push_str("h-3h6");
                }
            }
        }
        Kind::Bars => outline(&frame.bars(series), frame.y.base(), area, &mut path),
        Kind::Dots => path = dots(),
    }
    if path.is_empty() {
        return;
    }
    let dash = if matches!(series.kind, Kind::Bars | Kind::Dots) { String::new() } else { dash(number) };
    let name = escape(&series.name);
    let _ = writeln!(out, "<path class=\"{}\"{dash} d=\"{path}\"><title>{name}</title></path>", class(series, number));
    if series.kind == Kind::Marked {
        let _ = writeln!(out, "<path class=\"s{} dots\" d=\"{}\"/>", number % COLOURS, dots());
    }
}

/// Bars as one shape: those that touch have no line between them where they are narrow.
fn outline(bars: &[(f64, f64, f64)], base: f64, area: &Area, path: &mut String) {
    let ground = area.y(base);
    for &(left, right, height) in bars {
        let (left, mut right, height) = (area.x(left), area.x(right), area.y(height));
        if right - left > 5.0 {
            right -= (right - left) * 0.12;
        }
        let _ = write!(path, "M{left:.2} {ground:.1}V{height:.1}H{:.2}V{ground:.1}z", right.max(left + 0.5));
    }
}

/// What marks a point: shapes differ as colours do.
fn dot(number: usize, (x, y): (f64, f64)) -> String {
    match number % 4 {
        0 => format!("M{:.1} {y:.1}a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0 -5.2 0z", x - 2.6),
        1 => format!("M{:.1} {:.1}h4.8v4.8h-4.8z", x - 2.4, y - 2.4),
        2 => format!("M{x:.1} {:.1}l3.2 5.6h-6.4z", y - 3.4),
        _ => format!("M{x:.1} {:.1}l3.3 3.3l-3.3 3.3l-3.3 -3.3z", y - 3.3),
    }
}

fn class(series: &Series, number: usize) -> String {
    let kind = match series.kind {
        Kind::Line | Kind::Marked | Kind::Steps => "line",
        Kind::Bars => "bars",
        Kind::Dots => "dots",
    };
    format!("s{} {kind}", number % COLOURS)
}

fn dash(number: usize) -> String {
    match DASHES[(number + number / COLOURS) % DASHES.len()] {
        "" => String::new(),
        dashes => format!(" stroke-dasharray=\"{dashes}\""),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(NAME) {
        None => text.to_string(),
        Some(_) => text.chars().take(NAME - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::plots;
    use super::*;
    use quick_xml::events::Event;

    /// Reads the picture to its end; answers how many elements have this class.
    fn elements(picture: &str, wanted: &str) -> usize {
        let mut reader = quick_xml::Reader::from_str(picture);
        let mut found = 0;
        loop {
            match reader.read_event().expect("well-formed") {
                Event::Eof => return found,
                Event::Start(element) | Event::Empty(element) => {
                    let class = element.try_get_attribute("class").expect("attributes");
                    let class = class.map(|class| String::from_utf8_lossy(&class.value).into_owned());
                    found += usize::from(class.unwrap_or_default().split(' ').any(|class| class == wanted));
                }
                _ => {}
            }
        }
    }

    #[test]
    fn every_picture_is_well_formed() {
        let plots = plots();
        let picture = svg(&plots);
        assert_eq!(elements(&picture, "panel"), plots.len());
        assert!(!picture.contains("NaN") && !picture.contains("inf"));
        for plot in plots {
            let picture = svg(std::slice::from_ref(&plot));
            assert!(elements(&picture, "tick") < 40, "{plot:?}");
        }
        assert_eq!(elements(&svg(&[]), "panel"), 0);
    }

    #[test]
    fn a_single_series_needs_no_legend() {
        let mut plot = plots().pop().expect("there are some");
        assert!(svg(std::slice::from_ref(&plot)).contains("&lt;Dots&gt;"));
        plot.series.truncate(1);
        let picture = svg(&[plot]);
        assert_eq!(picture.matches("&lt;Line&gt;").count(), 1, "in the tooltip only");
        assert_eq!(elements(&picture, "line"), 1);
    }

    #[test]
    fn many_series_are_told_apart() {
        let mut plot = plots().pop().expect("there are some");
        let series = plot.series[0].clone();
        plot.series = vec![series; 36];
        let looks: std::collections::HashSet<String> =
            (0..36).map(|number| format!("{}{}", class(&plot.series[0], number), dash(number))).collect();
        assert_eq!(looks.len(), 36);
        assert_eq!(elements(&svg(&[plot]), "line"), 72);
    }

    #[test]
    fn a_long_series_is_a_small_picture() {
        let mut plot = plots().pop().expect("there are some");
        for series in &mut plot.series {
            series.points = (0..200_000).map(|i| (f64::from(i), f64::from(i % 977))).collect();
        }
        assert!(svg(&[plot]).len() < 300_000);
    }
}
