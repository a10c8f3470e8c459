//! `--chart`: a run as a message sequence chart in a file.

use super::failure::Failure;
use super::output::print;
use scrimp::chart::Drawing;
use scrimp::report::chart;
use scrimp_search::replace;
use std::path::Path;

/// Writes the chart: a picture where the name says so, else text; `-` is standard output.
pub fn write(drawing: Drawing, path: &Path) -> Result<(), Failure> {
    let chart = drawing.chart();
    if path == Path::new("-") {
        return print(&chart::text(&chart));
    }
    let picture = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    let text = if picture { chart::svg(&chart) } else { chart::text(&chart) };
    replace(path, |out| out.write_all(text.as_bytes())).map_err(|e| Failure::with("--chart", path.display(), e))
}
