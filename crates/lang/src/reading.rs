//! From a path to the text of a model: plain or compressed, of bounded size, whatever its encoding.

use crate::{LoadError, MAX_TEXT, boundary, foreign, opened};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The languages that files can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Dve,
    Promela,
    /// A labelled transition system in Aldebaran's format.
    Aut,
    /// Labelled transition systems, composed.
    Network,
    /// Petri nets.
    Pnml,
}

/// What a file's name says of its contents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Format {
    /// `None` where only the text tells.
    pub language: Option<Language>,
    pub compressed: bool,
}

pub(crate) fn format_of(path: &Path) -> Result<Format, LoadError> {
    let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let (name, compressed) = match name.strip_suffix(".gz") {
        Some(inner) => (inner, true),
        None => (name.as_str(), false),
    };
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("dve") => Ok(Format { language: Some(Language::Dve), compressed }),
        Some("pml" | "prom" | "promela" | "pm" | "pr" | "prm" | "spin" | "sumo") => {
            Ok(Format { language: Some(Language::Promela), compressed })
        }
        Some("aut") => Ok(Format { language: Some(Language::Aut), compressed }),
        Some("network") => Ok(Format { language: Some(Language::Network), compressed }),
        Some("pnml") => Ok(Format { language: Some(Language::Pnml), compressed }),
        Some("mdve") => Err(refuse(path, "this is an m4 template\nhelp: expand it first: m4 model.mdve > model.dve")),
        _ => Ok(Format { language: None, compressed }),
    }
}

/// Does the name of a file say that it is a model?
pub fn is_model_name(path: &Path) -> bool {
    format_of(path).is_ok_and(|format| format.language.is_some())
}

/// The language of a text whose file's name does not tell: many models of old have no extension, or one of their own.
pub(crate) fn guess(path: &Path, text: &str) -> Result<Language, LoadError> {
    let words = || text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let has = |wanted: &[&str]| words().any(|word| wanted.contains(&word));
    let language = if text.trim_start().strip_prefix("des").is_some_and(|rest| rest.trim_start().starts_with('(')) {
        Some(Language::Aut)
    } else if text.contains("<pnml") {
        Some(Language::Pnml)
    } else if has(&["proctype", "mtype"]) {
        Some(Language::Promela)
    } else if let Some(other) = foreign::by_text(path, text).or_else(|| foreign::by_name(path)) {
        return Err(refuse(path, other));
    } else if has(&["process"]) && has(&["system"]) {
        Some(Language::Dve)
    } else if has(&["component"]) && has(&["behaviour", "sync"]) {
        Some(Language::Network)
    } else {
        has(&["init", "chan", "inline", "typedef", "include"]).then_some(Language::Promela)
    };
    language.ok_or_else(|| {
        let known = "models are DVE (.dve), Promela (.pml, .prom, .promela, .pm, .pr, .prm, .spin), PNML (.pnml), labelled \
                     transition systems (.aut) and networks of these (.network), also with .gz";
        refuse(path, format!("neither the name nor the text tells the language of this file\nhelp: {known}"))
    })
}

pub(crate) fn refuse(path: &Path, problem: impl Into<String>) -> LoadError {
    LoadError::File { path: path.to_path_buf(), problem: problem.into() }
}

/// The bytes of a file of any size, one after the other; decompressed if they are a gzip archive, whatever its name.
pub(crate) fn stream(path: &Path) -> Result<Box<dyn BufRead>, LoadError> {
    let cannot = |e: io::Error| refuse(path, format!("cannot read the file: {e}"));
    let (file, _) = open_file(path)?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let start = reader.fill_buf().map_err(cannot)?;
    if start.is_empty() {
        return Err(refuse(path, "the file is empty"));
    }
    if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") {
        return Err(refuse(path, "the text is in UTF-16\nhelp: save it as UTF-8"));
    }
    match start.starts_with(&[0x1f, 0x8b]) {
        true => Ok(Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(reader)))),
        false => Ok(Box::new(reader)),
    }
}

/// An ordinary file and its length. Every file of a model is opened here.
pub(crate) fn open_file(path: &Path) -> Result<(File, u64), LoadError> {
    let cannot = |e: io::Error| refuse(path, foreign::why_unreadable(path, &e));
    opened::opening(path);
    let real = boundary::admitted(path).map_err(|why| refuse(path, why))?;
    let metadata = std::fs::metadata(&real).map_err(cannot)?;
    if metadata.is_dir() {
        return Err(refuse(path, foreign::folder(path)));
    }
    // Opening a pipe or a device could wait for ever.
    if !metadata.is_file() {
        return Err(refuse(path, "this is not a regular file"));
    }
    Ok((File::open(&real).map_err(cannot)?, metadata.len()))
}

/// The text of the file.
pub(crate) fn read_text(path: &Path, compressed: bool) -> Result<String, LoadError> {
    let cannot = |e: io::Error| refuse(path, format!("cannot read the file: {e}"));
    let (file, length) = open_file(path)?;
    if length > MAX_TEXT {
        return Err(refuse(path, format!("the file has {length} bytes, more than the {MAX_TEXT} that are supported")));
    }
    let mut bytes = Vec::with_capacity(length as usize + 1);
    if compressed {
        let mut reader = MultiGzDecoder::new(file).take(MAX_TEXT + 1);
        reader.read_to_end(&mut bytes).map_err(|e| refuse(path, format!("the file cannot be decompressed: {e}")))?;
    } else {
        file.take(MAX_TEXT + 1).read_to_end(&mut bytes).map_err(cannot)?;
    }
    if bytes.len() as u64 > MAX_TEXT {
        return Err(refuse(path, format!("the text has more than the {MAX_TEXT} bytes that are supported")));
    }
    if bytes.is_empty() {
        return Err(refuse(path, "the file is empty"));
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(refuse(path, "the file has nothing but blanks"));
    }
    decode(bytes).map_err(|problem| refuse(path, foreign::by_name(path).unwrap_or_else(|| problem.to_string())))
}

/// UTF-8, or else one character per byte: old models have the odd accented letter in a comment.
fn decode(mut bytes: Vec<u8>) -> Result<String, &'static str> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Err("this is a gzip archive\nhelp: the name of a compressed model ends in .gz, as in model.dve.gz");
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err("the text is in UTF-16\nhelp: save it as UTF-8");
    }
    if bytes.contains(&0) {
        return Err(foreign::by_bytes(&bytes));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| e.as_bytes().iter().map(|b| *b as char).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides() {
        assert!(!format_of(Path::new("a/b.dve")).unwrap().compressed);
        assert!(format_of(Path::new("b.1.DVE.gz")).unwrap().compressed);
        assert!(format_of(Path::new("b.mdve")).unwrap_err().to_string().contains("m4"));
        assert_eq!(format_of(Path::new("b.pml")).unwrap().language, Some(Language::Promela));
        assert_eq!(format_of(Path::new("b.pnml.gz")).unwrap().language, Some(Language::Pnml));
        assert_eq!(format_of(Path::new("dve")).unwrap().language, None);
        assert_eq!(guess(Path::new("b.xml"), "<?xml?><pnml>process system</pnml>").unwrap(), Language::Pnml);
        assert_eq!(guess(Path::new("b"), "/* */ byte x; active proctype P() {}").unwrap(), Language::Promela);
        assert_eq!(guess(Path::new("b"), "byte x; process P { state q; } system async;").unwrap(), Language::Dve);
        assert!(guess(Path::new("b"), "hello").unwrap_err().to_string().contains(".pml"));
    }

    #[test]
    fn encodings() {
        assert_eq!(decode(b"\xef\xbb\xbfx".to_vec()).unwrap(), "x");
        assert_eq!(decode("é".into()).unwrap(), "é");
        assert_eq!(decode(b"\xe9".to_vec()).unwrap(), "é");
        assert!(decode(b"a\0b".to_vec()).is_err());
        assert!(decode(b"\xff\xfea\0".to_vec()).unwrap_err().contains("UTF-8"));
        assert!(decode(b"\x1f\x8b..".to_vec()).unwrap_err().contains("gzip"));
    }
}
