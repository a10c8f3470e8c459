//! Checkpoints: a search in a file, to be taken up again later.
//!
//! A file begins with what it is, in which version, and of which model and options it is a checkpoint; it ends with a checksum
//! of all that. It is written beside its place and moved there when it is whole, so that whenever the program is killed there
//! is either the old one or the new one. A file is read twice: once to see that it is as it was written, and then for good.

mod record;

pub use record::{get, put};
pub(crate) use record::{get_facts, get_findings, get_position, put_facts, put_findings, put_position};

use crate::words::hash;
use scrimp_system::{Batch, Model};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

const MAGIC: &[u8; 16] = b"scrimp search\n\x1a\0";
const VERSION: u64 = 1;
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

/// Writes a checkpoint: `content` writes what follows the heading. The file appears at `path` whole or not at all.
pub fn write(
    path: &Path,
    identity: Identity,
    content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // Moving a file to the place of a device or a pipe would remove it.
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is something else than a file"));
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = write_part(&part, identity, content).and_then(|()| std::fs::rename(&part, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
        return written;
    }
    // That the new name stays after a power failure is the directory's business. Not every system lets one ask for it.
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
    Ok(())
}

fn write_part(
    part: &Path,
    identity: Identity,
    content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file = BufWriter::with_capacity(BLOCK, File::create(part)?);
    let mut to = Summing { inner: file, sum: Sum::default() };
    to.write_all(MAGIC)?;
    for number in [VERSION, identity.model, identity.options] {
        put(&mut to, number)?;
    }
    content(&mut to)?;
    let sum = to.sum.value();
    put(&mut to.inner, sum)?;
    to.inner.into_inner()?.sync_all()
}

/// Opens a checkpoint, having seen that it is whole and belongs to `identity`, at the place where its content begins.
pub fn open(path: &Path, identity: Identity) -> io::Result<impl Read + use<>> {
    let refuse =
        |reason: &str| Err(io::Error::new(io::ErrorKind::InvalidData, format!("{}: {reason}", path.display())));
    let mut file = File::open(path).map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
    let length = file.metadata()?.len();
    let heading = (MAGIC.len() + 3 * 8) as u64;
    let mut magic = [0; MAGIC.len()];
    if length < heading + 8 || file.read_exact(&mut magic).is_err() || magic != *MAGIC {
        return refuse("this is no checkpoint of a search");
    }
    let version = get(&mut file)?;
    if version != VERSION {
        return refuse(&format!("a checkpoint of version {version}, and this program reads version {VERSION}"));
    }
    let found = Identity { model: get(&mut file)?, options: get(&mut file)? };
    file.seek(SeekFrom::Start(0))?;
    let mut sum = Sum::default();
    let mut from = BufReader::with_capacity(BLOCK, &mut file).take(length - 8);
    let mut block = vec![0; BLOCK];
    loop {
        match from.read(&mut block)? {
            0 => break,
            read => sum.add(&block[..read]),
        }
    }
    let mut from = from.into_inner();
    if get(&mut from)? != sum.value() {
        return refuse("the checkpoint is damaged");
    }
    if found.model != identity.model {
        return refuse("a checkpoint of another model");
    }
    if found.options != identity.options {
        return refuse(
            "a checkpoint of a search with other options or properties; only memory, time and threads may differ",
        );
    }
    file.seek(SeekFrom::Start(heading))?;
    Ok(BufReader::with_capacity(BLOCK, file).take(length - 8 - heading))
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
        write(&path, ME, &mut |to| content.chunks(1000).try_for_each(|piece| to.write_all(piece))).unwrap();
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
        let failed = write(&path, ME, &mut |to| {
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
