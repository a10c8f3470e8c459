//! The folder that agents may look at, and which models lie in it whole.

use scrimp_suite::watched::belonging;
use std::io;
use std::path::{Path, PathBuf};

/// A folder. Models are named from it, and what they include must lie in it too.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(path: &Path) -> io::Result<Folder> {
        let path = path.canonicalize()?;
        match path.is_dir() {
            true => Ok(Folder(path)),
            false => Err(io::Error::from(io::ErrorKind::NotADirectory)),
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A model's path within the folder.
    pub fn model(&self, name: &str) -> Result<PathBuf, String> {
        let outside = || format!("{name} is outside of the folder that this server was started for");
        let missing = |e: io::Error| match self.others(name) {
            None => format!("{name}: {e}"),
            Some(other) => format!("{name}: {e}\nhelp: there is {other}"),
        };
        let path = self.0.join(name).canonicalize().map_err(missing)?;
        let inside = path.strip_prefix(&self.0).map_err(|_| outside())?.to_path_buf();
        if !path.is_file() {
            return Err(format!("{name} is no file"));
        }
        // What such a file includes cannot be seen from here.
        let lower = name.to_ascii_lowercase();
        if lower.ends_with(".gz") && !lower.ends_with(".pnml.gz") && !lower.ends_with(".aut.gz") {
            return Err(format!("{name}: models that can include others are read here only where they are not packed"));
        }
        for file in belonging(&path) {
            match file.canonicalize() {
                Ok(real) if !real.starts_with(&self.0) => {
                    let named = file.display();
                    return Err(format!("{name} names {named}, which is outside of the folder of this server"));
                }
                _ => {}
            }
        }
        Ok(inside)
    }

    /// A file beside this one whose name is nearly that.
    fn others(&self, name: &str) -> Option<String> {
        let asked = Path::new(name);
        let home = asked.parent().unwrap_or(Path::new(""));
        let folder = self.0.join(home).canonicalize().ok().filter(|folder| folder.starts_with(&self.0))?;
        let entries = folder.read_dir().ok()?.flatten().take(10_000);
        let names = entries.filter_map(|entry| Some(home.join(entry.file_name()).to_str()?.to_string()));
        let far = |other: &String| strsim::damerau_levenshtein(other, name);
        names.map(|other| (far(&other), other)).min().filter(|(far, _)| *far <= 3).map(|(_, other)| other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_what_lies_in_the_folder_is_admitted() {
        let home = std::env::temp_dir().join(format!("scrimp-mcp-folder-{}", std::process::id()));
        let inner = home.join("models");
        fs::create_dir_all(&inner).unwrap();
        for (name, text) in [
            ("secret.pml", "active proctype P() { skip }"),
            ("models/own.pml", "#include \"part.h\"\nactive proctype P() { skip }"),
            ("models/part.h", "byte x;"),
            ("models/outer.pml", "#include \"../secret.pml\""),
            ("models/deep.pml", "#include \"outer.pml\""),
            ("models/far.pml", "#include </etc/hosts>"),
            ("models/packed.pml.gz", ""),
        ] {
            fs::write(home.join(name), text).unwrap();
        }
        let folder = Folder::new(&inner).unwrap();
        assert_eq!(folder.model("own.pml").unwrap(), Path::new("own.pml"));
        assert_eq!(folder.model(inner.join("own.pml").to_str().unwrap()).unwrap(), Path::new("own.pml"));
        for name in ["../secret.pml", "/etc/hosts", "outer.pml", "deep.pml", "far.pml", "packed.pml.gz", "", "none.pml"]
        {
            folder.model(name).unwrap_err();
        }
        assert!(folder.model("owm.pml").unwrap_err().contains("there is own.pml"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(home.join("secret.pml"), inner.join("link.pml")).unwrap();
            assert!(folder.model("link.pml").unwrap_err().contains("outside"));
        }
        assert!(Folder::new(&home.join("secret.pml")).is_err());
        fs::remove_dir_all(home).unwrap();
    }
}
