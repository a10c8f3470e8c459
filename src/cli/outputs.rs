//! What is written must not be what is read: a slip on the command line costs nobody a model.

use super::Failure;
use super::args::{CheckArgs, SearchArgs};
use std::path::Path;

/// A file that is written, with the flag that says so.
pub type Output<'a> = (&'static str, Option<&'a Path>);

/// Fails where a file that is to be written is one of those that are read, by whatever name.
pub fn spare(outputs: &[Output], inputs: &[&Path]) -> Result<(), Failure> {
    for (flag, path) in outputs.iter().filter_map(|(flag, path)| Some((flag, (*path)?))) {
        // What is not there yet is nothing that is read.
        let Ok(written) = path.canonicalize() else { continue };
        let same = |input: &&&Path| input.canonicalize().is_ok_and(|read| read == written);
        if let Some(input) = inputs.iter().find(same) {
            let (path, input) = (path.display(), input.display());
            return Err(Failure(format!("error: {flag} {path}: this would overwrite {input}, which is read")));
        }
    }
    Ok(())
}

/// The same for all that `check` reads and writes.
pub fn spare_of_check(args: &CheckArgs) -> Result<(), Failure> {
    let mut inputs = vec![args.model.as_path()];
    inputs.extend(args.property_file.as_deref());
    inputs.extend(args.formulas.iter().map(|path| path.as_path()));
    inputs.extend(args.property.iter().filter_map(|text| Some(Path::new(text.trim().strip_prefix("hoa:")?.trim()))));
    spare(&[("--chart", args.chart.as_deref())], &inputs)?;
    spare(&of_search(&args.search), &inputs)
}

/// The files that a search writes.
pub fn of_search(args: &SearchArgs) -> [Output<'_>; 6] {
    [
        ("--report", args.report.as_deref()),
        ("--plot", args.plot.as_deref()),
        ("--dot", args.dot.as_deref()),
        ("--graph", args.graph.as_deref()),
        ("--front", args.front.as_deref()),
        ("--checkpoint", args.checkpoint.as_deref()),
    ]
}
