//! Statements that hold others.

use super::tree::{Form, Node};
use super::{Here, Maker, Mode, Type};

impl Maker<'_> {
    pub(super) fn nested(&mut self, here: Here, production: &'static str) -> Option<Vec<Node>> {
        let (locals, channels) = (self.body.locals.len(), self.body.channels.len());
        let nodes = match production {
            "if" => Some(vec![self.choice(here)]),
            "do" if here.mode == Mode::Plain && !here.in_inline => Some(self.repetition(here)),
            "do" => Some(self.counted(here)),
            "for range" => Some(self.for_range(here)),
            "for in" => self.for_in(here),
            "atomic" => Some(vec![self.atomic(here)]),
            "d_step" => Some(vec![self.d_step(here)]),
            "block" => Some(vec![self.block(here)]),
            "unless" => Some(vec![self.unless(here)]),
            "label" => Some(self.labelled(here)),
            _ => None,
        };
        // What was declared inside is not known outside.
        self.body.locals.truncate(locals);
        self.body.channels.truncate(channels);
        nodes
    }

    fn block(&mut self, here: Here) -> Node {
        let inner = within(here, "block");
        let nodes = self.inside("block", |maker| maker.sequence(inner, 3));
        Node::braces("", nodes)
    }

    fn atomic(&mut self, here: Here) -> Node {
        let mode = if here.mode == Mode::Step { Mode::Step } else { Mode::Atomic };
        let inner = Here { mode, ..within(here, "atomic") };
        let nodes = self.inside("atomic", |maker| maker.sequence(inner, 3));
        Node::braces("atomic", nodes)
    }

    fn d_step(&mut self, here: Here) -> Node {
        let may_wait = here.mode != Mode::Step || here.may_wait;
        let inner = Here { mode: Mode::Step, may_wait, in_loop: false, ..within(here, "d_step") };
        let before = std::mem::replace(&mut self.body.no_remote, true);
        let mut nodes = self.inside("d_step", |maker| maker.sequence(inner, 4));
        // A loop at the end of a d_step can make SPIN jump to a place that it forgot.
        let loops = |node: &Node| match node {
            Node::Line(text) => text.starts_with("select"),
            Node::Block(_) => true,
        };
        if nodes.last().is_some_and(loops) {
            nodes.push(self.inside("d_step", |maker| maker.assignment()));
        }
        self.body.no_remote = before;
        Node::braces("d_step", nodes)
    }

    fn unless(&mut self, here: Here) -> Node {
        let (locals, channels) = (self.body.locals.len(), self.body.channels.len());
        self.written.enter("unless");
        let main = self.sequence(within(here, "unless"), 3);
        self.body.locals.truncate(locals);
        self.body.channels.truncate(channels);
        let escape = self.inside("escape", |maker| {
            let mut nodes = match maker.wishes("escape").is_some() || maker.chance(50) {
                true => Vec::new(),
                false => vec![Node::line(maker.inside("condition", |maker| maker.condition()))],
            };
            nodes.extend(maker.sequence(within(here, "escape"), 2));
            nodes
        });
        self.written.leave();
        Node::block(Form::Unless, vec![main, escape])
    }

    /// A label in front of a statement.
    fn labelled(&mut self, here: Here) -> Vec<Node> {
        self.body.labels += 1;
        let stem = match here.mode == Mode::Plain && self.chance(25) {
            true => "end",
            false => "L",
        };
        let name = self.fresh(stem);
        let inner = Here { inside: "label", may_wait: false, ..here };
        let mut nodes = self.inside("label", |maker| maker.statement(inner));
        if begins_with_unless(&nodes) {
            nodes.insert(0, Node::line("skip"));
        }
        // SPIN wants the braces, and nothing declared.
        if !matches!(nodes.first(), Some(Node::Block(block)) if block.form != Form::Unless) && nodes.len() > 1 {
            nodes = vec![Node::braces("", nodes)];
        }
        nodes.insert(0, Node::line(format!("{name}:")));
        // A label must not be what a block begins with.
        nodes.insert(0, Node::line("skip"));
        nodes
    }

    fn choice(&mut self, here: Here) -> Node {
        let inner = within(here, "if");
        self.written.enter("if");
        // Without `else` a choice can wait, which the inside of a d_step must not.
        let must_go = here.mode == Mode::Step && !here.may_wait;
        let with_else = must_go || self.chance(45);
        let mut parts: Vec<Vec<Node>> = (0..1 + self.below(3)).map(|_| self.option(inner, with_else)).collect();
        if with_else {
            self.written.leaf("else");
            parts.push(self.other(inner));
        }
        self.written.leave();
        Node::block(Form::If, parts)
    }

    /// What follows an `else`.
    fn other(&mut self, inner: Here) -> Vec<Node> {
        let mut nodes = vec![Node::line("else\u{5}")];
        if self.chance(70) {
            nodes.extend(self.statement(Here { may_wait: false, ..inner }));
        } else {
            nodes[0] = Node::line("else");
        }
        nodes
    }

    /// One option. Beside `else` there must be no input or output.
    fn option(&mut self, inner: Here, pure: bool) -> Vec<Node> {
        let wished = self.wishes(inner.inside).is_some();
        let (locals, channels) = (self.body.locals.len(), self.body.channels.len());
        // Where a d_step begins with a choice, SPIN looks at conditions only to see whether it can.
        let pure = pure || (inner.mode == Mode::Step && inner.may_wait);
        let mut nodes = match () {
            _ if pure => {
                let arrow = if self.chance(50) { "\u{5}" } else { "" };
                vec![Node::line(self.inside("condition", |maker| maker.pure_condition()) + arrow)]
            }
            _ if inner.mode == Mode::Step || wished || self.chance(60) => self.statement(inner),
            _ => vec![Node::line(self.inside("condition", |maker| maker.condition()))],
        };
        // SPIN refuses `unless` at the beginning of an option.
        if begins_with_unless(&nodes) {
            nodes.insert(0, Node::line("skip"));
        }
        if (wished && pure) || self.chance(60) {
            nodes.extend(self.statement(Here { may_wait: false, ..inner }));
        }
        self.body.locals.truncate(locals);
        self.body.channels.truncate(channels);
        nodes
    }

    fn repetition(&mut self, here: Here) -> Vec<Node> {
        let inner = Here { in_loop: true, ..within(here, "do") };
        self.written.enter("do");
        self.body.loops += 1;
        let with_else = self.chance(35);
        let mut parts: Vec<_> = (0..1 + self.below(2)).map(|_| self.option(inner, with_else)).collect();
        // SPIN refuses a loop that does nothing for ever.
        for part in parts.iter_mut().filter(|part| part.len() == 1) {
            part.push(self.assignment());
        }
        self.body.loops -= 1;
        let mut last = Vec::new();
        if with_else {
            self.written.leaf("else");
            last.push(Node::line("else"));
        } else if self.chance(50) {
            last.push(Node::line(self.inside("condition", |maker| maker.pure_condition())));
        }
        if !self.chance(15) || last.is_empty() {
            self.written.leaf("break");
            last.push(Node::line("break"));
        }
        parts.push(last);
        self.written.leave();
        vec![Node::block(Form::Do, parts)]
    }

    /// A loop that comes to its end, where one without end would be an error.
    fn counted(&mut self, here: Here) -> Vec<Node> {
        let counter = self.counter(here);
        let times = 1 + self.below(2);
        let inner = Here { in_loop: true, may_wait: false, ..within(here, "do") };
        self.written.enter("do");
        self.body.loops += 1;
        let mut turn = vec![Node::line(format!("{counter} < {times}\u{5}")), Node::line(format!("{counter}++"))];
        turn.extend(self.sequence(inner, 2));
        self.written.leaf("else");
        self.written.leaf("break");
        let end = vec![Node::line("else\u{5}"), Node::line("break")];
        self.body.loops -= 1;
        self.written.leave();
        vec![Node::line(format!("{counter} = 0")), Node::block(Form::Do, vec![turn, end])]
    }

    fn for_range(&mut self, here: Here) -> Vec<Node> {
        let counter = self.counter(here);
        let inner = Here { in_loop: true, may_wait: false, ..within(here, "for range") };
        self.body.loops += 1;
        let nodes = self.inside("for range", |maker| maker.sequence(inner, 2));
        self.body.loops -= 1;
        vec![Node::braces(format!("for ({counter} : 1 .. {})", 1 + self.below(2)), nodes)]
    }

    fn for_in(&mut self, here: Here) -> Option<Vec<Node>> {
        // Only whole arrays can be named after `in`.
        let whole = |v: &super::Variable| v.length > 1 && v.suffix.is_empty() && !v.prefix.contains(['.', '[']);
        let array = self.a_variable(whole)?;
        let counter = self.counter(here);
        let inner = Here { in_loop: true, may_wait: false, ..within(here, "for in") };
        self.body.loops += 1;
        let nodes = self.inside("for in", |maker| maker.sequence(inner, 2));
        self.body.loops -= 1;
        Some(vec![Node::braces(format!("for ({counter} in {})", array.prefix), nodes)])
    }

    /// A variable that nothing else writes.
    fn counter(&mut self, here: Here) -> String {
        if here.in_inline {
            // Each call has its own, as a global variable would not be.
            return self.body.turns.clone();
        }
        self.body.counters += 1;
        let name = self.fresh("i");
        self.body.declarations.push(Node::line(Type::Byte.declare(&name)));
        name
    }
}

/// What surrounds what stands directly inside a production that stands here.
fn within(here: Here, inside: &'static str) -> Here {
    Here { inside, depth: here.depth + 1, ..here }
}

fn begins_with_unless(nodes: &[Node]) -> bool {
    match nodes.first() {
        Some(Node::Block(block)) => block.form == Form::Unless || begins_with_unless(&block.parts[0]),
        _ => false,
    }
}
