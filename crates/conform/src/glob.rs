//! Texts with `*`, which stands for any characters.

/// Does the text look so? Answers what the first `*` stands for, which is nothing where there is none.
pub(crate) fn glob<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
    let parts: Vec<&str> = pattern.split('*').collect();
    let [begin, rest @ ..] = &parts[..] else { return None };
    if rest.is_empty() {
        return (pattern == text).then_some("");
    }
    let behind = text.strip_prefix(begin)?;
    let ends = behind.char_indices().map(|(at, _)| at).chain([behind.len()]);
    ends.into_iter().find(|end| fits(rest, &behind[*end..])).map(|end| &behind[..end])
}

/// Does a text consist of these parts with anything between them? Each but the last is best where it comes first.
pub(crate) fn fits(parts: &[impl AsRef<str>], text: &str) -> bool {
    let (begin, middle, end) = match parts {
        [] => return false,
        [all] => return text == all.as_ref(),
        [begin, middle @ .., end] => (begin.as_ref(), middle, end.as_ref()),
    };
    let Some(mut text) = text.strip_prefix(begin) else { return false };
    for part in middle {
        match text.find(part.as_ref()) {
            Some(at) => text = &text[at + part.as_ref().len()..],
            None => return false,
        }
    }
    text.ends_with(end)
}

/// A text without what makes no difference: spaces, and parentheses around all of it.
pub(crate) fn squeezed(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut inner = plain.as_str();
    while let Some(within) = inner.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        let mut open = 0i64;
        let closes_early = within.chars().any(|c| {
            open += i64::from(c == '(') - i64::from(c == ')');
            open < 0
        });
        if closes_early {
            break;
        }
        inner = within;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, stands) in [
            ("a", "a", Some("")),
            ("a", "b", None),
            ("*", "", Some("")),
            ("rm*", "rm12", Some("12")),
            ("*!yes", "vote!yes", Some("vote")),
            ("a*b*c", "abbbc", Some("")),
            ("a*c", "abcc", Some("bc")),
            ("é*", "éa", Some("a")),
            ("a*b*b", "ab", None),
            ("*b*b*", "xbybz", Some("x")),
        ] {
            assert_eq!(glob(pattern, text), stands, "{pattern} {text}");
        }
    }

    #[test]
    fn spaces_make_no_difference() {
        assert_eq!(squeezed(" ((v == no)) "), "v==no");
        assert_eq!(squeezed("(a) + (b)"), "(a)+(b)");
        assert_eq!(squeezed("()"), "");
    }
}
