//! Where everything of a plot goes on its sheet.

use super::super::path::{Frame, Place};
use super::super::{Kind, Plot, Series};
use super::helvetica::{fitted, width};
use super::{Anchor, BLACK, GRID, Ink, LARGE, SMALL, Shape, Sheet, WIDTH};

/// The height of the axes.
const PANEL: f64 = 128.0;
const RIGHT: f64 = 9.0;
const LINE: f64 = 10.0;
/// What stands below the axes: numbers and a label.
const BELOW: f64 = 26.0;
const SAMPLE: f64 = 16.0;
/// From the middle of a mark to its edge.
const MARK: f64 = 1.9;
/// A line of more points than this is drawn without marks.
const MARKS: usize = 40;

/// Dark and light ones take turns, so that neighbours differ in grey too.
const INKS: [Ink; 6] = [
    BLACK,
    Ink(0xd5, 0x5e, 0x00),
    Ink(0x00, 0x72, 0xb2),
    Ink(0x56, 0xb4, 0xe9),
    Ink(0x00, 0x7a, 0x58),
    Ink(0xcc, 0x79, 0xa7),
];
const DASHES: [&[f64]; 6] = [&[], &[4.0, 1.6], &[1.2, 1.4], &[5.0, 1.5, 1.2, 1.5], &[8.0, 2.0], &[0.8, 2.4]];

pub fn sheet(plot: &Plot, titled: bool) -> Sheet {
    let frame = Frame::new(plot, 5, 5);
    let mut shapes = Vec::new();
    let mut top = 4.0;
    if titled {
        let (size, bold) = (LARGE, true);
        let text = fitted(&plot.title, size, (WIDTH - 4.0) / 1.1);
        shapes.push(Shape::Text { at: (2.0, top + LARGE), anchor: Anchor::Start, size, bold, upwards: false, text });
        top += LARGE + 6.0;
    }
    let widest = frame.y.ticks.iter().map(|tick| width(&tick.label, SMALL, false)).fold(0.0, f64::max);
    let left = (LARGE + 6.0 + widest + 4.0).min(WIDTH / 2.0);
    if plot.series.len() > 1 {
        top = legend(plot, top, &mut shapes);
    }
    let area = Area { left, top: top + 3.0 };
    axes(plot, &frame, &area, &mut shapes);
    for (number, series) in plot.series.iter().enumerate() {
        draw(series, number, &frame, &area, &mut shapes);
    }
    Sheet { title: plot.title.clone(), height: area.top + PANEL + BELOW, shapes }
}

struct Area {
    left: f64,
    top: f64,
}

impl Area {
    fn at(&self, (x, y): Place) -> (f64, f64) {
        (self.left + x * (WIDTH - RIGHT - self.left), self.top + (1.0 - y) * PANEL)
    }
}

fn small(at: (f64, f64), anchor: Anchor, text: &str) -> Shape {
    Shape::Text { at, anchor, size: SMALL, bold: false, upwards: false, text: text.to_string() }
}

/// The names of the series, in as many rows as they need; answers where these end.
fn legend(plot: &Plot, top: f64, out: &mut Vec<Shape>) -> f64 {
    let (mut x, mut y) = (4.0, top + LINE / 2.0);
    for (number, series) in plot.series.iter().enumerate() {
        let name = fitted(&series.name, SMALL, WIDTH - SAMPLE - 14.0);
        let wide = SAMPLE + 4.0 + width(&name, SMALL, false) + 8.0;
        if x + wide - 8.0 > WIDTH - 2.0 && x > 4.0 {
            (x, y) = (4.0, y + LINE);
        }
        let points = vec![(x, y), (x + SAMPLE, y)];
        match series.kind {
            Kind::Bars => out.push(bar(x, x + SAMPLE, y - 2.5, y + 2.5, ink(number))),
            Kind::Dots => mark(number, (x + SAMPLE / 2.0, y), out),
            Kind::Line | Kind::Marked | Kind::Steps => out.push(line(points, number)),
        }
        if series.kind == Kind::Marked {
            mark(number, (x + SAMPLE / 2.0, y), out);
        }
        out.push(small((x + SAMPLE + 4.0, y + 2.5), Anchor::Start, &name));
        x += wide;
    }
    y + LINE / 2.0
}

fn axes(plot: &Plot, frame: &Frame, area: &Area, out: &mut Vec<Shape>) {
    let thin = |from, to| Shape::Line { points: vec![from, to], width: 0.4, ink: GRID, dash: &[] };
    for tick in &frame.y.ticks {
        let place = frame.y.position(tick.value);
        let (x, y) = area.at((0.0, place));
        out.push(thin((x, y), area.at((1.0, place))));
        let label = fitted(&tick.label, SMALL, area.left - LARGE - 8.0);
        out.push(small((x - 3.0, y + 2.5), Anchor::End, &label));
    }
    let mut free = 0.0;
    for tick in &frame.x.ticks {
        let place = frame.x.position(tick.value);
        let (x, y) = area.at((place, 0.0));
        out.push(thin((x, y), area.at((place, 1.0))));
        let half = width(&tick.label, SMALL, false) / 2.0;
        let middle = x.clamp(half, (WIDTH - half).max(half));
        // A number that would run into its neighbour is left out; its line stays.
        if middle - half >= free {
            out.push(small((middle, y + 9.5), Anchor::Middle, &tick.label));
            free = middle + half + 3.0;
        }
    }
    let corner = [area.at((0.0, 1.0)), area.at((0.0, 0.0)), area.at((1.0, 0.0))];
    out.push(Shape::Line { points: corner.to_vec(), width: 0.7, ink: BLACK, dash: &[] });
    let (x, y) = area.at((0.5, 0.0));
    let label = fitted(&plot.x.label, LARGE, 2.0 * (WIDTH - x));
    let text = |at, upwards, text| Shape::Text { at, anchor: Anchor::Middle, size: LARGE, bold: false, upwards, text };
    out.push(text((x, y + 21.0), false, label));
    let (_, middle) = area.at((0.0, 0.5));
    out.push(text((LARGE, middle), true, fitted(&plot.y.label, LARGE, PANEL + BELOW)));
}

fn draw(series: &Series, number: usize, frame: &Frame, area: &Area, out: &mut Vec<Shape>) {
    if series.kind == Kind::Bars {
        let (_, ground) = area.at((0.0, frame.y.base()));
        for (left, right, height) in frame.bars(series) {
            let (from, y) = area.at((left, height));
            let (to, _) = area.at((right, height));
            let gap = if to - from > 4.0 { (to - from) * 0.12 } else { 0.0 };
            out.push(bar(from, (to - gap).max(from + 0.4), y.min(ground), y.max(ground), ink(number)));
        }
        return;
    }
    let lines = frame.lines(series);
    let is_line = series.kind != Kind::Dots;
    let count: usize = lines.iter().map(Vec::len).sum();
    for places in lines {
        let mut points: Vec<(f64, f64)> = places.into_iter().map(|place| area.at(place)).collect();
        if !is_line || (series.kind == Kind::Marked && count <= MARKS) {
            points.iter().for_each(|point| mark(number, *point, out));
        }
        if is_line {
            if let [(x, y)] = points[..] {
                // A line of one point would not be seen.
                points = vec![(x - 2.0, y), (x + 2.0, y)];
            }
            out.push(line(points, number));
        }
    }
}

fn ink(number: usize) -> Ink {
    INKS[number % INKS.len()]
}

fn line(points: Vec<(f64, f64)>, number: usize) -> Shape {
    let dash = DASHES[(number + number / INKS.len()) % DASHES.len()];
    Shape::Line { points, width: 1.0, ink: ink(number), dash }
}

fn bar(left: f64, right: f64, top: f64, bottom: f64, ink: Ink) -> Shape {
    Shape::Area { points: vec![(left, top), (right, top), (right, bottom), (left, bottom)], ink }
}

/// What marks a point. All are open, so that points in one place are all seen.
fn mark(number: usize, (x, y): (f64, f64), out: &mut Vec<Shape>) {
    let ink = ink(number);
    let around = |corners: &[(f64, f64)]| -> Vec<(f64, f64)> {
        corners.iter().map(|(dx, dy)| (x + dx * MARK, y + dy * MARK)).collect()
    };
    let stroke = |points| Shape::Line { points, width: 0.8, ink, dash: &[] };
    match number % 6 {
        0 => {
            let circle = (0..=20).map(|i| (f64::from(i) * std::f64::consts::TAU / 20.0).sin_cos());
            out.push(stroke(around(&circle.collect::<Vec<_>>())));
        }
        1 => out.push(stroke(around(&[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)]))),
        2 => out.push(stroke(around(&[(0.0, -1.4), (1.3, 0.9), (-1.3, 0.9), (0.0, -1.4)]))),
        3 => out.push(stroke(around(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0), (0.0, -1.3)]))),
        4 => [[(-1.0, -1.0), (1.0, 1.0)], [(-1.0, 1.0), (1.0, -1.0)]].iter().for_each(|l| out.push(stroke(around(l)))),
        _ => [[(-1.2, 0.0), (1.2, 0.0)], [(0.0, -1.2), (0.0, 1.2)]].iter().for_each(|l| out.push(stroke(around(l)))),
    }
}
