//! Configurations against one of them: the geometric mean of the ratios of what each run costs, over the models that both have solved.
//!
//! Ratios are averaged geometrically, since no other mean gives the same order whichever configuration is the base (Fleming and
//! Wallace, "How not to lie with statistics", CACM 1986).

use crate::case::Case;
use crate::compare::INSTANT;
use crate::measure::{MEMORY, TIME, fields, is_solved, label, value};
use crate::record::Outcome;
use crate::runner::Row;
use crate::summary::Rows;
use crate::table::{Table, complaints};

/// Every configuration against the base.
#[derive(Debug)]
pub struct Means {
    pub base: String,
    measures: Vec<String>,
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    name: String,
    /// Of each measure, the mean ratio and of how many runs.
    ratios: Vec<Option<(f64, usize)>>,
    solved: usize,
    all: usize,
    /// Runs that do not count, and why.
    left: Vec<String>,
}

/// Which run of the base a run is held against.
pub type KeyOf = fn(&Case) -> String;

impl Means {
    /// `None` where there is nothing to compare: fewer than two configurations, or none called like the base.
    pub fn new(groups: &[(String, Rows)], base: Option<&str>, key: KeyOf) -> Option<Means> {
        let (name, base) = match base {
            Some(base) => groups.iter().find(|(name, _)| name == base)?,
            None => groups.first()?,
        };
        if groups.len() < 2 {
            return None;
        }
        let all: Rows = groups.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
        let mut measures = fields(&all);
        for more in ["visits", TIME, MEMORY] {
            if !measures.iter().any(|known| known == more) {
                measures.push(more.to_string());
            }
        }
        let line = |(name, rows): &(String, Rows)| {
            let solved = rows.iter().filter(|row| is_solved(row)).count();
            let left = rows.iter().filter(|row| !is_solved(row));
            Line {
                name: name.clone(),
                ratios: measures.iter().map(|field| ratio(field, base, rows, key)).collect(),
                solved,
                all: rows.len(),
                left: left.map(|(case, row)| format!("{} ({})", key(case), why(case, row))).collect(),
            }
        };
        let mut lines: Vec<Line> = groups.iter().map(line).collect();
        for i in (0..measures.len()).rev() {
            if lines.iter().all(|line| line.ratios[i].is_none()) {
                measures.remove(i);
                lines.iter_mut().for_each(|line| {
                    line.ratios.remove(i);
                });
            }
        }
        Some(Means { base: name.clone(), measures, lines })
    }

    /// What the table shows.
    pub fn caption(&self) -> String {
        format!("Geometric means of ratios to {} (in parentheses: over how many runs)", self.base)
    }

    pub fn table(&self) -> Table {
        let mut columns = vec![("configuration".to_string(), false), ("solved".into(), true)];
        columns.extend(self.measures.iter().map(|field| (label(field), true)));
        let any_left = self.lines.iter().any(|line| !line.left.is_empty());
        if any_left {
            columns.push(("not counted".into(), false));
        }
        let row = |line: &Line| {
            let mut cells = vec![line.name.clone(), format!("{} of {}", line.solved, line.all)];
            let cell = |ratio: &Option<(f64, usize)>| {
                ratio.map_or(String::new(), |(ratio, count)| format!("{ratio:.2} ({count})"))
            };
            cells.extend(line.ratios.iter().map(cell));
            if any_left {
                cells.push(line.left.join(", "));
            }
            cells
        };
        Table { columns, rows: self.lines.iter().map(row).collect(), commands: Vec::new() }
    }
}

/// The mean ratio of a figure, over the runs where both have one. Times that are too short to be told apart do not count.
fn ratio(field: &str, base: &Rows, rows: &Rows, key: KeyOf) -> Option<(f64, usize)> {
    let both = pairs(field, base, rows, key).into_iter().map(|(_, pair)| pair);
    let tells = |(a, b): &(f64, f64)| *a > 0.0 && *b > 0.0 && (field != TIME || a.max(*b) > INSTANT);
    let logs: Vec<f64> = both.filter(tells).map(|(a, b)| (b / a).ln()).collect();
    (!logs.is_empty()).then(|| ((logs.iter().sum::<f64>() / logs.len() as f64).exp(), logs.len()))
}

/// A figure of the base beside that of another configuration, for every run that both have solved, with its name.
pub fn pairs(field: &str, base: &[(&Case, &Row)], rows: &[(&Case, &Row)], key: KeyOf) -> Vec<(String, (f64, f64))> {
    let pair = |row: &(&Case, &Row)| {
        let name = key(row.0);
        let first = base.iter().find(|(case, _)| key(case) == name)?;
        Some((name, (value(field, first)?, value(field, row)?)))
    };
    rows.iter().filter_map(pair).collect()
}

fn why(case: &Case, row: &Row) -> String {
    match (row.record.outcome, row.found()) {
        (Outcome::Done, true) => complaints(case, row).join("; "),
        (Outcome::Done, false) => "none accepted".into(),
        (outcome, _) => outcome.to_string(),
    }
}

/// Within a task, a run is known by its model.
pub fn by_model(case: &Case) -> String {
    case.model.name.clone()
}

/// Across tasks, by its model and configuration.
pub fn by_model_and_label(case: &Case) -> String {
    format!("{} {}", case.model.name, case.label).trim_end().to_string()
}
