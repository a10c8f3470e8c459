//! Plots of a suite: what it is about over the size of the models and against a base, and how much was solved within which cost.

use crate::case::Case;
use crate::html::curves::{cactus, scatter};
use crate::means::{KeyOf, by_model, by_model_and_label, pairs};
use crate::measure::{self, MEMORY, TIME, at_least, axis, by_configuration, fields, is_solved, label};
use crate::runner::Row;
use crate::scaling;
use crate::suite::Suite;
use crate::summary::{Rows, by_task};
use scrimp_report::plot::{Axis, Kind, Plot, Series, Unit};

/// Lines that one plot can have and still be read.
const LINES: usize = 8;

/// A plot with a name for its file.
#[derive(Debug)]
pub struct Figure {
    pub name: String,
    pub plot: Plot,
}

/// All plots of a suite.
pub fn of_suite(suite: &Suite, rows: &Rows) -> Vec<Figure> {
    let tasks = by_task(suite, rows);
    let mut figures =
        of_tasks(suite, &tasks.iter().map(|(task, rows)| (task.name.clone(), rows.clone())).collect::<Vec<_>>());
    for (task, rows) in &tasks {
        figures.extend(of_task(&task.name, task.base.as_deref(), rows));
    }
    let mut taken: Vec<String> = Vec::new();
    for figure in &mut figures {
        let plain = figure.name.clone();
        let mut names = (1..).map(|i| if i == 1 { plain.clone() } else { format!("{plain}-{i}") });
        figure.name = names.find(|name| !taken.contains(name)).unwrap_or_default();
        taken.push(figure.name.clone());
    }
    figures
}

/// What all tasks say together: how much each solved, and, where one of them is the base, each against it.
pub fn of_tasks(suite: &Suite, groups: &[(String, Rows)]) -> Vec<Figure> {
    if groups.len() < 2 || groups.len() > LINES {
        return Vec::new();
    }
    let mut figures = solved("all", groups);
    if suite.base.is_some() {
        figures.extend(about("all", groups, suite.base.as_deref(), by_model_and_label));
    }
    figures
}

/// What a task says about its configurations.
pub fn of_task(task: &str, base: Option<&str>, rows: &Rows) -> Vec<Figure> {
    let groups = by_configuration(rows);
    let mut figures = Vec::new();
    if groups.len() <= LINES {
        figures.extend(about(task, &groups, base, by_model));
        figures.extend(solved(task, &groups));
    }
    let threads = scaling::plots(&scaling::curves(rows)).into_iter();
    figures.extend(threads.map(|plot| Figure { name: slug(&[task, &plot.title]), plot }));
    figures
}

/// The figures of a task over the size of the models, and against those of the base.
fn about(task: &str, groups: &[(String, Rows)], base: Option<&str>, key: KeyOf) -> Vec<Figure> {
    let all: Rows = groups.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
    let fields = fields(&all);
    let mut figures = Vec::new();
    for field in fields.iter().filter(|field| *field != "states") {
        let plot = over_states(field, groups, &all);
        figures.extend(plot.map(|plot| Figure { name: slug(&[task, field, "over states"]), plot }));
    }
    let first = match base {
        Some(base) => groups.iter().find(|(name, _)| name == base),
        None => groups.first(),
    };
    let Some((first, base)) = first else { return figures };
    let others: Vec<&(String, Rows)> = groups.iter().filter(|(name, _)| name != first).collect();
    for field in
        fields.iter().map(String::as_str).filter(|field| *field != TIME && *field != MEMORY).chain([TIME, MEMORY])
    {
        let costs = |(name, rows): &&(String, Rows)| {
            let pairs = pairs(field, base, rows, key).into_iter();
            let drawn =
                pairs.map(|(_, (a, b))| (at_least(field, a), at_least(field, b))).filter(|(a, b)| *a > 0.0 && *b > 0.0);
            (name.clone(), drawn.collect::<Vec<_>>())
        };
        let costs: Vec<(String, Vec<(f64, f64)>)> = others.iter().map(costs).collect();
        let axis = |more: &str| axis(field, &all, more);
        let plot = scatter(field, &axis, first, &costs);
        // Where all runs cost the same, a line of points on the diagonal says no more than a sentence.
        let differs = costs.iter().flat_map(|(_, pairs)| pairs).any(|(a, b)| a != b);
        figures
            .extend(plot.filter(|_| differs).map(|plot| Figure { name: slug(&[task, field, "against", first]), plot }));
    }
    figures
}

/// A field over the number of states, with what others have published.
fn over_states(field: &str, groups: &[(String, Rows)], all: &Rows) -> Option<Plot> {
    let size = |row: &(&Case, &Row)| {
        let cell = || row.0.model.cells.iter().find(|(name, _)| name == "states")?.1.as_ref()?.parse().ok();
        row.1.record.number("states").or_else(cell).filter(|states| *states > 0.0)
    };
    let points = |rows: &Rows, value: &dyn Fn(&(&Case, &Row)) -> Option<f64>| {
        let mut points: Vec<(f64, f64)> = rows.iter().filter_map(|row| Some((size(row)?, value(row)?))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup();
        points
    };
    let dots = |name: String, points| Series { name, kind: Kind::Dots, points };
    let mut series: Vec<Series> = Vec::new();
    let mut papers: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for (name, rows) in groups {
        let shown = if groups.len() == 1 && name == "all" { label(field) } else { name.clone() };
        series.push(dots(shown, points(rows, &|row| measure::value(field, row))));
        papers.push((name.clone(), points(rows, &|row| measure::published(field, row.0))));
    }
    let same = papers.windows(2).all(|pair| pair[0].1 == pair[1].1);
    match same {
        true => series.extend(papers.pop().map(|(_, points)| dots("published".into(), points))),
        false => series.extend(papers.into_iter().map(|(name, points)| dots(format!("{name}, published"), points))),
    }
    series.retain(|series| !series.points.is_empty());
    let mut sizes: Vec<f64> = series.iter().flat_map(|s| &s.points).map(|point| point.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    (sizes.len() > 1).then(|| Plot {
        title: format!("{} over the number of states", capital(&label(field))),
        x: Axis::log("states", Unit::Count),
        y: axis(field, all, ""),
        series,
    })
}

/// Cactus plots of time and memory with a line for each group of rows.
fn solved(task: &str, groups: &[(String, Rows)]) -> Vec<Figure> {
    let of = |field: &str| -> Option<Figure> {
        let costs = |(name, rows): &(String, Rows)| {
            let costs = rows.iter().filter(|row| is_solved(row)).filter_map(|(_, row)| row.record.number(field));
            (name.clone(), costs.map(|cost| at_least(field, cost)).collect())
        };
        let costs: Vec<(String, Vec<f64>)> = groups.iter().map(costs).collect();
        let plot = cactus(field, &costs)?;
        Some(Figure { name: slug(&[task, "solved within", &label(field)]), plot })
    };
    [TIME, MEMORY].into_iter().filter_map(of).collect()
}

pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default() + letters.as_str()
}

/// Words as a part of a file's name.
fn slug(words: &[&str]) -> String {
    let mut out = String::new();
    for c in words.join(" ").chars() {
        match c {
            c if c.is_ascii_alphanumeric() => out.push(c.to_ascii_lowercase()),
            '.' | '_' if out.ends_with(|c: char| c.is_ascii_alphanumeric()) => out.push('_'),
            _ if !out.is_empty() && !out.ends_with('-') => out.push('-'),
            _ => {}
        }
    }
    out.trim_end_matches(['-', '_']).to_string()
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(
            slug(&["Table 1: Milner's schedulers", "stored_peak", "over states"]),
            "table-1-milner-s-schedulers-stored_peak-over-states"
        );
        assert_eq!(slug(&["../../x", "é"]), "x");
    }
}
