//! What a text was probably meant to be that is no property: the habits of TLA+, SPIN, LTSmin and C are rewritten, a keyword
//! that is missing is tried. Advice is only given when it works: each rewriting is read as a property before it is proposed.

use crate::diagnostic::Problem;
use std::borrow::Cow;

/// Longer texts get no advice: each attempt reads the whole text.
const LONGEST: usize = 2000;

/// Help for a text that is no property; `attempt` reads another text as one.
pub(crate) fn advice(written: &str, attempt: &dyn Fn(&str) -> Result<(), Problem>) -> Option<String> {
    if written.len() > LONGEST {
        return None;
    }
    if let Some(fairness) = fairness(written) {
        return Some(format!("fairness is an option: `--fair '{fairness}'`"));
    }
    let candidates = candidates(written);
    let found = match candidates.iter().find(|candidate| attempt(candidate).is_ok()) {
        Some(found) => found.clone(),
        // Names may be wrong besides. A single word is no condition with a wrong name.
        None if is_word(written) => return None,
        // Where nothing else is wrong, the problem itself says what is meant.
        None if attempt(written).err()?.with_known_names(written).is_some() => return None,
        None => candidates.iter().find_map(|candidate| renamed(candidate, attempt))?,
    };
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

/// The text with the nearest names in the place of unknown ones, where it is a property then.
fn renamed(candidate: &str, attempt: &dyn Fn(&str) -> Result<(), Problem>) -> Option<String> {
    let text = attempt(candidate).err()?.with_known_names(candidate)?;
    attempt(&text).is_ok().then_some(text)
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
                Some(((name, inner), _)) if keyword == "ltl" && is_word(name.trim()) => {
                    inner.trim_end_matches('}').trim()
                }
                _ => text,
            };
            out.push(format!("{keyword}: {text}"));
            out.extend(rewritten(text, keyword).map(|text| format!("{keyword}: {text}")));
            text
        }
    };
    // An invariant is what LTSmin and SPIN write with `[]`, and `reach` asks for no run.
    for other in ["invariant", "ltl", "ctl"] {
        // What is said of a bound is a sum, and no condition.
        if !matches!(keyword, Some(word) if word == other || word == "bound")
            && (keyword.is_none() || other != "invariant")
        {
            out.push(format!("{other}: {text}"));
            out.extend(rewritten(text, other).map(|text| format!("{other}: {text}")));
        }
    }
    out
}

/// TLA+'s `WF(P)` or `SF(P)` in a text: what the option takes.
fn fairness(written: &str) -> Option<String> {
    let begins = |at: usize| !written[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let at = ["WF(", "SF("].into_iter().find_map(|word| written.find(word).filter(|at| begins(*at)))?;
    let (name, _) = written[at + 3..].split_once(')')?;
    is_word(name.trim()).then(|| format!("{}({})", &written[at..at + 2], name.trim()))
}

fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The text in the operators of properties; `None` if it has no others.
pub(crate) fn rewritten(text: &str, keyword: &str) -> Option<String> {
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
        ("≤", "<="),
        ("≥", ">="),
        ("≠", "!="),
        ("¬", "!"),
        ("∧", "&&"),
        ("∨", "||"),
        ("⇒", implies),
        ("→", implies),
        ("⇔", "<->"),
        ("↔", "<->"),
        ("□", "[]"),
        ("◇", "<>"),
    ];
    let spelled = [("TRUE", "true"), ("FALSE", "false"), ("AND", "and"), ("OR", "or"), ("NOT", "not")];
    let whole = leads_to(text);
    let (mut out, mut rest) = (String::with_capacity(text.len() + 8), &*whole);
    while let Some(first) = rest.chars().next() {
        // Behind an operand, `<>` is no operator of time.
        let is_binary = || out.trim_end().ends_with(|c: char| c.is_alphanumeric() || "_)]".contains(c));
        if rest.starts_with("<>") && is_binary() {
            out.push_str("!=");
            rest = &rest[2..];
        } else if let Some((from, to)) = words.iter().find(|(from, _)| rest.starts_with(from)) {
            out.push_str(to);
            rest = &rest[from.len()..];
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let word = &rest[..end];
            rest = &rest[end..];
            match of_spin(word, rest) {
                Some((ours, length)) => {
                    out.push_str(&ours);
                    rest = &rest[length..];
                }
                None => out.push_str(spelled.iter().find(|(from, _)| *from == word).map_or(word, |(_, to)| to)),
            }
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    (out != text).then_some(out)
}

/// SPIN's `P[0]@label` is `P_0@label`, and its `len(c)` is `c.len`: what the word and what stands behind it become, and how
/// much of that is taken.
fn of_spin(word: &str, rest: &str) -> Option<(String, usize)> {
    let (open, close) = if word == "len" { ('(', ')') } else { ('[', ']') };
    let (inner, behind) = rest.strip_prefix(open)?.split_once(close)?;
    let length = inner.len() + 2;
    let is_word = !inner.is_empty() && is_word(inner);
    match word {
        "len" if is_word => Some((format!("{inner}.len"), length)),
        _ if is_word && behind.starts_with('@') => Some((format!("{word}_{inner}"), length)),
        _ => None,
    }
}

/// The text with TLA+'s `p ~> q` as `[] (p -> <> (q))`.
fn leads_to(text: &str) -> Cow<'_, str> {
    let Some((before, after)) = text.split_once("~>") else { return text.into() };
    // The operator binds weakly: its operands reach as far as the parentheses around it.
    let mut open = 0i32;
    let ends_here = |c: char, opens: char, closes: char, open: &mut i32| {
        *open += (c == opens) as i32 - (c == closes) as i32;
        *open > 0
    };
    let start = before.char_indices().rev().find(|(_, c)| ends_here(*c, '(', ')', &mut open));
    let start = start.map_or(0, |(at, _)| at + 1);
    open = 0;
    let end = after.char_indices().find(|(_, c)| ends_here(*c, ')', '(', &mut open)).map_or(after.len(), |(at, _)| at);
    let (outside, left) = before.split_at(start);
    let (right, rest) = after.split_at(end);
    let (left, right) = (left.trim(), right.trim());
    let conclusion = if is_word(right) { right.to_string() } else { format!("({right})") };
    let implication = format!("{left} -> <> {conclusion}");
    match outside.trim_end_matches(['(', ' ']).ends_with("[]") {
        true => format!("{outside}{implication}{rest}").into(),
        false => format!("{outside}[] ({implication}){rest}").into(),
    }
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
            ("p ~> q", "[] (p -> <> q)"),
            ("[] (x = 1 ~> y = 1) /\\ z", "[] (x == 1 -> <> (y == 1)) && z"),
            ("(a /\\ (b ~> c))", "(a && ([] (b -> <> c)))"),
            ("x <> 1 /\\ <>(y≤2)", "x != 1 && <>(y<=2)"),
            ("□¬P[0]@critical", "[]!P_0@critical"),
            ("[] (len(c) < 2)", "[] (c.len < 2)"),
        ] {
            assert_eq!(rewritten(theirs, "ltl").as_deref(), Some(ours));
        }
        assert_eq!(rewritten("p => q", "invariant").as_deref(), Some("p imply q"));
        assert_eq!(rewritten("x <= 1 && y != 2 -> z >= 3", "ltl"), None);
    }

    #[test]
    fn only_what_works_is_proposed() {
        let wrong = || Err(Problem::new(Default::default(), "wrong"));
        let told = |written: &str, works: &str| advice(written, &|text| if text == works { Ok(()) } else { wrong() });
        assert_eq!(
            told("x = 1", "invariant: x == 1").as_deref(),
            Some("did you mean `invariant: x == 1` (in every reachable state), or `reach: x == 1` (in some)?")
        );
        assert_eq!(told("invariant x", "invariant: x").as_deref(), Some("did you mean `invariant: x`?"));
        assert_eq!(told("ltl p { [] x }", "ltl: [] x").as_deref(), Some("did you mean `ltl: [] x`?"));
        assert_eq!(told("invariant: [] x", "ltl: [] x").as_deref(), Some("did you mean `ltl: [] x` (on every run)?"));
        assert_eq!(told("EF x", "ctl: EF x").as_deref(), Some("did you mean `ctl: EF x` (in every initial state)?"));
        assert_eq!(told("nonsense", "invariant: x"), None);
        assert_eq!(told("reach: x in {1}", "reach: 1"), None);
        assert_eq!(told("ltl: WF(P)", "").as_deref(), Some("fairness is an option: `--fair 'WF(P)'`"));
    }
}
