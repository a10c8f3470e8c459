//! Runs in the form that was asked for: `--trace-format`, and `check --trace`.

use super::args::CheckArgs;
use super::failure::Failure;
use super::output::{print, remark, style, style_of_errors};
use clap::ValueEnum;
use scrimp::chart::Drawing;
use scrimp::report::trace::{Run, document, itf, table};
use scrimp::report::{Style, chart, text};
use scrimp::{Describe, Explorable, NativeModel};
use scrimp_core::PropertyResult;
use scrimp_search::replace;
use std::path::Path;

/// How a run is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// A line a step: number, process, place in the model, event, changed values
    Text,
    /// An object, as in the answer of `--json`; `simulate --trace` reads it
    Json,
    /// Steps by variables: those that ever change
    Table,
    /// A sequence diagram of Mermaid: processes and messages
    Mermaid,
    /// The Informal Trace Format of Apalache and Quint
    Itf,
}

impl TraceFormat {
    /// Is it a text of its own, beside which nothing else can stand?
    pub fn is_document(self) -> bool {
        matches!(self, TraceFormat::Json | TraceFormat::Mermaid | TraceFormat::Itf)
    }

    /// What the name of a file says.
    fn of(path: &Path) -> TraceFormat {
        let name = path.to_string_lossy().to_ascii_lowercase();
        match () {
            () if name.ends_with(".itf.json") || name.ends_with(".itf") => TraceFormat::Itf,
            () if name.ends_with(".json") => TraceFormat::Json,
            () if name.ends_with(".mmd") || name.ends_with(".mermaid") => TraceFormat::Mermaid,
            () => TraceFormat::Text,
        }
    }
}

/// The run of a property in this form; nothing where it has none.
pub fn written(format: TraceFormat, model: &NativeModel, p: &PropertyResult, source: &str) -> Option<String> {
    let drawing = Drawing::of(model, p)?;
    in_form(format, model, p, (source, Some(&p.name)), drawing)
}

/// A run that was shown step by step, in this form.
pub fn simulated(
    format: TraceFormat,
    model: &dyn Explorable,
    p: &PropertyResult,
    source: &str,
    drawing: Drawing,
) -> Option<String> {
    in_form(format, model, p, (source, None), drawing)
}

fn in_form(
    format: TraceFormat,
    model: &dyn Describe,
    p: &PropertyResult,
    (source, property): (&str, Option<&str>),
    drawing: Drawing,
) -> Option<String> {
    let trace = p.trace.as_ref()?;
    let steps = p.single_steps(model)?;
    let run = Run { model, initial: &trace.initial, steps: &steps, again: p.loop_among(&steps) };
    Some(match format {
        TraceFormat::Text => text::evidence(model, p, Style::PLAIN).trim_start().to_string(),
        TraceFormat::Table => table(&run, Style::PLAIN),
        TraceFormat::Json => format!("{:#}\n", document(model, p, source, property)?),
        TraceFormat::Mermaid => chart::mermaid(&drawing.chart()),
        TraceFormat::Itf => {
            let about = property.map_or("a simulated run".to_string(), |property| format!("{property}: {}", word(p)));
            format!("{:#}\n", itf(&run, source, &about))
        }
    })
}

fn word(p: &PropertyResult) -> &'static str {
    match p.verdict {
        scrimp_core::Verdict::Violated => "violated by this run",
        _ => "shown by this run",
    }
}

/// Where `check` writes its run, and how.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    pub format: TraceFormat,
    /// `None`: standard output.
    pub file: Option<&'a Path>,
}

impl<'a> Wanted<'a> {
    /// Nothing where runs are told in the report alone.
    pub fn of(args: &'a CheckArgs) -> Option<Wanted<'a>> {
        Wanted::named(args.trace_format, args.trace.as_deref())
            .filter(|wanted| wanted.file.is_some() || wanted.format.is_document())
    }

    /// The same for who shows no tables in the report.
    pub fn named(format: Option<TraceFormat>, file: Option<&'a Path>) -> Option<Wanted<'a>> {
        let file = file.filter(|path| *path != Path::new("-"));
        match (format, file) {
            (format, Some(path)) => {
                Some(Wanted { format: format.unwrap_or_else(|| TraceFormat::of(path)), file: Some(path) })
            }
            (Some(format), None) if format != TraceFormat::Text => Some(Wanted { format, file: None }),
            _ => None,
        }
    }

    pub fn write(&self, run: Option<&str>) -> Result<(), Failure> {
        let flag = if self.file.is_some() { "--trace" } else { "--trace-format" };
        match (run, self.file) {
            (None, _) => {
                remark(&format!("{flag}: no run was found, so there is none to write"));
                Ok(())
            }
            (Some(run), None) => print(run),
            (Some(run), Some(path)) => {
                replace(path, |out| out.write_all(run.as_bytes())).map_err(|e| Failure::with(flag, path.display(), e))
            }
        }
    }
}

/// Refuses what cannot be written, or not to the same place.
pub fn admit(args: &CheckArgs) -> Result<(), Failure> {
    let on_output = args.trace.as_deref().is_none_or(|path| path == Path::new("-"));
    let said = args.trace_format.is_some() || args.trace.is_some();
    if !on_output || !said {
        return Ok(());
    }
    let help = "\nhelp: write the run to a file with --trace FILE";
    if args.search.json {
        return Err(Failure::because(format!("--json and --trace-format would write to the same place{help}")));
    }
    let document = args.trace_format.is_some_and(TraceFormat::is_document);
    for (flag, path) in [("--chart", &args.chart), ("--plot", &args.search.plot)] {
        if document && path.as_deref() == Some(Path::new("-")) {
            let message = format!("{flag} - and --trace-format would write to the same place{help}");
            return Err(Failure::because(message));
        }
    }
    if args.search.quiet && !document {
        return Err(Failure::because(format!("--quiet prints no report, and so no runs{help}")));
    }
    Ok(())
}

/// How the report is written, which makes way on standard output for a run that stands alone.
pub fn style_of_report(format: Option<TraceFormat>, aside: bool) -> Style {
    let style = if aside { style_of_errors() } else { style() };
    Style { tables: format == Some(TraceFormat::Table) && !aside, ..style }
}
