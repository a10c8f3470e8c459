//! Our own Promela models, against SPIN: the same number of states and transitions. Random programs are compared by
//! `scrimp-soak`.
//!
//! Needs `spin` and `gcc`, and is faster with `tcc`.

use crate::common;
use crate::common::counted;
use scrimp::Loaded;
use scrimp_soak::promela::spin::{Search, Spin};
use std::path::Path;

/// Every other test relies on them.
#[test]
fn own_models_are_the_same_in_spin() {
    let spin = match Spin::find() {
        Ok(spin) => spin,
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    let mut compared = 0;
    for file in std::fs::read_dir(common::manifest().join("models")).expect("there are models").flatten() {
        let path = file.path();
        if path.extension().is_none_or(|extension| extension != "pml") {
            continue;
        }
        let name = file.file_name().to_string_lossy().into_owned();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("promela_spin").join(&name);
        let Search::Found(found) = spin.file(&path, &folder) else { continue };
        let mut loaded = Loaded::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let facts = counted(&mut loaded).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((facts.states, facts.transitions), (found.states, found.transitions), "{name}");
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} models");
}
