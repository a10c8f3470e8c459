//! Habits of TLA+ and others in `ltl` blocks: what is no Promela is answered with the formula in Promela's operators, and a `~`
//! before a condition, which SPIN accepts and which is always true, with a warning.

use super::preprocess::Input;
use super::syntax::{Binary, Expression, ExpressionKind, Unary};
use crate::advice::rewritten;
use crate::diagnostic::{Diagnostic, Problem};

/// Longer formulas are not rewritten: the model is read once more.
const LONGEST: usize = 2000;

/// The problem, with the formula that was probably meant if it lies in one; `attempt` reads another text of the model.
pub(crate) fn advised(
    input: Input<'_>,
    problem: Diagnostic,
    attempt: &dyn Fn(Input<'_>) -> Result<(), Diagnostic>,
) -> Diagnostic {
    match meant(input, &problem, attempt) {
        Some(formula) => Diagnostic { help: Some(format!("did you mean `{formula}`?")), ..problem },
        None => problem,
    }
}

fn meant(
    input: Input<'_>,
    problem: &Diagnostic,
    attempt: &dyn Fn(Input<'_>) -> Result<(), Diagnostic>,
) -> Option<String> {
    // What is included stands behind the text of the model.
    let (before, after) = input.text.split_at_checked(problem.span.start as usize)?;
    let (head, _) = before.rsplit_once("ltl")?;
    let (name, inside) = before[head.len() + 3..].split_once('{')?;
    let end = after.find('}')?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if head.ends_with(is_word) || !name.trim().chars().all(is_word) || inside.contains('}') || end > LONGEST {
        return None;
    }
    let start = before.len() - inside.len();
    let formula = input.text.get(start..before.len() + end)?;
    let ours = rewritten(formula, "ltl")?;
    let text = format!("{}{ours}{}", &input.text[..start], &after[end..]);
    let behind = start + ours.len();
    let works = match attempt(Input { text: &text, ..input }) {
        Ok(()) => true,
        // Something else may be wrong with the model, and with the names of the formula.
        Err(other) => {
            let at = other.span.start as usize;
            at < start || at > behind || other.message.starts_with("unknown ")
        }
    };
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    works.then(|| words(&format!("ltl {} {{ {ours} }}", name.trim())))
}

/// Where a formula complements the bits of what it takes for a condition.
pub(crate) fn complements(e: &Expression, into: &mut Vec<Problem>) {
    match &*e.kind {
        ExpressionKind::Unary(Unary::Complement, a) => {
            let what = match is_condition(a) {
                true => "and this is a condition, so it is always true",
                false => "so as a condition it is true unless that number is -1",
            };
            let message = format!("`~` complements the bits of a number, {what}");
            into.push(Problem::new(e.place, message).help(format!("did you mean `!{a}`?")));
        }
        ExpressionKind::Unary(Unary::Not, a) | ExpressionKind::Temporal(_, a, None) => complements(a, into),
        ExpressionKind::Temporal(_, a, Some(b)) | ExpressionKind::Binary(Binary::And | Binary::Or, a, b) => {
            complements(a, into);
            complements(b, into);
        }
        _ => {}
    }
}

/// Is the value of this 0 or 1, whatever the variables are declared as?
fn is_condition(e: &Expression) -> bool {
    use Binary::*;
    match &*e.kind {
        ExpressionKind::Unary(Unary::Not, _) | ExpressionKind::Poll { .. } | ExpressionKind::RemoteLabel { .. } => true,
        ExpressionKind::Binary(operator, ..) => {
            matches!(operator, And | Or | Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
        }
        _ => false,
    }
}
