//! The text for a card is accepted by the run-time compiler of CUDA, where that is installed: it needs no card.

use scrimp_checker::Loaded;
use scrimp_core::{Property, PropertyKind};
use scrimp_gpu::{Compiler, Effort, Target, text};
use scrimp_native::{Mode, NativeModel};
use scrimp_system::Expr;
use std::path::{Path, PathBuf};
use std::time::Instant;

const MEMORY: usize = 100 << 30;
/// What code is made for.
const ARCHITECTURES: [&str; 2] = ["sm_80", "sm_90"];

#[test]
fn every_text_is_accepted() {
    let compiler = match Compiler::find() {
        Ok(compiler) => compiler,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    // Files named by the user, or all models.
    let named = std::env::var("MODELS").unwrap_or_default();
    let mut paths: Vec<PathBuf> = named.split_whitespace().map(PathBuf::from).collect();
    if paths.is_empty() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        paths.extend(std::fs::read_dir(folder).expect("models").map(|entry| entry.expect("a file").path()));
        paths
            .retain(|path| path.extension().is_some_and(|e| ["dve", "pml", "network", "pnml"].iter().any(|x| e == *x)));
        paths.retain(|path| !path.ends_with("unbounded.pnml"));
    }
    paths.sort();
    for path in paths {
        let mut loaded = Loaded::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let _ = loaded.add_claim();
        let mut compile = |model: &NativeModel| {
            let goals = [
                Property::deadlock(),
                Property::new("true", PropertyKind::Invariant(Expr::TRUE)),
                Property::new("false", PropertyKind::Reach(Expr::FALSE)),
            ];
            let source = text(model, model.system(), model.layout(), &goals, MEMORY, Target::Card)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            for architecture in ARCHITECTURES {
                let begun = Instant::now();
                let code = compiler
                    .compile(&source, architecture, Effort::Full, &|| false)
                    .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let events = model.system().events.len();
                eprintln!("{name}, {events} events, {architecture}: {} bytes in {:.2?}", code.len(), begun.elapsed());
            }
        };
        loaded.with_model(Mode::Interpreted, &mut compile).unwrap_or_else(|error| panic!("{error}"));
    }
}
