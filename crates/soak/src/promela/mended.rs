//! What SPIN writes otherwise than it means, put right in its verifier before that is compiled.
//!
//! A poll is true or false, by SPIN's manual and in its simulator. In a verifier it is two conditions joined by `&&` without
//! parentheses where the program has a rendezvous channel, so that `2 + c?[1]` asks something else; and a random poll is the
//! place of the message, counted from 1, where it has none. A rendezvous is one step; in a verifier a `d_step` that begins with
//! an assertion, a print or a jump happens between its halves.

use std::io;
use std::path::Path;

/// Mends the verifier in a folder.
pub(super) fn mend(folder: &Path) -> io::Result<()> {
    for name in ["pan.c", "pan.m", "pan.b", "pan.t"] {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path)?;
        let mended = mended(&text);
        if mended != text {
            std::fs::write(&path, mended)?;
        }
    }
    Ok(())
}

fn mended(text: &str) -> String {
    indivisible(&truths(&joined(text)))
}

/// Polls with parentheses around them.
fn joined(text: &str) -> String {
    const FIRST: &str = "not_RV(";
    const JOINED: &str = " && \\\n\t\t";
    let mut text = text.to_string();
    // From the last on: what is inside of one comes behind its beginning.
    let begins: Vec<usize> = text.match_indices(FIRST).map(|(at, _)| at).collect();
    for begin in begins.into_iter().rev() {
        let Some(second) = closing(&text, begin).filter(|end| text[*end..].starts_with(JOINED)) else { continue };
        let Some(end) = closing(&text, second + JOINED.len()) else { continue };
        text.insert(end, ')');
        text.insert(begin, '(');
    }
    text
}

/// Behind the parenthesis that closes the first one from `from` on.
fn closing(text: &str, from: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate().skip(from) {
        match byte {
            b'(' => depth += 1,
            b')' if depth <= 1 => return Some(at + 1),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Random polls that are 0 or 1; a receive needs the place.
fn truths(text: &str) -> String {
    const PLACE: &str = "Q_has(";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(PLACE) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let is_declared = behind[PLACE.len()..].starts_with("int");
        if !is_declared && !out.ends_with("XX = ") {
            out.push_str("!!");
        }
        out.push_str(PLACE);
        rest = &behind[PLACE.len()..];
    }
    out + rest
}

/// No `d_step` between the halves of a rendezvous; where it begins with a condition, SPIN sees to that.
fn indivisible(text: &str) -> String {
    const BLOCKED: &str = "IfNotBlocked";
    let mut out = String::with_capacity(text.len());
    let mut begins = false;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        if words.starts_with("/* default ") || begins && words == "if (!(1))" {
            out.push_str(BLOCKED);
            out.push('\n');
        }
        begins = words.starts_with("case ") && words.contains("[D_STEP");
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_are_apart_from_what_stands_beside_them() {
        let text = "x = (1+not_RV(now.c[f(1)]) && \\\n\t\tQ_has(now.c, 1, (2-not_RV(d) && \\\n\t\t(q_len(d) > 0))));";
        let right =
            "x = (1+(not_RV(now.c[f(1)]) && \\\n\t\t!!Q_has(now.c, 1, (2-(not_RV(d) && \\\n\t\t(q_len(d) > 0))))));";
        assert_eq!(mended(text), right);
        for other in ["not_RV(int from)\n{", "Q_has(int into, int want0)", "if (!(XX = Q_has(c, 1, 1))) continue;"] {
            assert_eq!(mended(other), other);
        }
    }

    #[test]
    fn a_d_step_waits_for_the_end_of_a_rendezvous() {
        let begin = "\tcase 3: // STATE 2 - m.pml:4 - [D_STEP4]\n";
        let assertion = format!("{begin}\t\t/* default 258 */\n");
        assert_eq!(mended(&assertion), format!("{begin}IfNotBlocked\n\t\t/* default 258 */\n"));
        let choice = format!("{begin}\t\tif (!(1))\n\t\t\tcontinue;\n");
        assert_eq!(mended(&choice), format!("{begin}IfNotBlocked\n\t\tif (!(1))\n\t\t\tcontinue;\n"));
        let condition = format!("{begin}\t\tif (!(boq == -1 && 1))\n\t\t\tcontinue;\n\t\tif (!(1))\n");
        assert_eq!(mended(&condition), condition);
    }
}
