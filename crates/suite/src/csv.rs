//! The runs of a suite as comma-separated values (RFC 4180): one line a case, numbers as they are, for further evaluation.

use crate::measure::{MEMORY, TIME, fields};
use crate::suite::Suite;
use crate::summary::{Rows, by_task};
use crate::table::{complaints, configuration};
use crate::template::command_line;
use serde_json::Value as Json;

/// Fields that every line has, where its run knows them.
const ALWAYS: [&str; 8] = ["verdict", "states", "transitions", "deadlocks", "visits", "stored_peak", TIME, MEMORY];

pub fn csv(suite: &Suite, rows: &Rows) -> String {
    let mut settings: Vec<&str> = Vec::new();
    let mut measured: Vec<String> = ALWAYS.map(str::to_string).to_vec();
    let mut published: Vec<&str> = Vec::new();
    for (_, rows) in by_task(suite, rows) {
        for field in fields(&rows) {
            if !measured.contains(&field) {
                measured.push(field);
            }
        }
    }
    for (case, row) in rows {
        let names =
            case.settings.iter().map(|(name, _)| name.as_str()).chain(row.record.settings.keys().map(String::as_str));
        for name in names {
            if !settings.contains(&name) && !measured.iter().any(|field| field == name) {
                settings.push(name);
            }
        }
        for (field, _) in &case.paper {
            if !published.contains(&field.as_str()) {
                published.push(field);
            }
        }
    }
    let mut lines = vec![["task", "model", "configuration"].map(str::to_string).to_vec()];
    lines[0].extend(settings.iter().map(|name| name.to_string()));
    lines[0].extend(["outcome".into(), "wrong".into()]);
    lines[0].extend(measured.iter().cloned());
    lines[0].extend(published.iter().map(|field| format!("published {field}")));
    lines[0].push("command".into());
    for (case, row) in rows {
        let mut cells = vec![case.task.clone(), case.model.name.clone(), configuration(case, row)];
        let record = &row.record;
        let setting =
            |name: &&str| record.settings.get(*name).and_then(|value| value.as_str()).unwrap_or_default().to_string();
        cells.extend(settings.iter().map(setting));
        cells.extend([record.outcome.to_string(), complaints(case, row).join("; ")]);
        let figure = |field: &String| match record.field(field).filter(|_| row.found()) {
            None => String::new(),
            Some(Json::String(text)) => text,
            Some(other) => other.to_string(),
        };
        cells.extend(measured.iter().map(figure));
        let paper = |field: &&str| {
            case.paper.iter().find(|(name, _)| name == field).map_or(String::new(), |(_, n)| n.to_string())
        };
        cells.extend(published.iter().map(paper));
        cells.push(format!("scrimp {}", command_line(&record.command)));
        lines.push(cells);
    }
    lines.iter().map(|cells| line(cells)).collect()
}

fn line(cells: &[String]) -> String {
    let quoted = |cell: &String| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    #[test]
    fn cells_are_quoted() {
        assert_eq!(super::line(&["a".into(), "b, \"c\"".into(), String::new()]), "a,\"b, \"\"c\"\"\",\r\n");
    }
}
