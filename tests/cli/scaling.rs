//! `scrimp bench MODEL`: what threads do for a model. And the picture in docs/benchmarks.md, which shows the figures beside it.

use crate::common::command::{model, scratch, scrimp};
use scrimp_report::plot::svg;
use scrimp_suite::scaling::{Curve, Point, plots};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_model_is_run_with_more_and_more_threads() {
    let model = model("phils6.dve");
    let picture = scratch("speedup.svg");
    let flags = ["--threads", "1,2", "--store", "table,packed", "--repeat", "2", "--flags", "--memory 1G", "--plot"];
    let plot = picture.display().to_string();
    let answer = scrimp(&[&["bench", &model][..], &flags, &[&plot]].concat()).code(0);
    assert_eq!(answer.stderr.lines().count(), 8, "two rounds of four runs: {}", answer.stderr);
    let rows: Vec<Vec<&str>> = answer.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let rows: Vec<&Vec<&str>> = rows.iter().filter(|row| row.first() == Some(&"phils6")).collect();
    let about = |row: &Vec<&str>| row[1..3].join(" ");
    assert_eq!(rows.iter().map(|row| about(row)).collect::<Vec<_>>(), ["table 1", "table 2", "packed 1", "packed 2"]);
    assert!(rows.iter().all(|row| row[3] == rows[0][3] && row[7].ends_with('x')), "{}", answer.stdout);
    let picture = std::fs::read_to_string(picture).expect("a picture");
    for name in [">table<", ">packed<", ">ideal<", "Speedup: phils6"] {
        assert!(picture.contains(name), "{name}");
    }
    assert!(!Path::new(&model).with_extension("results.jsonl").exists(), "nothing is left beside the model");
}

#[test]
fn what_cannot_be_run_is_said() {
    let model = model("phils3.dve");
    let answer = scrimp(&["bench", &model, "--threads", "1", "--store", "nonsense", "--quiet"]).code(1);
    assert!(answer.stdout.contains("phils3 nonsense 1: refused"), "{}", answer.stdout);
    scrimp(&["bench", &model, "--threads", "0"]).refused();
}

/// Seconds with 1, 2, 4, 8 and 16 threads, or with 1 and 16; a dash where there are none.
fn points(cell: &str) -> Vec<Point> {
    let cells: Vec<&str> = cell.split(',').map(str::trim).collect();
    let threads: &[f64] = if cells.len() == 2 { &[1.0, 16.0] } else { &[1.0, 2.0, 4.0, 8.0, 16.0] };
    let point = |(&threads, text): (&f64, &&str)| {
        let seconds = text.parse().ok()?;
        Some(Point { threads, seconds, states: f64::NAN, bytes_per_state: None, command: String::new() })
    };
    threads.iter().zip(&cells).filter_map(point).collect()
}

/// Draw it again: `SCRIMP_DRAW=1 cargo test --test cli scaling`.
#[test]
fn the_picture_shows_the_figures_beside_it() {
    let page = std::fs::read_to_string(root().join("docs/benchmarks.md")).expect("the page");
    let (_, section) = page.split_once("## Every core").expect("the section");
    let rows = section.lines().skip_while(|line| !line.starts_with("| model")).skip(2);
    let mut curves = Vec::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        for (way, place) in [("packed", 2), ("table", 4), ("tree", 6)] {
            let points = points(cells[place]);
            // A speedup is one over one thread.
            if points.first().is_some_and(|first| first.threads == 1.0) {
                curves.push(Curve { model: cells[0].into(), way: way.into(), points });
            }
        }
    }
    assert_eq!(curves.len(), 10, "{curves:?}");
    let (drawn, picture) = (svg(&plots(&curves)), root().join("docs/scaling.svg"));
    if std::env::var_os("SCRIMP_DRAW").is_some() {
        std::fs::write(&picture, &drawn).expect("the picture");
    }
    let shown = std::fs::read_to_string(&picture).unwrap_or_default();
    assert!(shown == drawn, "docs/scaling.svg is not what the figures say: draw it again");
}
