//! What readers are made for: files of `models/` and of the fuzzer's corpus, and what the program writes itself.

use super::feed::{Reader, SEARCHES, checkpoint_of, models};
use std::path::Path;

/// Files that are longer than this are damaged too seldom to tell anything.
const LONGEST: u64 = 20_000;

/// The texts to begin with.
pub fn of(reader: &Reader) -> Vec<Vec<u8>> {
    let mut seeds = files(&models(), |ending| reader.endings.contains(&ending));
    seeds.extend(files(&models().join("../fuzz/corpus").join(reader.name), |_| true));
    if reader.name == "checkpoint" {
        seeds.extend(checkpoints());
    }
    if reader.name == "suite" {
        seeds.extend(files(&models().join("../benches"), |ending| ending == "toml"));
    }
    assert!(!seeds.is_empty(), "there is nothing for {}", reader.name);
    seeds
}

/// The files of a folder with such endings, if there is one.
fn files(folder: &Path, takes: impl Fn(&str) -> bool) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let short = |path: &Path| path.metadata().is_ok_and(|data| data.is_file() && data.len() <= LONGEST);
    let ending = |path: &Path| path.extension().is_some_and(|e| takes(&e.to_string_lossy()));
    let mut paths: Vec<_> = entries.filter(|path| short(path) && ending(path)).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a file can be read")).collect()
}

/// What was saved by all searches, at their beginning and later: the number of the search, and what stands between heading
/// and checksum.
fn checkpoints() -> Vec<Vec<u8>> {
    let content = |(number, search, states)| {
        let whole = checkpoint_of(search, states);
        [&[number], &whole[48..whole.len() - 8]].concat()
    };
    let searches = (0u8..).zip(SEARCHES);
    searches.flat_map(|(number, search)| [0, 50].map(|states| content((number, search, states)))).collect()
}
