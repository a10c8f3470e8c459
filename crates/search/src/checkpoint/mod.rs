//! Checkpoints: a search in a file, to be taken up again later.
//!
//! A file begins with what it is, in which version, and of which model and options it is a checkpoint; it ends with a checksum
//! of all that. It is replaced at once or not at all, so that whenever the program is killed there is either the old one or
//! the new one. A file is read twice: once to see that it is as it was written, and then for good.
//!
//! How much room a model needs may only be found out by searching. What was found out (see [`Model::making`]) is part of the
//! file, so that the model can be made the same again before the search is taken up.

mod record;

pub use record::{get, put};
pub(crate) use record::{
    get_facts, get_findings, get_forgotten, get_position, get_text, impossible, put_facts, put_findings, put_forgotten,
    put_position, put_text,
};

use crate::replace::replace;
use crate::words::hash;
use scrimp_system::{Batch, Model};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

const MAGIC: &[u8; 16] = b"scrimp search\n\x1a\0";
const VERSION: u64 = 4;
/// Bytes that are summed up at a time.
const BLOCK: usize = 1 << 16;

/// What a checkpoint belongs to: hashes of the model and of all options that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    pub model: u64,
    pub options: u64,
}

/// A hash of a model: of what it says of itself, and of the first states and their successors.
pub fn model_digest(model: &dyn Model) -> u64 {
    const STATES: usize = 1000;
    let (mut states, mut successors) = (Batch::new(model.state_bytes()), Batch::new(model.state_bytes()));
    model.initial(&mut states);
    let mut digest = model.digest().unwrap_or(0) ^ model.state_bytes() as u64;
    let mut seen = std::collections::HashSet::new();
    let mut next = 0;
    while next < states.len() && next < STATES {
        successors.clear();
        digest = mix(digest, hash(states.state(next)));
        model.expand(states.state(next), &mut successors);
        successors.take_deadlock(0);
        for i in 0..successors.len() {
            digest = mix(digest, hash(successors.state(i)) ^ successors.event(i) as u64);
            if states.len() < STATES && seen.insert(successors.state(i).to_vec()) {
                states.push(successors.state(i), 0);
            }
        }
        next += 1;
    }
    digest
}

fn mix(sum: u64, value: u64) -> u64 {
    hash(&[sum.to_le_bytes(), value.to_le_bytes()].concat())
}

/// Writes a checkpoint: `making` says how the model was made, and `content` writes what follows the heading. The file appears
/// at `path` whole or not at all.
pub fn write(
    path: &Path,
    identity: Identity,
    making: &[u64],
    content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // Moving a file to the place of a device or a pipe would remove it.
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is something that is not a file"));
    }
    replace(path, |file| {
        let mut to = Summing { inner: file, sum: Sum::default() };
        to.write_all(MAGIC)?;
        for number in [VERSION, identity.model, identity.options, making.len() as u64] {
            put(&mut to, number)?;
        }
        making.iter().try_for_each(|&number| put(&mut to, number))?;
        content(&mut to)?;
        let sum = to.sum.value();
        put(&mut to.inner, sum)
    })
}

/// Opens a checkpoint, having seen that it is whole and belongs to `identity`, at the place where its content begins.
pub fn open(path: &Path, identity: Identity) -> io::Result<impl Read + use<>> {
    let Whole { file, identity: found, begin, end, .. } = Whole::open(path)?;
    if found.model != identity.model {
        return refuse(path, "the checkpoint is of another model");
    }
    if found.options != identity.options {
        return refuse(
            path,
            "the checkpoint is of a search with other options or properties\nhelp: only memory, time and threads may differ",
        );
    }
    Ok(BufReader::with_capacity(BLOCK, file).take(end - begin))
}

/// How the model of a checkpoint was made.
pub fn making(path: &Path) -> io::Result<Vec<u64>> {
    Whole::open(path).map(|whole| whole.making)
}

/// The progress measure of the search in a checkpoint, if it has one.
pub fn measure(path: &Path) -> io::Result<Option<String>> {
    let Whole { file, begin, end, .. } = Whole::open(path)?;
    let mut from = BufReader::with_capacity(BLOCK, file).take(end - begin);
    get_text(&mut from)?;
    get_text(&mut from).map(|text| Some(text).filter(|text| !text.is_empty()))
}

fn refuse<T>(path: &Path, reason: &str) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::InvalidData, format!("{}: {reason}", path.display())))
}

/// A checkpoint that is as it was written.
struct Whole {
    /// At the place where its content begins.
    file: File,
    identity: Identity,
    making: Vec<u64>,
    /// The places of its content.
    begin: u64,
    end: u64,
}

impl Whole {
    fn open(path: &Path) -> io::Result<Whole> {
        let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
        let mut file = File::open(path).map_err(named)?;
        let length = file.metadata()?.len();
        let heading = (MAGIC.len() + 4 * 8) as u64;
        let mut magic = [0; MAGIC.len()];
        if length < MAGIC.len() as u64 + 8 || file.read_exact(&mut magic).is_err() || magic != *MAGIC {
            return refuse(path, "this is not a checkpoint of a search");
        }
        let version = get(&mut file).map_err(named)?;
        if version != VERSION {
            return refuse(
                path,
                &format!("a checkpoint of version {version}, and this program reads version {VERSION}"),
            );
        }
        let end = length.saturating_sub(8);
        if end < heading || !is_unharmed(&mut file, end).map_err(named)? {
            return refuse(path, "the checkpoint is damaged");
        }
        file.seek(SeekFrom::Start(MAGIC.len() as u64 + 8)).map_err(named)?;
        let identity = Identity { model: get(&mut file)?, options: get(&mut file)? };
        let numbers = get(&mut file).map_err(named)?;
        let begin = numbers.checked_mul(8).and_then(|bytes| bytes.checked_add(heading)).filter(|begin| *begin <= end);
        let Some(begin) = begin else { return refuse(path, "the checkpoint is damaged") };
        let mut from = BufReader::with_capacity(BLOCK, &mut file);
        let making = (0..numbers).map(|_| get(&mut from)).collect::<io::Result<Vec<u64>>>().map_err(named)?;
        file.seek(SeekFrom::Start(begin)).map_err(named)?;
        Ok(Whole { file, identity, making, begin, end })
    }
}

/// Has a file, up to this place, the checksum that follows there?
fn is_unharmed(file: &mut File, end: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(0))?;
    let mut from = BufReader::with_capacity(BLOCK, file).take(end);
    let (mut sum, mut block) = (Sum::default(), vec![0; BLOCK]);
    loop {
        match from.read(&mut block) {
            Ok(0) => break,
            Ok(read) => sum.add(&block[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(get(&mut from.into_inner())? == sum.value())
}

/// A running checksum, the same however the bytes come in pieces.
#[derive(Default)]
struct Sum {
    sum: u64,
    block: Vec<u8>,
}

impl Sum {
    fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(BLOCK - self.block.len()));
            self.block.extend_from_slice(now);
            bytes = rest;
            if self.block.len() == BLOCK {
                self.sum = mix(self.sum, hash(&self.block));
                self.block.clear();
            }
        }
    }

    fn value(&self) -> u64 {
        let last = if self.block.is_empty() { 0 } else { hash(&self.block) ^ self.block.len() as u64 };
        mix(self.sum, last)
    }
}

struct Summing<W> {
    inner: W,
    sum: Sum,
}

impl<W: Write> Write for Summing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn file(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("scrimp-checkpoint-{}-{name}", std::process::id()))
    }

    const ME: Identity = Identity { model: 7, options: 9 };

    fn written(name: &str, content: &[u8]) -> PathBuf {
        let path = file(name);
        write(&path, ME, &[3, 4], &mut |to| content.chunks(1000).try_for_each(|piece| to.write_all(piece))).unwrap();
        path
    }

    #[test]
    fn what_was_written_is_read() {
        for length in [0, 1, BLOCK - 41, BLOCK, 3 * BLOCK + 5] {
            let content: Vec<u8> = (0..length).map(|i| (i * 7 / 3) as u8).collect();
            let path = written("read", &content);
            let mut back = Vec::new();
            open(&path, ME).unwrap().read_to_end(&mut back).unwrap();
            assert!(back == content);
            assert_eq!(making(&path).unwrap(), [3, 4]);
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn damaged_and_foreign_files_are_refused() {
        let path = written("refused", &[5; 200_000]);
        let whole = std::fs::read(&path).unwrap();
        for other in [Identity { model: 8, ..ME }, Identity { options: 8, ..ME }] {
            assert!(open(&path, other).is_err());
        }
        for at in (0..whole.len()).step_by(997).chain([whole.len() - 1]) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            assert!(open(&path, ME).is_err(), "byte {at}");
        }
        for length in [0, 10, 47, 48, 60_000, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(open(&path, ME).is_err(), "length {length}");
        }
        std::fs::write(&path, [&whole[..], &[0]].concat()).unwrap();
        assert!(open(&path, ME).is_err());
        std::fs::write(&path, &whole).unwrap();
        assert!(open(&path, ME).is_ok());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_fails_leaves_the_old_file() {
        let path = written("old", b"old");
        let failed = write(&path, ME, &[], &mut |to| {
            to.write_all(b"new")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(failed.is_err());
        let mut back = Vec::new();
        open(&path, ME).unwrap().read_to_end(&mut back).unwrap();
        assert_eq!(back, b"old");
        std::fs::remove_file(path).unwrap();
    }
}
