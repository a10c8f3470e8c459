//! What a text was probably meant to be that is no property: the habits of TLA+, SPIN, LTSmin and C are rewritten, a keyword
//! that is missing is tried. Advice is only given when it works: each rewriting is read as a property before it is proposed.

/// Longer texts get no advice: each attempt reads the whole text.
const LONGEST: usize = 2000;

/// Help for a text that is no property; `works` says whether another text is one.
pub(crate) fn advice(written: &str, works: &dyn Fn(&str) -> bool) -> Option<String> {
    if written.len() > LONGEST {
        return None;
    }
    let found = candidates(written).into_iter().find(|candidate| works(candidate))?;
    let meant = format!("did you mean `{found}`");
    Some(match found.split_once(": ") {
        // Without its keyword, a condition could be asked in two ways.
        Some(("invariant", condition)) if !written.starts_with("invariant") => {
            format!("{meant} (in every reachable state), or `reach: {condition}` (in some)?")
        }
        Some(("ltl", _)) if !written.starts_with("ltl") => format!("{meant} (on every run)?"),
        Some(("ctl", _)) if !written.starts_with("ctl") => format!("{meant} (in every initial state)?"),
        _ => format!("{meant}?"),
    })
}

/// What the text may have been meant to be, the likeliest first.
fn candidates(written: &str) -> Vec<String> {
    const KEYWORDS: [&str; 5] = ["invariant", "reach", "bound", "ltl", "ctl"];
    let mut out = Vec::new();
    let keyword = KEYWORDS.into_iter().find(|keyword| {
        let rest = written.strip_prefix(keyword);
        rest.is_some_and(|rest| rest.starts_with([' ', ':', '\t', '(', '[', '<', '!']))
    });
    let text = match keyword {
        None => written,
        Some(keyword) => {
            let rest = written[keyword.len()..].trim_start();
            let text = rest.strip_prefix(':').unwrap_or(rest).trim();
            // As a model has it: `ltl p { … }`.
            let text = match text.split_once('{').zip(text.strip_suffix('}')) {
                Some(((_, inner), _)) => inner.trim_end_matches('}').trim(),
                None => text,
            };
            out.push(format!("{keyword}: {text}"));
            out.extend(rewritten(text, keyword).map(|text| format!("{keyword}: {text}")));
            text
        }
    };
    // An invariant is what LTSmin and SPIN write with `[]`, and `reach` asks for no run.
    for other in ["invariant", "ltl", "ctl"] {
        if keyword != Some(other) && (keyword.is_none() || other != "invariant") {
            out.push(format!("{other}: {text}"));
            out.extend(rewritten(text, other).map(|text| format!("{other}: {text}")));
        }
    }
    out
}

/// The text in the operators of properties; `None` if it has no others.
fn rewritten(text: &str, keyword: &str) -> Option<String> {
    // Within conditions, `->` leads to a variable of a process.
    let implies = if matches!(keyword, "ltl" | "ctl") { "->" } else { "imply" };
    let words = [
        ("/\\", "&&"),
        ("\\/", "||"),
        ("\\land", "&&"),
        ("\\lor", "||"),
        ("\\lnot", "!"),
        ("\\neg", "!"),
        ("<=>", "<->"),
        ("<->", "<->"),
        ("=>", implies),
        ("=<", "<="),
        ("==", "=="),
        ("!=", "!="),
        ("<=", "<="),
        (">=", ">="),
        ("/=", "!="),
        ("#", "!="),
        ("~", "!"),
        ("=", "=="),
    ];
    let spelled = [("TRUE", "true"), ("FALSE", "false"), ("AND", "and"), ("OR", "or"), ("NOT", "not")];
    let (mut out, mut rest) = (String::with_capacity(text.len() + 8), text);
    while let Some(first) = rest.chars().next() {
        if let Some((from, to)) = words.iter().find(|(from, _)| rest.starts_with(from)) {
            out.push_str(to);
            rest = &rest[from.len()..];
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let word = &rest[..end];
            out.push_str(spelled.iter().find(|(from, _)| *from == word).map_or(word, |(_, to)| to));
            rest = &rest[end..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    (out != text).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_of_other_languages_are_rewritten() {
        for (theirs, ours) in [
            ("x = 1 /\\ ~(y # 2)", "x == 1 && !(y != 2)"),
            ("x =< 3 \\/ TRUE", "x <= 3 || true"),
            ("a <=> b", "a <-> b"),
            ("[](p => <>q)", "[](p -> <>q)"),
        ] {
            assert_eq!(rewritten(theirs, "ltl").as_deref(), Some(ours));
        }
        assert_eq!(rewritten("p => q", "invariant").as_deref(), Some("p imply q"));
        assert_eq!(rewritten("x <= 1 && y != 2 -> z >= 3", "ltl"), None);
    }

    #[test]
    fn only_what_works_is_proposed() {
        let told = |written: &str, works: &str| advice(written, &|text| text == works);
        assert_eq!(
            told("x = 1", "invariant: x == 1").as_deref(),
            Some("did you mean `invariant: x == 1` (in every reachable state), or `reach: x == 1` (in some)?")
        );
        assert_eq!(told("invariant x", "invariant: x").as_deref(), Some("did you mean `invariant: x`?"));
        assert_eq!(told("ltl p { [] x }", "ltl: [] x").as_deref(), Some("did you mean `ltl: [] x`?"));
        assert_eq!(told("invariant: [] x", "ltl: [] x").as_deref(), Some("did you mean `ltl: [] x` (on every run)?"));
        assert_eq!(told("EF x", "ctl: EF x").as_deref(), Some("did you mean `ctl: EF x` (in every initial state)?"));
        assert_eq!(told("nonsense", "invariant: x"), None);
    }
}
