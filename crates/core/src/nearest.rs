//! The name that was probably meant by one that is not known: by edit distance, or because the end was left out.

/// Longer names are never suggested: the comparison is quadratic in their length.
const LONGEST: usize = 64;

/// The candidate that was probably meant by `name`, if one is close enough.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let length = name.chars().count();
    // Of a single letter nothing may change but its case, or any would do.
    let limit = if length == 1 { 0 } else { (length / 3).clamp(1, 3) };
    let mut best: Option<(usize, &str)> = None;
    // Else, what only lacks its beginning or its end.
    let mut longer: Option<&str> = None;
    for candidate in candidates {
        if candidate == name || name.len() > LONGEST || candidate.len() > LONGEST {
            continue;
        }
        if name.len().abs_diff(candidate.len()) > 4 * limit {
            continue;
        }
        if length >= 3
            && candidate.len() <= 2 * name.len()
            && (candidate.starts_with(name) || candidate.ends_with(name))
        {
            longer = longer.or(Some(candidate));
        }
        let distance = if name.eq_ignore_ascii_case(candidate) { 0 } else { edit_distance(name, candidate) };
        if distance <= limit && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| name).or(longer)
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + (a[i - 1] != b[j - 1]) as usize;
            let mut cost = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(before[j - 2] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("ab", "ba"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
    }

    #[test]
    fn only_near_names_are_meant() {
        assert_eq!(nearest("tabel", ["tree", "table"]), Some("table"));
        assert_eq!(nearest("nonsense", ["tree", "table"]), None);
    }
}
