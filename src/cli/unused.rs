//! Options that change nothing for a model are named.

use super::args::SearchArgs;
use super::output::remark;
use scrimp::Loaded;

/// Names the options that change nothing for this model.
pub fn say(args: &SearchArgs, loaded: &Loaded) {
    let unused = [
        (loaded.net.is_none() && args.structure != "all", "--structure is for Petri nets"),
        (!loaded.is_promela() && !args.define.is_empty(), "--define is for Promela models"),
    ];
    for (_, why) in unused.into_iter().filter(|(unused, _)| *unused && !args.quiet) {
        remark(&format!("warning: {why}; it has no effect here"));
    }
}
