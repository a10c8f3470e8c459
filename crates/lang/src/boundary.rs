//! The folder that all files of a model must lie in, where a process has one: the model, what it includes or is made of, files of
//! properties, automata.
//!
//! It is looked at where files are opened, and the file that is opened is the one that was looked at: no spelling of a name, no
//! macro and no link leads around it. Of what lies elsewhere nothing is said, not even whether it exists.

use crate::opened::opening;
use crate::why_unreadable;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Why a path leads to no file of a folder.
#[derive(Debug)]
pub enum Astray {
    Outside,
    /// It would be inside, and cannot be followed to its end.
    Broken(io::Error),
}

/// From now on, this process opens no file of a model outside of the folder. The first folder counts.
pub fn stay_within(folder: &Path) -> io::Result<()> {
    let folder = folder.canonicalize()?;
    FOLDER.get_or_init(|| folder);
    Ok(())
}

/// Where a path leads, links followed, if that is within a folder. The folder's own path has no links.
pub fn inside(folder: &Path, path: &Path) -> Result<PathBuf, Astray> {
    let here = |path: &Path| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_path_buf() };
    let error = match here(path).canonicalize() {
        Ok(real) if real.starts_with(folder) => return Ok(real),
        Ok(_) => return Err(Astray::Outside),
        Err(error) => error,
    };
    let known = path.ancestors().skip(1).find_map(|part| here(part).canonicalize().ok());
    match known.is_some_and(|known| known.starts_with(folder)) {
        true => Err(Astray::Broken(error)),
        false => Err(Astray::Outside),
    }
}

/// The path under which a file of a model may be opened.
pub(crate) fn admitted(path: &Path) -> Result<Cow<'_, Path>, String> {
    let Some(folder) = FOLDER.get() else { return Ok(path.into()) };
    inside(folder, path).map(Cow::from).map_err(|astray| match astray {
        Astray::Outside => "this is outside of the folder that models are read from".into(),
        Astray::Broken(error) => why_unreadable(path, &error),
    })
}

/// The text of a file that belongs to a question about a model.
pub fn read_beside(path: &Path) -> Result<String, String> {
    opening(path);
    std::fs::read_to_string(admitted(path)?).map_err(|error| why_unreadable(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_outside_is_not_even_known_to_exist() {
        let home = std::env::temp_dir().join(format!("scrimp-boundary-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&home);
        std::fs::create_dir_all(home.join("in/deep")).unwrap();
        let home = home.canonicalize().unwrap();
        let folder = home.join("in");
        std::fs::write(home.join("secret"), "").unwrap();
        std::fs::write(folder.join("own"), "").unwrap();
        for path in ["own", "deep/../own", "deep/./.././own"] {
            assert_eq!(inside(&folder, &folder.join(path)).unwrap(), folder.join("own"), "{path}");
        }
        for path in ["../secret", "../missing", "../missing/secret", "/etc/hosts", "/none/at/all", "deep/../../secret"]
        {
            assert!(matches!(inside(&folder, &folder.join(path)), Err(Astray::Outside)), "{path}");
        }
        for path in ["missing", "missing/../../secret", "own/x"] {
            assert!(matches!(inside(&folder, &folder.join(path)), Err(Astray::Broken(_))), "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("..", folder.join("up")).unwrap();
            std::os::unix::fs::symlink("own", folder.join("other")).unwrap();
            assert!(matches!(inside(&folder, &folder.join("up/secret")), Err(Astray::Outside)));
            assert!(matches!(inside(&folder, &folder.join("up/missing")), Err(Astray::Outside)));
            assert_eq!(inside(&folder, &folder.join("other")).unwrap(), folder.join("own"));
        }
        std::fs::remove_dir_all(home).unwrap();
    }
}
