//! The contest's questions: a set of properties in XML, each with a formula over the ids of places and transitions.

mod operators;
mod references;

use super::counted::At;
use super::wrong::Wrong;
use super::xml::Xml;
use operators::{Operator, Value};
use references::References;
use scrimp_net::{Condition, Formula, NamedQuestion, Net, Question, Sum, all_of, any_of};
use std::io::BufRead;

/// Parts that equivalences may add to the formulas of one file: each doubles what is in it.
const SIZE: usize = 2_000_000;

/// Reads all properties of a document.
pub(super) fn read<R: BufRead>(xml: &mut Xml<R>, net: &Net) -> Result<Vec<NamedQuestion>, Wrong> {
    if !xml.child(0)? || xml.name() != "property-set" {
        let at = if xml.depth() == 0 { At { line: 1, column: 1 } } else { xml.at() };
        return Err(Wrong::new(at, "this is not a file of properties: it does not begin with <property-set>"));
    }
    let mut reader = Reader { references: References::of(net), size: 0 };
    let mut questions: Vec<NamedQuestion> = Vec::new();
    let mut names = std::collections::HashSet::new();
    while xml.child(1)? {
        if xml.name() == "property" {
            let at = xml.at();
            let question = reader.property(xml)?;
            if !names.insert(question.name.clone()) {
                return Err(Wrong::new(at, format!("a second property with the id \"{}\"", question.name)));
            }
            questions.push(question);
        }
    }
    while xml.child(0)? {}
    Ok(questions)
}

struct Reader<'n> {
    references: References<'n>,
    size: usize,
}

/// An operator whose operands are being read.
struct Frame {
    operator: Operator,
    at: At,
    operands: Vec<Value>,
}

impl Reader<'_> {
    fn property<R: BufRead>(&mut self, xml: &mut Xml<R>) -> Result<NamedQuestion, Wrong> {
        let (at, depth) = (xml.at(), xml.depth());
        let (mut name, mut question) = (None, None);
        while xml.child(depth)? {
            let depth = xml.depth();
            match xml.name() {
                "id" => name = Some(xml.text(depth)?.to_string()),
                "formula" => question = self.question(xml)?,
                _ => {}
            }
        }
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Err(Wrong::new(at, "a <property> without an <id>"));
        };
        match question.or_else(|| known(&name)) {
            Some(Question::Formula(formula)) if name.contains("LTL") => {
                Ok(NamedQuestion { name, question: Question::Formula(linear_next(formula)) })
            }
            Some(question) => Ok(NamedQuestion { name, question }),
            None => Err(Wrong::new(at, format!("the property \"{name}\" has no formula"))),
        }
    }

    /// What a `<formula>` asks; `None` if there is nothing in it.
    fn question<R: BufRead>(&mut self, xml: &mut Xml<R>) -> Result<Option<Question>, Wrong> {
        let at = xml.at();
        let mut depth = xml.depth();
        let mut frames = vec![Frame { operator: Operator::Formula, at, operands: Vec::new() }];
        loop {
            if xml.child(depth)? {
                if let Some(value) = self.leaf(xml)? {
                    push(&mut frames, value);
                    continue;
                }
                let Some(operator) = Operator::of(xml.name()) else {
                    return Err(Wrong::new(xml.at(), format!("<{}> is not known in formulas", xml.name())));
                };
                depth = xml.depth();
                frames.push(Frame { operator, at: xml.at(), operands: Vec::new() });
                continue;
            }
            depth -= 1;
            let Some(Frame { operator, at, mut operands }) = frames.pop() else { return Ok(None) };
            if frames.is_empty() {
                return match (operands.pop(), operands.is_empty()) {
                    (None, _) => Ok(None),
                    (Some(Value::Formula(formula, _)), true) => Ok(Some(Question::Formula(formula))),
                    (Some(Value::Bound(places)), true) => Ok(Some(Question::Bound(places))),
                    (Some(_), true) => Err(Wrong::new(at, "a formula that is a number")),
                    _ => Err(Wrong::new(at, "a formula with several roots")),
                };
            }
            let parent = frames.last().map(|frame| frame.operator);
            let value = operator.apply(operands, parent).map_err(|message| Wrong::new(at, message))?;
            if let Value::Formula(formula, depth) = &value {
                if *depth > Formula::DEPTH {
                    let message = format!("formulas are nested more than {} deep", Formula::DEPTH);
                    return Err(Wrong::new(at, message));
                }
                if operator.doubles() {
                    self.size += operators::size(formula);
                }
                if self.size > SIZE {
                    return Err(Wrong::new(at, format!("formulas with more than {SIZE} parts")));
                }
            }
            push(&mut frames, value);
        }
    }

    /// An operand without operands of its own, read to its end; `None` if this is none.
    fn leaf<R: BufRead>(&mut self, xml: &mut Xml<R>) -> Result<Option<Value>, Wrong> {
        let (at, depth) = (xml.at(), xml.depth());
        let is = |condition| Ok(Some(Value::Formula(Formula::Atom(condition), 1)));
        match xml.name() {
            "true" => is(Condition::True),
            "false" => is(Condition::False),
            "deadlock" | "is-deadlock" => is(Condition::Deadlock),
            "is-fireable" => is(Condition::fireable(self.named(xml, "transition")?)),
            "tokens-count" => Ok(Some(Value::Sum(Sum::tokens(self.named(xml, "place")?)))),
            "place-bound" => Ok(Some(Value::Bound(self.named(xml, "place")?))),
            "integer-constant" => {
                let text = xml.text(depth)?;
                let number = text.parse::<i64>();
                let number =
                    number.map_err(|_| Wrong::new(at, format!("\"{text}\" is not a number up to 2^63 - 1")))?;
                Ok(Some(Value::Sum(Sum::constant(number))))
            }
            "strength" | "if-no-successor" | "steps" => {
                let name = xml.name().to_string();
                Ok(Some(Value::Setting(name, xml.text(depth)?.to_string())))
            }
            _ => Ok(None),
        }
    }

    /// The places or transitions that are named in the element just entered.
    fn named<R: BufRead>(&self, xml: &mut Xml<R>, kind: &str) -> Result<Vec<u32>, Wrong> {
        let (at, depth) = (xml.at(), xml.depth());
        let around = xml.name().to_string();
        let mut members = Vec::new();
        let mut any = false;
        while xml.child(depth)? {
            if xml.name() != kind {
                let message = format!("<{}> in <{around}>, where a <{kind}> is expected", xml.name());
                return Err(Wrong::new(xml.at(), message));
            }
            any = true;
            let (at, depth) = (xml.at(), xml.depth());
            let name = xml.text(depth)?;
            self.references.find(kind, name, &mut members).map_err(|message| match message.split_once("\nhelp: ") {
                Some((message, help)) => Wrong::new(at, message).help(help),
                None => Wrong::new(at, message),
            })?;
        }
        match any {
            true => Ok(members),
            false => Err(Wrong::new(at, format!("<{around}> without a <{kind}>"))),
        }
    }
}

fn push(frames: &mut [Frame], value: Value) {
    if let Some(frame) = frames.last_mut() {
        frame.operands.push(value);
    }
}

/// `A X p` in linear time, said in branching time. Of all formulas this one is of both logics and differs: where a run ends
/// it repeats its last marking in linear time, and in branching time nothing comes next.
fn linear_next(formula: Formula) -> Formula {
    match formula {
        Formula::AllPaths(path) => match *path {
            Formula::Next(a) if a.is_ltl() && a.is_ctl() => {
                let stuck = any_of([Formula::Atom(Condition::Deadlock.negated()), (*a).clone()]);
                all_of([Formula::AllPaths(Box::new(Formula::Next(a))), stuck])
            }
            path => Formula::AllPaths(Box::new(path)),
        },
        other => other,
    }
}

/// The questions of the contest that need no formula, by the end of the id.
fn known(id: &str) -> Option<Question> {
    let dead = || Formula::Atom(Condition::Deadlock);
    match id.rsplit('-').next()? {
        "StateSpace" => Some(Question::StateSpace),
        "OneSafe" => Some(Question::OneSafe),
        "StableMarking" => Some(Question::StableMarking),
        "QuasiLiveness" => Some(Question::QuasiLiveness),
        "Liveness" => Some(Question::Liveness),
        "ReachabilityDeadlock" => {
            Some(Question::Formula(Formula::ExistsPath(Box::new(Formula::Finally(Box::new(dead()))))))
        }
        _ => None,
    }
}
