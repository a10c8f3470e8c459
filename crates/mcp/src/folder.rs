//! The folder that agents may look at. Which models lie in it is known here; that they name nothing outside of it, the commands
//! see to that read them.

use scrimp_lang::{Astray, inside};
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
        let path = inside(&self.0, &self.0.join(name)).map_err(|astray| match astray {
            Astray::Outside => format!("{name} is outside of the folder that this server was started for"),
            Astray::Broken(error) => match self.others(name) {
                None => format!("{name}: {error}"),
                Some(other) => format!("{name}: {error}\nhelp: there is {other}"),
            },
        })?;
        match path.is_file() {
            true => Ok(path.strip_prefix(&self.0).unwrap_or(&path).to_path_buf()),
            false => Err(format!("{name} is no file")),
        }
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
        fs::write(home.join("secret.pml"), "active proctype P() { skip }").unwrap();
        fs::write(inner.join("own.pml"), "active proctype P() { skip }").unwrap();
        let folder = Folder::new(&inner).unwrap();
        assert_eq!(folder.model("own.pml").unwrap(), Path::new("own.pml"));
        assert_eq!(folder.model(inner.join("own.pml").to_str().unwrap()).unwrap(), Path::new("own.pml"));
        for name in ["../secret.pml", "../missing.pml", "/etc/hosts", "/none/at/all"] {
            assert!(folder.model(name).unwrap_err().contains("outside"), "{name}");
        }
        for name in ["", "none.pml", "."] {
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
