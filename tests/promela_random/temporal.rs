//! What a random program is asked about its infinite runs: formulas, never claims, labels of acceptance and progress.

use super::tree::{Form, Node, Program};
use super::{Features, Maker, Type};
use scrimp_system::Random;

/// What is asked about the infinite runs of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Its `ltl` blocks.
    Formulas,
    /// Its `never` claim.
    Claim,
    /// Its labels of acceptance.
    Acceptance,
    /// Its labels of progress.
    Progress,
}

/// A program with questions about its infinite runs.
pub struct Asked {
    program: Program,
    pub used: Features,
    /// LTL formulas, in SPIN's words.
    pub formulas: Vec<String>,
    /// A claim, from `never` to its closing brace.
    never: String,
}

/// The program of that seed with so many formulas.
pub fn asked(seed: u64, allowed: Features, formulas: usize) -> Asked {
    let mut maker = Maker::new(seed, allowed);
    let program = maker.program();
    let formulas = (0..formulas).map(|_| maker.formula()).collect();
    let never = maker.never();
    Asked { program, used: maker.used, formulas, never }
}

impl Asked {
    /// The program, with labels where the question is about them.
    pub fn prepared(&self, question: Question, seed: u64) -> Program {
        match question {
            Question::Formulas | Question::Claim => self.program.clone(),
            Question::Acceptance => labelled(&self.program, "accept", &mut Random(seed)),
            Question::Progress => labelled(&self.program, "progress", &mut Random(seed)),
        }
    }

    /// The text of a program like this one, with what is asked of it: formulas are `ltl` blocks `f0`, `f1`, …
    pub fn text(&self, program: &Program, question: Question) -> String {
        let blocks = self.formulas.iter().enumerate().map(|(i, formula)| format!("ltl f{i} {{ {formula} }}\n"));
        match question {
            Question::Formulas => format!("{program}{}", blocks.collect::<String>()),
            Question::Claim => format!("{program}{}", self.never),
            Question::Acceptance | Question::Progress => program.to_string(),
        }
    }
}

/// The program with labels of that kind (`accept` or `progress`) at some of its statements.
fn labelled(program: &Program, kind: &str, random: &mut Random) -> Program {
    let mut labels = 0;
    let mut nodes = program.0.clone();
    for node in &mut nodes {
        if let Node::Block(block) = node
            && (block.head.contains("proctype") || block.head == "init")
        {
            block.parts.iter_mut().for_each(|part| label(part, kind, random, &mut labels));
        }
    }
    Program(nodes)
}

fn label(nodes: &mut Vec<Node>, kind: &str, random: &mut Random, labels: &mut usize) {
    let mut at = 0;
    while at < nodes.len() {
        if let Node::Block(block) = &mut nodes[at]
            && matches!(block.form, Form::If | Form::Do)
        {
            block.parts.iter_mut().for_each(|part| label(part, kind, random, labels));
        }
        // Not before declarations, nor between a label and its statement, nor at the beginning of an alternative; what is
        // jumped to needs care before a d_step.
        let after = at.checked_sub(1).map(|before| &nodes[before]);
        let plain = matches!(after, Some(Node::Line(text)) if !text.ends_with(':') && !is_declaration(text));
        let here = match &nodes[at] {
            Node::Line(text) => !text.ends_with(':') && !is_declaration(text),
            Node::Block(block) => matches!(block.form, Form::If | Form::Do),
        };
        if plain && here && random.below(100) < 25 {
            nodes.insert(at, Node::line(format!("{kind}{labels}:")));
            *labels += 1;
            at += 1;
        }
        at += 1;
    }
}

fn is_declaration(text: &str) -> bool {
    let types = ["bit ", "bool ", "byte ", "short ", "int ", "unsigned ", "mtype ", "chan "];
    types.iter().any(|of| text.starts_with(of))
}

impl Maker {
    /// Something that is true or not in a state, whoever asks.
    fn fact(&mut self) -> String {
        let labelled: Vec<String> =
            self.kinds.iter().filter(|kind| kind.labelled).map(|kind| kind.name.clone()).collect();
        let channels: Vec<_> = self.channels.iter().filter(|c| c.capacity.is_some_and(|n| n > 0)).cloned().collect();
        match self.below(10) {
            0 | 1 if !labelled.is_empty() => format!("({}@here)", self.pick(&labelled)),
            2 if !channels.is_empty() => {
                let channel = self.pick(&channels);
                let name = match channel.length {
                    1 => channel.name,
                    length => format!("{}[{}]", channel.name, self.below(length)),
                };
                format!("(len({name}) {} {})", self.pick(&["==", ">", "!="]), self.below(2))
            }
            _ => {
                let places = self.globals.clone();
                let place = self.pick(&places);
                let operators: &[&str] = match place.of {
                    Type::Mtype | Type::Bool | Type::Bit => &["==", "!="],
                    _ => &["==", "!=", "<", ">="],
                };
                let (operator, text, value) = (self.pick(operators), self.fixed(&place), self.constant(place.of));
                format!("({text} {operator} {value})")
            }
        }
    }

    /// A formula: one as people write them, or any; without `X`, which SPIN need not have.
    fn formula(&mut self) -> String {
        let (p, q, r) = (self.fact(), self.fact(), self.fact());
        match self.below(16) {
            0 => format!("[] {p}"),
            1 => format!("<> {p}"),
            2 => format!("[] <> {p}"),
            3 => format!("<> [] {p}"),
            4 => format!("[] ({p} -> <> {q})"),
            5 => format!("{p} U {q}"),
            6 => format!("[] ({p} -> ({q} W {r}))"),
            7 => format!("([] <> {p}) -> ([] <> {q})"),
            8 => format!("[] ({p} -> ({q} U {r}))"),
            9 => format!("<> ({p} && <> (! {p} && <> {q}))"),
            10 => format!("(<> [] {p}) || (<> [] {q}) || ([] <> {r})"),
            11 => format!("always ({p} implies eventually {q})"),
            _ => {
                let facts = [p, q, r];
                let size = 2 + self.below(4);
                self.any_formula(&facts, size)
            }
        }
    }

    fn any_formula(&mut self, facts: &[String], size: usize) -> String {
        if size == 0 {
            return self.pick(facts);
        }
        let left = self.below(size);
        let right = size - 1 - left;
        let part = |maker: &mut Maker, size| maker.any_formula(facts, size);
        match self.below(13) {
            0 | 1 => format!("(! {})", part(self, size - 1)),
            2 | 3 => format!("([] {})", part(self, size - 1)),
            4 | 5 => format!("(<> {})", part(self, size - 1)),
            6 => format!("({} && {})", part(self, left), part(self, right)),
            7 => format!("({} || {})", part(self, left), part(self, right)),
            8 => format!("({} -> {})", part(self, left), part(self, right)),
            9 => format!("({} <-> {})", part(self, left), part(self, right)),
            10 => format!("({} W {})", part(self, left), part(self, right)),
            11 => format!("({} V {})", part(self, left), part(self, right)),
            _ => format!("({} U {})", part(self, left), part(self, right)),
        }
    }

    /// A claim of a few states, some accepting; it may end, which is a violation too.
    fn never(&mut self) -> String {
        let states = 2 + self.below(3);
        let names: Vec<String> =
            (0..states).map(|i| if self.chance(40) { format!("accept_{i}") } else { format!("S{i}") }).collect();
        let mut out = "never {\n".to_string();
        for name in &names {
            out.push_str(&format!("{name}:\n  if\n"));
            for i in 0..1 + self.below(3) {
                let condition = if i == 0 && self.chance(60) { "(1)".to_string() } else { self.fact() };
                let condition = if self.chance(20) { format!("(!{condition})") } else { condition };
                let to = match self.below(10) {
                    0 => "over".to_string(),
                    _ => self.pick(&names),
                };
                out.push_str(&format!("  :: {condition} -> goto {to}\n"));
            }
            out.push_str("  fi;\n");
        }
        out.push_str("over:\n  skip\n}\n");
        out
    }
}
