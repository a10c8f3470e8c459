//! Tables for papers set with LaTeX and its package booktabs.

use crate::case::Case;
use crate::means::{Means, by_model, by_model_and_label};
use crate::measure::{by_configuration, label};
use crate::runner::Row;
use crate::suite::Suite;
use crate::summary::{by_task, summary};
use crate::table::Table;
use std::fmt::Write;

/// A table of more rows than this goes over pages.
const PAGE: usize = 45;

/// All tables of a suite: one for each task, and the means of its configurations.
pub fn latex(suite: &Suite, rows: &[(&Case, &Row)], command: &str) -> String {
    let mut out = format!(
        "% {}: {}\n% {command}\n% \\usepackage{{booktabs}}, and \\usepackage{{longtable}} for tables of more than {PAGE} rows\n",
        one_line(&suite.title),
        summary(rows)
    );
    let tasks = by_task(suite, rows);
    for (task, rows) in &tasks {
        if task.matrix.is_some() {
            let _ = writeln!(
                out,
                "\n% {}: every combination; --report draws its map, --csv has its figures",
                one_line(&task.name)
            );
            continue;
        }
        out.push_str(&table(&Table::for_print(rows), &task.name));
        if let Some(means) = Means::new(&by_configuration(rows), task.base.as_deref(), by_model) {
            out.push_str(&table(&means.table(), &format!("{}. {}", task.name, means.caption())));
        }
    }
    if suite.base.is_some() {
        let groups: Vec<_> = tasks.into_iter().map(|(task, rows)| (task.name.clone(), rows)).collect();
        if let Some(means) = Means::new(&groups, suite.base.as_deref(), by_model_and_label) {
            out.push_str(&table(&means.table(), &format!("{}. {}", suite.title, means.caption())));
        }
    }
    out
}

/// One table, with the commands of its rows as comments.
pub fn table(table: &Table, caption: &str) -> String {
    // A column in which every row says that all is well says nothing.
    let said = |column: usize| {
        table.columns[column].0 != "outcome"
            || table.rows.iter().any(|row| !matches!(row[column].as_str(), "as expected" | "done" | ""))
    };
    let columns: Vec<usize> = (0..table.columns.len()).filter(|column| said(*column)).collect();
    let kinds: String = columns.iter().map(|column| if table.columns[*column].1 { 'r' } else { 'l' }).collect();
    let heads: Vec<String> = columns.iter().map(|column| escape(&in_words(&table.columns[*column].0))).collect();
    let head = format!("\\toprule\n{} \\\\\n\\midrule\n", heads.join(" & "));
    let mut body = String::new();
    let mut last: Option<&str> = None;
    let repeats = table.rows.windows(2).any(|pair| pair[0][0] == pair[1][0]);
    for (i, row) in table.rows.iter().enumerate() {
        let same = last == Some(row[0].as_str());
        if i > 0 && !same && row[0] == "mean" {
            body.push_str("\\midrule\n");
        } else if i > 0 && !same && repeats {
            body.push_str("\\addlinespace\n");
        }
        if let Some(command) = table.commands.get(i) {
            let _ = writeln!(body, "% {}", one_line(command));
        }
        let cell = |column: &usize| if *column == 0 && same { String::new() } else { escape(&row[*column]) };
        let _ = writeln!(body, "{} \\\\", columns.iter().map(cell).collect::<Vec<_>>().join(" & "));
        last = Some(&row[0]);
    }
    let caption = escape(caption);
    match table.rows.len() > PAGE {
        true => format!(
            "\n{{\\footnotesize\n\\begin{{longtable}}{{@{{}}{kinds}@{{}}}}\n\\caption{{{caption}}} \\\\\n{head}\\endfirsthead\n\
             {head}\\endhead\n\\bottomrule\n\\endfoot\n{body}\\end{{longtable}}\n}}\n"
        ),
        false => format!(
            "\n\\begin{{table}}\n\\centering\\footnotesize\\setlength{{\\tabcolsep}}{{4pt}}\n\\caption{{{caption}}}\n\\begin{{tabular}}{{@{{}}{kinds}@{{}}}}\n\
             {head}{body}\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
        ),
    }
}

/// What a column is called: `stored_peak, paper` is the field of the results file.
fn in_words(column: &str) -> String {
    match column.split_once(", ") {
        Some((field, whose)) => format!("{}, {whose}", label(field)),
        None => label(column),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text as LaTeX takes it.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("''"),
            '-' if out.ends_with('-') => out.push_str("{}-"),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(in_words("stored_peak, paper"), "states stored at most, paper");
        assert_eq!(in_words("model"), "model");
        assert_eq!(escape("stored_peak 5 % of #1 {x}"), "stored\\_peak 5 \\% of \\#1 \\{x\\}");
        assert_eq!(
            escape("a\\b ~ ^ < --x"),
            "a\\textbackslash{}b \\textasciitilde{} \\textasciicircum{} \\textless{} -{}-x"
        );
    }

    #[test]
    fn a_long_table_goes_over_pages() {
        let row = |i: usize| vec![format!("m{}", i / 2), i.to_string(), "as expected".to_string()];
        let of = |rows: usize| {
            let columns =
                [("model", false), ("n", true), ("outcome", false)].map(|(head, number)| (head.to_string(), number));
            table(&Table { columns: columns.to_vec(), rows: (0..rows).map(row).collect(), commands: Vec::new() }, "c_1")
        };
        let short = of(3);
        assert!(short.contains("\\begin{tabular}{@{}lr@{}}\n\\toprule\nmodel & n \\\\\n\\midrule\nm0 & 0 \\\\\n & 1 \\\\\n\\addlinespace\nm1 & 2"), "{short}");
        assert!(short.contains("\\caption{c\\_1}") && !short.contains("longtable"));
        assert!(of(60).contains("\\begin{longtable}"));
    }
}
