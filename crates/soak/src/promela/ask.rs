//! What a random program is asked: about its states, or about its infinite runs by formulas, claims and labels.

use super::process::is_declaration;
use super::tree::{Form, Node, Program};
use super::{Channel, Field, Maker, Model};
use scrimp_system::Random;

/// What is asked of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Its states, and what goes wrong in them.
    States,
    /// Its `ltl` blocks, `f0`, `f1`, ….
    Formulas { fair: bool },
    /// Its `never` claim.
    Claim,
    /// Its labels of acceptance.
    Acceptance { fair: bool },
    /// Its labels of progress.
    Progress { fair: bool },
}

/// Formulas for each program: making a verifier takes longer than running it.
pub(super) const FORMULAS: usize = 3;

impl Question {
    pub(super) fn draw(random: &mut Random) -> Question {
        let fair = random.below(3) == 0;
        match random.below(20) {
            0..=2 => Question::Formulas { fair },
            3..=4 => Question::Claim,
            5 => Question::Acceptance { fair },
            6 => Question::Progress { fair },
            _ => Question::States,
        }
    }

    pub(super) fn is_about_progress(self) -> bool {
        matches!(self, Question::Progress { .. })
    }
}

impl Model {
    pub fn text(&self) -> String {
        self.program.to_string()
    }
}

/// The program with labels at some of its statements, where the question is about them.
pub(super) fn labelled(program: &Program, question: Question, random: &mut Random) -> Program {
    let kind = match question {
        Question::Acceptance { .. } => "accept",
        Question::Progress { .. } => "progress",
        _ => return program.clone(),
    };
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
        let is_plain = |node: &Node| match node {
            Node::Line(text) => !text.ends_with(':') && !is_declaration(node),
            Node::Block(_) => false,
        };
        let here = match &nodes[at] {
            Node::Block(block) => matches!(block.form, Form::If | Form::Do),
            line => is_plain(line),
        };
        if after.is_some_and(is_plain) && here && random.below(100) < 25 {
            nodes.insert(at, Node::line(format!("{kind}{labels}:")));
            *labels += 1;
            at += 1;
        }
        at += 1;
    }
}

impl Maker<'_> {
    /// What stands behind the processes.
    pub(super) fn behind(&mut self) -> Vec<Node> {
        let question = self.question;
        match question {
            Question::Formulas { .. } => (0..FORMULAS)
                .map(|number| {
                    self.written.leaf("ltl");
                    Node::line(format!("ltl f{number} {{ {} }}", self.formula()))
                })
                .collect(),
            Question::Claim => {
                self.written.leaf("never");
                vec![Node::line(self.never())]
            }
            Question::States if self.chance(5) => self.events().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Which events there may be on one channel, or may not.
    fn events(&mut self) -> Option<Node> {
        let channels = self.channels.clone();
        let plain = |channel: &Channel| channel.length == 1 && !channel.name.contains('.');
        let channel = self.pick_where(&channels, plain)?;
        let wanted: Vec<String> = self.signatures[channel.signature]
            .clone()
            .into_iter()
            .map(|field| match field {
                Field::Record => "_,_".to_string(),
                _ => "_".to_string(),
            })
            .collect();
        let (name, wanted) = (channel.name, wanted.join(","));
        let word = self.pick(&["trace", "notrace"]);
        self.written.enter(word);
        let text = match self.below(3) {
            0 => {
                self.inside("do", |maker| maker.written.leaf("send"));
                format!("{word} {{ do :: {name}!{wanted} od }}")
            }
            1 => {
                self.inside("do", |maker| maker.written.leaf("receive"));
                format!("{word} {{ do :: {name}?{wanted} od }}")
            }
            _ => {
                self.written.leaf("send");
                self.written.leaf("receive");
                format!("{word} {{ {name}!{wanted}; {name}?{wanted}; {name}!{wanted} }}")
            }
        };
        self.written.leave();
        Some(Node::line(text))
    }

    /// Something that is true or not in a state, whoever asks.
    fn fact(&mut self) -> String {
        let single: Vec<String> =
            self.kinds.iter().filter(|kind| kind.active == 1).map(|kind| kind.name.clone()).collect();
        let channels: Vec<_> = self.channels.iter().filter(|c| c.capacity.is_some_and(|n| n > 0)).cloned().collect();
        match self.below(10) {
            0 | 1 if !single.is_empty() => format!("({}@here)", self.pick(&single)),
            2 if !channels.is_empty() => {
                let channel = self.pick(&channels);
                let name = match channel.length {
                    1 => channel.name,
                    length => format!("{}[{}]", channel.name, self.below(length)),
                };
                format!("(len({name}) {} {})", self.pick(&["==", ">", "!="]), self.below(2))
            }
            _ => {
                let variables = self.globals.clone();
                let variable = self.pick(&variables);
                let operators: &[&str] = match variable.of {
                    super::Type::Mtype | super::Type::Named | super::Type::Bool | super::Type::Bit => &["==", "!="],
                    _ => &["==", "!=", "<", ">="],
                };
                let operator = self.pick(operators);
                let (text, value) = (self.fixed_text(&variable), self.constant(variable.of));
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
        out.push_str("over:\n  skip\n}");
        out
    }
}
