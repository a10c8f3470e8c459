//! File names with `*` (any characters) and `?` (one character), within one folder each.

use std::path::{Component, Path, PathBuf};

/// The files that a pattern names, in order. A path without signs is answered as it is when it exists.
pub fn files(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let text = part.as_os_str().to_string_lossy().into_owned();
        if !matches!(part, Component::Normal(_)) || !text.contains(['*', '?']) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let below = |folder: PathBuf| {
            let place = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
            let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            let mut names: Vec<String> = names.filter(|name| matches(&text, name)).collect();
            names.sort_by_key(|name| natural(name));
            names.into_iter().map(|name| folder.join(name)).collect::<Vec<_>>()
        };
        found = found.into_iter().flat_map(below).collect();
    }
    found.retain(|path| path.is_file());
    found
}

/// `phils10` after `phils9`.
fn natural(name: &str) -> Vec<(u64, String)> {
    let mut parts = vec![(0u64, String::new())];
    for c in name.chars() {
        let last = parts.last_mut().expect("never empty");
        match c.to_digit(10) {
            Some(digit) if last.1.is_empty() => last.0 = last.0.saturating_mul(10).saturating_add(digit as u64),
            Some(digit) => parts.push((digit as u64, String::new())),
            None => last.1.push(c),
        }
    }
    parts
}

fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where the last star was, and how much it has taken so far.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, n));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == name[n]) {
            p += 1;
            n += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            p = at + 1;
            n = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Without `folder/..` and `.`, as far as the text alone tells.
pub fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            _ => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("phils*.dve", "phils3.dve", true),
            ("phils?.dve", "phils10.dve", false),
            ("*", ".hidden", false),
            ("at.2.dve*", "at.2.dve", true),
            ("at.2.dve*", "at.2.dve.gz", true),
            ("*a*b*", "xaxxbx", true),
            ("*a*b", "xaxxbx", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
        let mut names = ["p10", "p9", "p9b"];
        names.sort_by_key(|n| natural(n));
        assert_eq!(names, ["p9", "p9b", "p10"]);
    }

    #[test]
    fn tidied() {
        assert_eq!(tidy(Path::new("benches/../models/./x")), Path::new("models/x"));
        assert_eq!(tidy(Path::new("../a/../../b")), Path::new("../../b"));
    }
}
