//! `--plot` and `--verbose`: how the searches of a run went, as a picture and as characters.

use super::args::SearchArgs;
use super::failure::Failure;
use super::output::{print as print_text, remark};
use scrimp::report::Subject;
use scrimp::report::plot::print::{self, Sheet};
use scrimp::report::plot::{Plot, svg, text};
use scrimp_search::replace;
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

/// Columns and lines of a plot on a terminal.
const SIZE: (usize, usize) = (80, 14);

/// The plots of all searches so far.
#[derive(Default)]
pub struct Curves {
    searches: Vec<(String, Vec<Plot>)>,
}

impl Curves {
    /// Adds what a search has recorded.
    pub fn add(&mut self, subject: &Subject, args: &SearchArgs) {
        let Some(record) = subject.record.filter(|_| args.verbose || args.plot.is_some()) else { return };
        let about = match &subject.report.properties[..] {
            [] => "all states".to_string(),
            [only] => only.name.clone(),
            several => format!("{} properties", several.len()),
        };
        self.searches.push((about, record.panels(args.wanted_panels())));
    }

    /// Writes the picture, and prints the curves.
    pub fn finish(self, args: &SearchArgs) -> Result<(), Failure> {
        let several = self.searches.len() > 1;
        let mut plots = Vec::new();
        for (about, mut of_search) in self.searches {
            if several {
                of_search.iter_mut().for_each(|plot| plot.title = format!("{}: {about}", plot.title));
            }
            plots.extend(of_search);
        }
        if let Some(path) = &args.plot {
            draw(path, &plots, args.quiet)?;
        }
        let curves = || characters(&plots);
        if args.verbose && args.json {
            // Standard output is one object.
            let _ = write!(std::io::stderr(), "{}", curves());
        } else if args.verbose && !plots.is_empty() {
            print_text(&format!("\n{}", curves()))?;
        }
        Ok(())
    }
}

/// Writes the plots: a picture (`.svg`) or pages for print (`.pdf`) where the name says so, else text; `-` is standard output.
pub fn draw(path: &Path, plots: &[Plot], quiet: bool) -> Result<(), Failure> {
    if plots.is_empty() && !quiet {
        remark(&format!("--plot {}: there is nothing to plot", path.display()));
    }
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    let content = match ending.as_deref().and_then(OsStr::to_str) {
        // An empty picture too: nobody is to take an older one for this run's.
        Some("svg") => svg(plots).into_bytes(),
        Some("pdf") => print::pdf(&plots.iter().map(|plot| Sheet::new(plot, true)).collect::<Vec<_>>()),
        _ if path == Path::new("-") => return print_text(&characters(plots)),
        _ => characters(plots).into_bytes(),
    };
    replace(path, |out| out.write_all(&content)).map_err(|e| Failure::with("--plot", path.display(), e))
}

fn characters(plots: &[Plot]) -> String {
    plots.iter().map(|plot| text(plot, SIZE.0, SIZE.1)).collect::<Vec<_>>().join("\n")
}
