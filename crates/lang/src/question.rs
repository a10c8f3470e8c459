//! Questions about a net as text: the property language over its places and transitions.
//!
//! A place's name stands for its tokens, a transition's for its being enabled, and `deadlock` for nothing being enabled.
//! Formulas are those of [`crate::property`].
//! Names that are no words stand in double quotes. Of a coloured net, a place's name is all its colours together, and a
//! transition's any of its bindings; single ones are called as they are shown, `"Fork(3)"`.

use crate::advice::advice;
use crate::diagnostic::{Diagnostic, Place, Problem};
use crate::expression::parser::Parser;
use crate::expression::syntax::ExprId;
use crate::formula::{Atoms, Logic, formula};
use crate::lexer::Token;
use crate::property::{SystemNames, check_length, value};
use crate::symbols::suggestion;
use scrimp_net::{Condition, Formula, Group, NamedQuestion, Net, Question, Sum};
use scrimp_system::{BinaryOp, Domain, Expr, Role, Source, System, UnaryOp, VarId, Variable, ViewOf};

/// The questions that have no expression.
const WORDS: [(&str, Question); 5] = [
    ("one-safe", Question::OneSafe),
    ("stable-marking", Question::StableMarking),
    ("quasi-live", Question::QuasiLiveness),
    ("live", Question::Liveness),
    ("bounded", Question::Bounded),
];

const WANTED: &str = "`deadlock`, `invariant: EXPR`, `reach: EXPR`, `bound: SUM`, `bounded`, `one-safe`, `stable-marking`, \
                      `quasi-live`, `live`, `ltl: FORMULA` or `ctl: FORMULA`";

fn known_properties() -> String {
    format!("properties of nets are {WANTED}")
}

/// The names of a net, ready for reading questions.
pub struct NetNames {
    /// A system in which every place and every transition is a variable, and the last one says that nothing is enabled.
    surface: System,
    places: u32,
    transitions: u32,
}

impl NetNames {
    pub fn new(net: &Net) -> NetNames {
        let mut surface = System::new(Source::new("net", ""));
        let (places, transitions) = (net.places.len() as u32, net.transitions.len() as u32);
        let domain = Domain::range(0, i64::MAX);
        let variable = |_| Variable { name: String::new(), owner: None, domain, length: None, role: Role::Data };
        surface.variables = (0..=places + transitions).map(variable).collect();
        let mut name = |name: &str, value: Expr| surface.views.push(ViewOf { name: name.to_string(), value });
        // What is declared later hides what was declared before: identifiers come last.
        name("deadlock", Expr::Var(VarId(places + transitions)));
        for (t, transition) in net.transitions.iter().enumerate() {
            name(&transition.name, Expr::Var(VarId(places + t as u32)));
        }
        for (p, place) in net.places.iter().enumerate() {
            name(&place.name, Expr::Var(VarId(p as u32)));
        }
        let enabled = |group: &Group| joined(BinaryOp::Or, group.members.iter().map(|t| VarId(places + t)));
        let tokens = |group: &Group| joined(BinaryOp::Add, group.members.iter().map(|p| VarId(*p)));
        for group in &net.transition_groups {
            name(&group.name, enabled(group));
        }
        for group in &net.place_groups {
            name(&group.name, tokens(group));
        }
        for group in &net.transition_groups {
            name(&group.id, enabled(group));
        }
        for group in &net.place_groups {
            name(&group.id, tokens(group));
        }
        NetNames { surface, places, transitions }
    }

    /// Reads a question such as `invariant: p1 + p2 <= 3` or `reach: t1 && !t2`.
    pub fn question(&self, text: &str) -> Result<NamedQuestion, Diagnostic> {
        let names = SystemNames::new(&self.surface);
        let read = check_length(text).and_then(|_| self.read_or_advise(&names, text, 0, text.len()));
        read.map_err(|problem| problem.locate(&Source::new("property", text)))
    }

    /// Reads a file with one question on each line. Empty lines, and what follows `#` or `//`, mean nothing.
    pub fn questions(&self, source: &Source) -> Result<Vec<NamedQuestion>, Diagnostic> {
        let names = SystemNames::new(&self.surface);
        check_length(&source.text).map_err(|problem| problem.locate(source))?;
        let (mut questions, mut problems, mut start) = (Vec::new(), Vec::new(), 0);
        for line in source.text.split_inclusive('\n') {
            let end = ["#", "//"].iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
            if !line[..end].trim().is_empty() {
                match self.read_or_advise(&names, &source.text, start, start + end) {
                    Ok(question) => questions.push(question),
                    Err(problem) => problems.push(problem),
                }
            }
            start += line.len();
        }
        Problem::all(problems).map_err(|problem| problem.locate(source))?;
        Ok(questions)
    }

    /// The question in `text[start..end]`, or what is wrong with it and what may have been meant.
    fn read_or_advise<'n>(
        &self,
        names: &'n SystemNames<'n>,
        text: &'n str,
        start: usize,
        end: usize,
    ) -> Result<NamedQuestion, Problem> {
        self.read(names, text, start, end).map_err(|problem| {
            let attempt = |text: &str| self.read(names, text, 0, text.len()).map(drop);
            problem.maybe_help(advice(text[start..end].trim(), &attempt))
        })
    }

    fn read<'n>(
        &self,
        names: &'n SystemNames<'n>,
        text: &'n str,
        start: usize,
        end: usize,
    ) -> Result<NamedQuestion, Problem> {
        let written = text[start..end].trim();
        let (name, rest) = match written.split_once('=') {
            Some((name, rest)) if is_word(name.trim()) && !rest.starts_with('=') => (Some(name.trim()), rest.trim()),
            _ => (None, written),
        };
        let name = name.unwrap_or(written).to_string();
        if let Some((_, question)) = WORDS.iter().find(|(word, _)| *word == rest) {
            return Ok(NamedQuestion { name, question: question.clone() });
        }
        let from = start + text[start..end].find(rest).unwrap_or(0);
        let mut p = Parser::new(text, from, end)?;
        let keyword = p.current;
        let word = p.word();
        p.expect(Token::Word, "a property").map_err(|problem| problem.or_help(&known_properties()))?;
        let question = match word {
            "deadlock" => never(Condition::Deadlock),
            "invariant" => never(self.condition(names, &mut p)?.negated()),
            "reach" => Question::Formula(Formula::ExistsPath(Box::new(Formula::Finally(Box::new(Formula::Atom(
                self.condition(names, &mut p)?,
            )))))),
            "bound" => self.bound(names, &mut p)?,
            // Without a quantifier it is about every run.
            "ltl" => Question::Formula(self.temporal(names, &mut p, Logic::Linear)?),
            "ctl" => Question::Formula(self.temporal(names, &mut p, Logic::Branching)?),
            _ => {
                let known = ["deadlock", "invariant", "reach", "bound", "ltl", "ctl"].into_iter();
                let help = suggestion(rest, known.chain(WORDS.iter().map(|(word, _)| *word)));
                if WORDS.iter().any(|(known, _)| *known == word) {
                    let message = format!("`{word}` takes no condition: it is about the whole net");
                    return Err(Problem::new(p.current.place(), message));
                }
                let problem = Problem::new(keyword.place(), format!("unknown property `{word}`"));
                return Err(problem.maybe_help(help).or_help(&known_properties()));
            }
        };
        match p.at(Token::End) {
            true => Ok(NamedQuestion { name, question }),
            false => Err(p.unexpected("the end of the property")),
        }
    }

    /// The expression behind a colon.
    fn expression(&self, names: &SystemNames, p: &mut Parser) -> Result<(Expr, Problem), Problem> {
        p.expect(Token::Colon, "`:` and an expression")?;
        let begin = p.current.place();
        let id = p.expression()?;
        if !p.at(Token::End) {
            return Err(p.unexpected("an operator or the end of the property"));
        }
        Ok((value(names, p, id)?, beyond(begin)))
    }

    /// A formula behind a colon.
    fn temporal<'n>(&self, names: &'n SystemNames<'n>, p: &mut Parser<'n>, logic: Logic) -> Result<Formula, Problem> {
        formula(p, logic, names, &mut Conditions { names, net: self })
    }

    fn condition(&self, names: &SystemNames, p: &mut Parser) -> Result<Condition, Problem> {
        let (expression, problem) = self.expression(names, p)?;
        self.state(&expression).ok_or(problem)
    }

    fn bound(&self, names: &SystemNames, p: &mut Parser) -> Result<Question, Problem> {
        let begin = p.current.place();
        let (expression, problem) = self.expression(names, p)?;
        let sum = self.sum(&expression).filter(|sum| sum.constant == 0 && sum.terms.iter().all(|term| term.1 > 0));
        let sum = sum.ok_or(problem)?;
        // Places that are listed several times count several times.
        const MOST: i64 = 1 << 16;
        if sum.terms.iter().any(|term| term.1 > MOST) {
            return Err(Problem::new(begin, format!("weights in a bound are at most {MOST}")));
        }
        let times = |&(place, weight): &(u32, i64)| std::iter::repeat_n(place, weight as usize);
        Ok(Question::Bound(sum.terms.iter().flat_map(times).collect()))
    }

    /// An expression as a condition; `None` if it is not one of sums and enabled transitions.
    fn state(&self, e: &Expr) -> Option<Condition> {
        Some(match e {
            Expr::Const(value) => match value {
                0 => Condition::False,
                _ => Condition::True,
            },
            Expr::Var(v) if v.0 == self.places + self.transitions => Condition::Deadlock,
            Expr::Var(v) if v.0 >= self.places => Condition::fireable(vec![v.0 - self.places]),
            Expr::Unary(UnaryOp::Not, a) => self.state(a)?.negated(),
            Expr::Binary(BinaryOp::And, a, b) => Condition::all([self.state(a)?, self.state(b)?]),
            Expr::Binary(BinaryOp::Or, a, b) => Condition::any([self.state(a)?, self.state(b)?]),
            Expr::Binary(op, a, b) if is_comparison(*op) => {
                let (Some(a), Some(b)) = (self.sum(a), self.sum(b)) else { return self.alike(*op, a, b) };
                match op {
                    BinaryOp::Less => Condition::less(&a, &b)?,
                    BinaryOp::LessEqual => Condition::at_most(&a, &b)?,
                    BinaryOp::Greater => Condition::less(&b, &a)?,
                    BinaryOp::GreaterEqual => Condition::at_most(&b, &a)?,
                    BinaryOp::Equal => Condition::equal(&a, &b)?,
                    _ => Condition::equal(&a, &b)?.negated(),
                }
            }
            // A number that is not zero.
            sum => Condition::equal(&self.sum(sum)?, &Sum::constant(0))?.negated(),
        })
    }

    /// Two conditions that are the same, or not.
    fn alike(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Condition> {
        let (a, b) = (self.state(a)?, self.state(b)?);
        let both = Condition::all([a.clone(), b.clone()]);
        let same = Condition::any([both, Condition::all([a.negated(), b.negated()])]);
        match op {
            BinaryOp::Equal => Some(same),
            BinaryOp::NotEqual => Some(same.negated()),
            _ => None,
        }
    }

    fn sum(&self, e: &Expr) -> Option<Sum> {
        match e {
            Expr::Const(value) => Some(Sum::constant(*value)),
            Expr::Var(v) if v.0 < self.places => Some(Sum::tokens(vec![v.0])),
            Expr::Unary(UnaryOp::Negate, a) => Sum::constant(0).plus(-1, &self.sum(a)?),
            Expr::Binary(BinaryOp::Add, a, b) => self.sum(a)?.plus(1, &self.sum(b)?),
            Expr::Binary(BinaryOp::Subtract, a, b) => self.sum(a)?.plus(-1, &self.sum(b)?),
            Expr::Binary(BinaryOp::Multiply, a, b) => match (a.as_const(), b.as_const()) {
                (Some(factor), _) => Sum::constant(0).plus(factor, &self.sum(b)?),
                (_, Some(factor)) => Sum::constant(0).plus(factor, &self.sum(a)?),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The atoms of a formula about a net.
struct Conditions<'n> {
    names: &'n SystemNames<'n>,
    net: &'n NetNames,
}

impl Atoms<Condition> for Conditions<'_> {
    fn atom(&mut self, p: &Parser<'_>, id: ExprId) -> Result<Formula, Problem> {
        let condition = self.net.state(&value(self.names, p, id)?);
        condition.map(Formula::Atom).ok_or_else(|| beyond(p.expressions.place(id)))
    }
}

fn beyond(place: Place) -> Problem {
    Problem::new(place, "expected a comparison of weighted sums of tokens")
        .help("places are numbers, transitions say that they are enabled: `p1 + 2*p2 <= 3 && !t1`")
}

/// No marking is like this.
fn never(condition: Condition) -> Question {
    let somewhere = Formula::ExistsPath(Box::new(Formula::Finally(Box::new(Formula::Atom(condition)))));
    Question::Formula(Formula::Not(Box::new(somewhere)))
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(op, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual)
}

/// Variables joined by an operator; nothing if there are none.
fn joined(op: BinaryOp, variables: impl Iterator<Item = VarId>) -> Expr {
    Expr::joined(op, variables.map(Expr::Var).collect(), Expr::FALSE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_net::{Place, Transition};

    fn net() -> Net {
        let place = |name: &str| Place { name: name.into(), ..Place::default() };
        let transition = |name: &str| Transition { name: name.into(), ..Transition::default() };
        let group =
            |id: &str, members: &[u32]| Group { id: id.into(), name: id.into(), members: members.to_vec(), line: 0 };
        Net {
            places: vec![place("p"), place("q(1)"), place("q(2)")],
            transitions: vec![transition("t(x=1)"), transition("t(x=2)")],
            place_groups: vec![group("p", &[0]), group("q", &[1, 2])],
            transition_groups: vec![group("t", &[0, 1])],
            ..Net::default()
        }
    }

    fn asked(text: &str) -> Result<Question, String> {
        NetNames::new(&net()).question(text).map(|q| q.question).map_err(|e| e.to_string())
    }

    fn reach(text: &str) -> Condition {
        match asked(&format!("reach: {text}")) {
            Ok(Question::Formula(Formula::ExistsPath(path))) => match *path {
                Formula::Finally(inner) => match *inner {
                    Formula::Atom(condition) => condition,
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn sums_are_compared() {
        let sum = |terms: &[(u32, i64)], constant| Condition::AtMostZero(Sum { terms: terms.to_vec(), constant });
        assert_eq!(reach("p + q <= 3"), sum(&[(0, 1), (1, 1), (2, 1)], -3));
        assert_eq!(reach("2 * \"q(1)\" > p"), sum(&[(0, 1), (1, -2)], 1));
        assert_eq!(reach("p"), reach("p != 0"));
        assert_eq!(reach("!(p >= 2)"), reach("p < 2"));
        assert_eq!(reach("true"), Condition::True);
    }

    #[test]
    fn transitions_are_enabled_or_not() {
        assert_eq!(reach("\"t(x=2)\""), Condition::fireable(vec![1]));
        let any = reach("t");
        assert!(any == Condition::fireable(vec![0, 1]) || matches!(any, Condition::Any(_)), "{any:?}");
        assert_eq!(reach("deadlock"), Condition::Deadlock);
    }

    #[test]
    fn words_are_questions() {
        assert_eq!(asked("bounded"), Ok(Question::Bounded));
        assert_eq!(asked("safe = one-safe"), Ok(Question::OneSafe));
        assert_eq!(asked("bound: p + 2 * \"q(1)\""), Ok(Question::Bound(vec![0, 1, 1])));
        assert!(asked("bound: p - q").unwrap_err().contains("sums"));
        assert!(asked("reach: p * q").unwrap_err().contains("sums"));
        assert!(asked("reach: r > 1").unwrap_err().contains("unknown name"));
        assert!(asked("one-save").unwrap_err().contains("one-safe"));
    }

    #[test]
    fn formulas_are_about_places_and_transitions() {
        let is = |condition| Box::new(Formula::Atom(condition));
        let fires = || is(Condition::fireable(vec![1]));
        let Ok(Question::Formula(Formula::Globally(inner))) = asked("ltl: [] (deadlock -> <> \"t(x=2)\")") else {
            panic!("a formula")
        };
        assert_eq!(*inner, Formula::Implies(is(Condition::Deadlock), Box::new(Formula::Finally(fires()))));
        let Ok(Question::Formula(Formula::AllPaths(path))) = asked("ctl: A[p <= 2 U \"t(x=2)\"]") else {
            panic!("a formula")
        };
        assert_eq!(*path, Formula::Until(is(reach("p <= 2")), fires()));
        assert!(asked("ctl: G p").unwrap_err().contains("quantifier"));
        assert!(asked("ltl: F p * q").unwrap_err().contains("sums"));
    }
}
