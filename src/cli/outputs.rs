//! What is written must not be what is read: a slip on the command line costs nobody a model. And it must be possible to write
//! it, which is better known before a long search than after it.

use super::args::{CheckArgs, SearchArgs};
use super::failure::Failure;
use std::fs::{File, OpenOptions, remove_file};
use std::io;
use std::path::Path;

/// A file that is written, with the flag that says so.
pub type Output<'a> = (&'static str, Option<&'a Path>);

/// Fails where a file that is to be written is one of those that are read, or cannot be written.
pub fn admit(outputs: &[Output], inputs: &[&Path]) -> Result<(), Failure> {
    spare(outputs, inputs)?;
    for (flag, path) in outputs.iter().filter_map(|(flag, path)| Some((*flag, (*path)?))) {
        let replaced = !matches!(flag, "--front" | "--out");
        // Standard output is no file.
        if let Some(why) = obstacle(path, replaced).filter(|_| path != Path::new("-")) {
            return Err(Failure::at(path.display(), format!("{} cannot be written: {why}", content(flag))));
        }
    }
    Ok(())
}

/// What a flag is for.
fn content(flag: &str) -> &str {
    match flag {
        "--report" => "the report",
        "--plot" => "the plot",
        "--chart" => "the chart",
        "--trace" => "the run",
        "--dot" | "--graph" => "the graph",
        "--front" => "the front's log",
        "--checkpoint" => "the checkpoint",
        "--markdown" => "the table",
        "--latex" => "the tables",
        "--csv" => "the runs",
        "--output" => "the file of runs",
        "--junit" | "--sarif" => "the results",
        "--out" => "the results",
        other => other,
    }
}

/// Why a file cannot be written. What is there stays as it is; where nothing is, nothing is left.
fn obstacle(path: &Path, replaced: bool) -> Option<String> {
    if path.is_dir() {
        return Some("this is a folder".into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return Some("there is no such folder".into());
    }
    let tried = match path.metadata() {
        // What is no file (a pipe, a terminal) would notice that it is opened.
        Ok(found) if !found.is_file() => Ok(()),
        Ok(_) if !replaced => OpenOptions::new().append(true).open(path).map(drop),
        // Another file is made, and takes its place.
        _ => probe(path),
    };
    tried.err().map(|error| error.to_string())
}

/// Makes a file beside another, and takes it away again.
fn probe(path: &Path) -> io::Result<()> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let beside = path.with_file_name(name);
    File::create_new(&beside)?;
    remove_file(beside)
}

/// Fails where a file that is to be written is one of those that are read, by whatever name.
fn spare(outputs: &[Output], inputs: &[&Path]) -> Result<(), Failure> {
    for (flag, path) in outputs.iter().filter_map(|(flag, path)| Some((flag, (*path)?))) {
        // What is not there yet is nothing that is read.
        let Ok(written) = path.canonicalize() else { continue };
        let same = |input: &&&Path| input.canonicalize().is_ok_and(|read| read == written);
        if let Some(input) = inputs.iter().find(same) {
            let (path, input) = (path.display(), input.display());
            return Err(Failure::because(format!("{flag} {path}: this would overwrite {input}, which is an input")));
        }
    }
    Ok(())
}

/// The same for all that `check` reads and writes.
pub fn admit_of_check(args: &CheckArgs) -> Result<(), Failure> {
    let mut inputs = vec![args.model.as_path()];
    inputs.extend(args.property_file.as_deref());
    inputs.extend(args.formulas.iter().map(|path| path.as_path()));
    inputs.extend(args.property.iter().filter_map(|text| Some(Path::new(text.trim().strip_prefix("hoa:")?.trim()))));
    admit(&[("--chart", args.chart.as_deref()), ("--trace", args.trace.as_deref())], &inputs)?;
    admit(&of_search(&args.search), &inputs)
}

/// The files that a search writes.
pub fn of_search(args: &SearchArgs) -> [Output<'_>; 6] {
    // A cluster saves to a folder.
    let file = args.checkpoint.as_deref().filter(|_| !args.engine.starts_with("cluster"));
    [
        ("--report", args.report.as_deref()),
        ("--plot", args.plot.as_deref()),
        ("--dot", args.dot.as_deref()),
        ("--graph", args.graph.as_deref()),
        ("--front", args.front.as_deref()),
        ("--checkpoint", file),
    ]
}
