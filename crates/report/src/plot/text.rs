//! Plots as characters, for terminals: the first line in dots of braille, the others in letters, bars in blocks.

use super::path::{Frame, Place};
use super::{Kind, Plot, Series};

/// What the series after the first are drawn with.
const MARKS: [char; 6] = ['o', 'x', '+', '*', '#', '='];
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The bits of the dots of a braille character: two columns, each from top to bottom.
const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// The plot in so many columns and lines, or in the fewest that show anything; lines end with a line feed.
pub fn text(plot: &Plot, width: usize, height: usize) -> String {
    let legend = plot.series.len() > 1;
    let rows = height.saturating_sub(4 + usize::from(legend)).max(3);
    let frame = Frame::new(plot, (width / 14).clamp(1, 10), (rows / 2).clamp(1, 6));
    let margin = frame.y.ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0);
    let columns = width.saturating_sub(margin + 3).max(16);
    let mut canvas = Canvas::new(columns, rows);
    for (number, series) in plot.series.iter().enumerate() {
        canvas.draw(series, number, &frame);
    }
    let mut out = match plot.y.label.is_empty() {
        true => format!("{}\n", plot.title),
        false => format!("{} ({})\n", plot.title, plot.y.label),
    };
    if legend {
        let names = plot.series.iter().enumerate().map(|(number, s)| format!("{} {}", mark(s, number), s.name));
        out.push_str(&format!("{:margin$}  {}\n", "", names.collect::<Vec<_>>().join("   ")));
    }
    let mut labels = vec![""; rows];
    for tick in &frame.y.ticks {
        labels[rows - 1 - cell(frame.y.position(tick.value), rows)] = &tick.label;
    }
    for (label, line) in labels.iter().zip(canvas.lines()) {
        let edge = if label.is_empty() { '│' } else { '┤' };
        out.push_str(format!("{label:>margin$} {edge}{line}").trim_end());
        out.push('\n');
    }
    out.push_str(&below(plot, &frame, margin, columns));
    out
}

/// The axis at the bottom: a line, its numbers, and what they are.
fn below(plot: &Plot, frame: &Frame, margin: usize, columns: usize) -> String {
    let mut line = vec!['─'; columns];
    let mut numbers = vec![' '; columns];
    let mut free = 0;
    for tick in &frame.x.ticks {
        let at = cell(frame.x.position(tick.value), columns);
        let long = tick.label.chars().count();
        let begin = at.saturating_sub(long / 2).min(columns.saturating_sub(long));
        line[at] = '┬';
        if begin >= free && begin + long <= columns {
            tick.label.chars().enumerate().for_each(|(i, c)| numbers[begin + i] = c);
            free = begin + long + 1;
        }
    }
    let (line, numbers) = (line.into_iter().collect::<String>(), numbers.into_iter().collect::<String>());
    let label = format!("{:>1$}", plot.x.label, columns / 2 + plot.x.label.chars().count() / 2);
    let rest =
        [format!("{:margin$} └{line}", ""), format!("{:margin$}  {numbers}", ""), format!("{:margin$}  {label}", "")];
    rest.map(|line| line.trim_end().to_string() + "\n").concat()
}

/// Some numbers as one line of blocks, at most `width` of them: the greatest of those that share a place.
pub fn sparkline(values: &[f64], width: usize) -> String {
    let finite = |value: &f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
    let chunks = values.chunks(values.len().div_ceil(width.max(1)).max(1));
    let tops: Vec<f64> = chunks.map(|chunk| chunk.iter().map(finite).fold(0.0, f64::max)).collect();
    let most = tops.iter().copied().fold(0.0, f64::max);
    let block = |top: &f64| BLOCKS[if most > 0.0 { ((top / most * 7.0).round() as usize).min(7) } else { 0 }];
    tops.iter().map(block).collect()
}

/// Which of `count` cells a place is in.
fn cell(place: f64, count: usize) -> usize {
    ((place * (count - 1) as f64).round() as usize).min(count - 1)
}

/// What a series is drawn with.
fn mark(series: &Series, number: usize) -> char {
    match (series.kind, number) {
        (Kind::Bars, _) => '█',
        (_, 0) => '⠶',
        _ => MARKS[(number - 1) % MARKS.len()],
    }
}

/// Cells in lines from the top. What was drawn first stays, except that lines are drawn over bars.
struct Canvas {
    columns: usize,
    rows: usize,
    cells: Vec<char>,
}

impl Canvas {
    fn new(columns: usize, rows: usize) -> Canvas {
        Canvas { columns, rows, cells: vec![' '; columns * rows] }
    }

    fn draw(&mut self, series: &Series, number: usize, frame: &Frame) {
        match series.kind {
            Kind::Bars => self.bars(&frame.bars(series), frame.y.base()),
            Kind::Dots => {
                for place in frame.lines(series).iter().flatten() {
                    self.line(*place, *place, series, number);
                }
            }
            Kind::Line | Kind::Marked | Kind::Steps => {
                for line in frame.lines(series) {
                    for pair in line.windows(2) {
                        self.line(pair[0], pair[1], series, number);
                    }
                    if let [only] = line[..] {
                        self.line(only, only, series, number);
                    }
                }
            }
        }
    }

    /// A line in dots, two to a column and four to a row.
    fn line(&mut self, from: Place, to: Place, series: &Series, number: usize) {
        let (wide, high) = ((self.columns * 2 - 1) as f64, (self.rows * 4 - 1) as f64);
        let (x, y, to_x, to_y) = (from.0 * wide, from.1 * high, to.0 * wide, to.1 * high);
        let steps = (to_x - x).abs().max((to_y - y).abs()).ceil().max(1.0) as usize;
        for step in 0..=steps {
            let part = step as f64 / steps as f64;
            let (x, y) = ((x + (to_x - x) * part).round() as usize, (y + (to_y - y) * part).round() as usize);
            let place = (self.rows - 1 - y / 4) * self.columns + x / 2;
            let Some(cell) = self.cells.get_mut(place) else { continue };
            let is_bar = BLOCKS.contains(cell);
            if number > 0 {
                if *cell == ' ' || is_bar {
                    *cell = mark(series, number);
                }
                continue;
            }
            let before = u32::from(*cell).checked_sub(0x2800).filter(|bits| *bits < 256).unwrap_or(0);
            *cell = char::from_u32(0x2800 + (before | u32::from(DOTS[x % 2][3 - y % 4]))).unwrap_or(*cell);
        }
    }

    fn bars(&mut self, bars: &[(f64, f64, f64)], base: f64) {
        for column in 0..self.columns {
            let (left, right) = (column as f64 / self.columns as f64, (column + 1) as f64 / self.columns as f64);
            let here = bars.iter().filter(|bar| bar.0 < right - 1e-9 && bar.1 > left + 1e-9);
            let Some(height) = here.map(|bar| bar.2).max_by(|a, b| (a - base).abs().total_cmp(&(b - base).abs()))
            else {
                continue;
            };
            for row in 0..self.rows {
                let place = (self.rows - 1 - row) * self.columns + column;
                let (bottom, size) = (row as f64 / self.rows as f64, 1.0 / self.rows as f64);
                let covered = (height.max(base).min(bottom + size) - height.min(base).max(bottom)) / size;
                // What is not nothing is seen.
                let least = if row == 0 && height > base { 1.0 } else { 0.0 };
                let eighths = (covered * 8.0).round().max(least);
                if eighths >= 1.0 && self.cells[place] == ' ' {
                    self.cells[place] = BLOCKS[(eighths as usize - 1).min(7)];
                }
            }
        }
    }

    fn lines(&self) -> impl Iterator<Item = String> {
        self.cells.chunks(self.columns).map(|row| row.iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::plots;
    use super::super::{Axis, Unit};
    use super::*;

    fn plot(kind: Kind, points: &[(f64, f64)]) -> Plot {
        let series = Series { name: "one".into(), kind, points: points.to_vec() };
        let (x, y) = (Axis::linear("level", Unit::Count), Axis::linear("states", Unit::Count));
        Plot { title: "States per level".into(), x, y, series: vec![series] }
    }

    #[test]
    fn every_size_is_kept() {
        for plot in plots() {
            for (width, height) in [(0, 0), (20, 5), (80, 16), (300, 60)] {
                let picture = text(&plot, width, height);
                assert!(picture.lines().count() <= height.max(8), "{picture}");
                // A number at the axis can be as long as the plot is to be wide.
                let axis = |line: &&str| line.contains('│') || line.contains('┤');
                let longest = picture.lines().filter(axis).map(|line| line.chars().count()).max();
                assert!(longest.unwrap_or(0) <= width.max(40), "{width}:\n{picture}");
            }
        }
    }

    #[test]
    fn bars_show_their_heights() {
        let picture = text(&plot(Kind::Bars, &[(0.0, 1.0), (1.0, 4.0), (2.0, 2.0)]), 40, 12);
        let lines: Vec<&str> = picture.lines().collect();
        assert_eq!(lines[0], "States per level (states)");
        assert_eq!(lines.len(), 12);
        let count = |line: &str| line.chars().filter(|c| *c == '█').count();
        assert!(lines[1].starts_with("4 ┤") && count(lines[1]) > 8 && count(lines[1]) < count(lines[8]), "{picture}");
        assert!(lines[11].trim() == "level", "{picture}");
    }

    #[test]
    fn a_line_goes_up() {
        let picture = text(&plot(Kind::Line, &[(0.0, 0.0), (10.0, 10.0)]), 40, 12);
        let places: Vec<_> =
            picture.lines().filter_map(|line| line.find(|c| ('\u{2801}'..='\u{28ff}').contains(&c))).collect();
        assert!(places.len() == 8 && places.is_sorted_by(|a, b| a > b), "{places:?}\n{picture}");
    }

    #[test]
    fn several_series_are_told_apart() {
        let mut two = plot(Kind::Line, &[(0.0, 0.0), (10.0, 10.0)]);
        two.series.push(Series { name: "two".into(), kind: Kind::Line, points: vec![(0.0, 10.0), (10.0, 0.0)] });
        let picture = text(&two, 40, 12);
        assert!(picture.contains("⠶ one   o two") && picture.matches('o').count() > 10, "{picture}");
    }

    #[test]
    fn a_sparkline_is_one_line() {
        assert_eq!(sparkline(&[0.0, 1.0, 2.0, 7.0], 10), "▁▂▃█");
        assert_eq!(sparkline(&[1.0; 100], 5), "█████");
        assert_eq!(sparkline(&[f64::NAN, 0.0], 5), "▁▁");
        assert_eq!(sparkline(&[], 5), "");
    }
}
