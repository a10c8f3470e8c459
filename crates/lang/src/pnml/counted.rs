//! Bytes that know their line: a reader that counts lines and columns of what is taken from it.

use std::io::{self, BufRead, Read};

/// A position in the text, counted from one; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct At {
    pub line: u32,
    pub column: u32,
}

/// Bytes that one tag or one stretch of text may have. More would be kept in memory at once.
const LONGEST: u64 = 256 << 20;
/// Bytes that a document may have, decompressed: what a small archive can unfold to must end somewhere.
const MOST: u64 = 64 << 30;

#[derive(Debug)]
pub(super) struct Counted<R> {
    inner: R,
    at: At,
    taken: u64,
    /// Bytes taken when the current piece began.
    begun: u64,
    last: u8,
}

impl<R: BufRead> Counted<R> {
    pub fn new(inner: R) -> Counted<R> {
        Counted { inner, at: At { line: 1, column: 1 }, taken: 0, begun: 0, last: 0 }
    }

    /// Where the next piece begins; from here on its length counts. The opening bracket of a tag that follows text has been
    /// taken with the text.
    pub fn begin(&mut self) -> At {
        self.begun = self.taken;
        At { column: self.at.column - (self.last == b'<') as u32, ..self.at }
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let n = available.len().min(out.len());
        out[..n].copy_from_slice(&available[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let (length, total) = (self.taken - self.begun, self.taken);
        if length > LONGEST {
            return Err(io::Error::other(format!("a tag or text of more than {LONGEST} bytes")));
        }
        if total > MOST {
            return Err(io::Error::other(format!("more than {MOST} bytes")));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        // The same bytes that were handed out last; they are still there.
        if let Ok(bytes) = self.inner.fill_buf() {
            let bytes = &bytes[..n.min(bytes.len())];
            let mut rest = bytes;
            if let Some(end) = bytes.iter().rposition(|b| *b == b'\n') {
                self.at.line = self.at.line.saturating_add(count(&bytes[..=end], |b| b == b'\n'));
                self.at.column = 1;
                rest = &bytes[end + 1..];
            }
            self.at.column = self.at.column.saturating_add(count(rest, |b| !matches!(b, 0x80..=0xbf)));
            self.last = bytes.last().copied().unwrap_or(self.last);
        }
        self.taken += n as u64;
        self.inner.consume(n);
    }
}

/// How many bytes are of a kind. Pieces whose count fits a byte let the compiler count many bytes at a time.
fn count(bytes: &[u8], kind: impl Fn(u8) -> bool) -> u32 {
    bytes.chunks(255).map(|piece| piece.iter().map(|b| kind(*b) as u8).sum::<u8>() as u32).sum()
}
