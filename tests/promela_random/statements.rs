//! Statements of a process, outside `d_step`.

use super::declarations::Scope;
use super::features::Feature;
use super::tree::{Form, Node};
use super::{Maker, Mode, Parameter, Place, Type};

#[derive(Debug, Clone, Copy)]
enum Choice {
    Assign,
    Wait,
    Communicate,
    If,
    Do,
    Atomic,
    DStep,
    Unless,
    Goto,
    Assert,
    Printf,
    Skip,
    Count,
    Select,
    Run,
    Inline,
    Macro,
    Scope,
}

impl Maker {
    pub(super) fn sequence(&mut self, most: usize, mode: Mode, depth: usize) -> Vec<Node> {
        let mut nodes = Vec::new();
        for i in 0..1 + self.below(most) {
            nodes.extend(self.statement(mode, depth, i == 0));
        }
        nodes
    }

    /// A statement, or several that belong together. The first one of an atomic sequence may always wait.
    pub(super) fn statement(&mut self, mode: Mode, depth: usize, first: bool) -> Vec<Node> {
        let atomic = mode == Mode::Atomic;
        let on = |feature, weight| if self.on.has(feature) { weight } else { 0 };
        let nested = |weight: usize| if depth < 2 { weight } else { 0 };
        let plain = |weight: usize| if atomic { 0 } else { weight };
        let choosing = !atomic || self.on.has(Feature::ChoiceInAtomic);
        let unless = if self.body.inside_unless { on(Feature::NestedUnless, 16) } else { on(Feature::Unless, 7) };
        let started = if self.kinds.is_empty() { 0 } else { on(Feature::Run, 4) };
        let choice = self.weighted(&[
            (22, Choice::Assign),
            (4, Choice::Wait),
            (26, Choice::Communicate),
            (if choosing { nested(on(Feature::If, if atomic { 25 } else { 9 })) } else { 0 }, Choice::If),
            (nested(on(Feature::Do, 6)), Choice::Do),
            (plain(nested(on(Feature::Atomic, 10))), Choice::Atomic),
            (on(Feature::DStep, 8), Choice::DStep),
            (plain(nested(unless)), Choice::Unless),
            (on(Feature::Goto, if atomic { 12 } else { 5 }), Choice::Goto),
            (on(Feature::Assert, 4), Choice::Assert),
            (on(Feature::Printf, 1), Choice::Printf),
            (2, Choice::Skip),
            (on(Feature::For, 3), Choice::Count),
            (if choosing { on(Feature::Select, 3) } else { 0 }, Choice::Select),
            (started, Choice::Run),
            (if choosing { on(Feature::Inline, 4) } else { 0 }, Choice::Inline),
            (on(Feature::Macro, 4), Choice::Macro),
            (plain(nested(on(Feature::LocalScopes, 3))), Choice::Scope),
        ]);
        match choice {
            Choice::Assign => vec![self.assignment()],
            Choice::Wait => self.wait(mode, first),
            Choice::Communicate => self.communication(mode, first).unwrap_or_else(|| vec![self.assignment()]),
            Choice::If => vec![self.choose(mode, depth)],
            Choice::Do if atomic => self.bounded_loop(|maker| maker.sequence(2, Mode::Atomic, depth + 1)),
            Choice::Do => self.repeat(depth),
            Choice::Atomic => vec![self.atomic(depth)],
            Choice::DStep => vec![self.d_step()],
            Choice::Unless => vec![self.unless(depth)],
            Choice::Goto => self.goto(mode),
            Choice::Assert => {
                self.note(Feature::Assert);
                vec![Node::line(format!("assert({})", self.pure_condition()))]
            }
            Choice::Printf => {
                self.note(Feature::Printf);
                vec![Node::line(format!("printf(\"%d of %d\\n\", {}, _pid)", self.number(1)))]
            }
            Choice::Skip => vec![Node::line("skip")],
            Choice::Count => self.bounded_loop(|maker| maker.sequence(1, mode, 2)),
            Choice::Select => vec![self.select()],
            Choice::Run => self.run(),
            Choice::Inline => vec![self.inline_call()],
            Choice::Macro => match self.a_place(|of| !matches!(of, Type::Mtype)) {
                Some(place) => vec![Node::line(format!("TURN({})", self.fixed(&place)))],
                None => vec![Node::line("skip")],
            },
            Choice::Scope => vec![self.scope(depth)],
        }
    }

    pub(super) fn assignment(&mut self) -> Node {
        let Some(place) = self.a_place(|_| true) else { return Node::line("skip") };
        let text = self.text_of(&place);
        // Counting on and on is for variables that go round soon; arrays of bits are arrays of bytes to SPIN.
        let narrow = place.length == 1 && matches!(place.of, Type::Bit | Type::Bool | Type::Unsigned(1 | 2));
        if narrow && self.chance(40) {
            return Node::line(format!("{text}{}", self.pick(&["++", "--"])));
        }
        let value = self.value(place.of);
        Node::line(format!("{text} = {value}"))
    }

    fn wait(&mut self, mode: Mode, first: bool) -> Vec<Node> {
        if mode == Mode::Atomic && !first && !self.uses(Feature::BlockingAtomic, 100) {
            return vec![self.assignment()];
        }
        if self.uses(Feature::Timeout, 15) {
            return vec![Node::line("timeout")];
        }
        vec![Node::line(self.condition())]
    }

    fn choose(&mut self, mode: Mode, depth: usize) -> Node {
        self.note(Feature::If);
        if mode == Mode::Atomic {
            self.note(Feature::ChoiceInAtomic);
        }
        let mut parts = Vec::new();
        let with_else = self.uses(Feature::Else, 50);
        // Without `else` a choice can wait, which the inside of an atomic sequence may not be allowed to.
        let must_go = mode == Mode::Atomic && !self.on.has(Feature::BlockingAtomic);
        for _ in 0..2 + self.below(2) {
            parts.push(self.option(mode, depth, with_else));
        }
        if with_else {
            parts.push([vec![Node::line("else")], self.sequence(1, mode, depth + 1)].concat());
        } else if must_go {
            parts.push(vec![Node::line("skip")]);
        }
        Node::block(Form::If, parts)
    }

    /// One option of a choice. Beside `else` there must be no input or output.
    fn option(&mut self, mode: Mode, depth: usize, pure: bool) -> Vec<Node> {
        let mut nodes = match self.below(10) {
            _ if pure => vec![Node::line(self.pure_condition())],
            0..4 => self.statement(mode, depth + 1, true),
            4..7 => self.communication(mode, true).unwrap_or_else(|| vec![Node::line(self.condition())]),
            _ => vec![Node::line(self.condition())],
        };
        // SPIN wants braces where `unless` begins an option.
        if matches!(&nodes[0], Node::Block(block) if block.form == Form::Unless) {
            nodes = vec![Node::braces("", nodes)];
        }
        if self.chance(60) {
            nodes.extend(self.statement(mode, depth + 1, false));
        }
        nodes
    }

    fn repeat(&mut self, depth: usize) -> Vec<Node> {
        self.note(Feature::Do);
        self.body.loops += 1;
        let with_else = self.uses(Feature::Else, 30);
        let mut parts: Vec<_> = (0..1 + self.below(2)).map(|_| self.option(Mode::Plain, depth, with_else)).collect();
        self.body.loops -= 1;
        // SPIN refuses a loop that does nothing for ever.
        for part in parts.iter_mut().filter(|part| part.len() == 1) {
            part.push(self.assignment());
        }
        let mut last = match () {
            _ if with_else => vec![Node::line("else")],
            _ if self.uses(Feature::Timeout, 20) => vec![Node::line("timeout")],
            _ if self.chance(50) => vec![Node::line(self.pure_condition())],
            _ => vec![],
        };
        if !self.chance(15) || last.is_empty() {
            last.push(Node::line("break"));
        }
        parts.push(last);
        let mut nodes = Vec::new();
        if self.uses(Feature::EndLabels, 40) {
            nodes.push(Node::line(format!("{}:", self.fresh("end"))));
        }
        nodes.push(Node::block(Form::Do, parts));
        nodes
    }

    fn atomic(&mut self, depth: usize) -> Node {
        self.note(Feature::Atomic);
        let mut nodes = self.sequence(3, Mode::Atomic, depth + 1);
        // Only from the outermost level on does the label come before all jumps to it.
        if depth == 0 && nodes.len() > 1 && self.uses(Feature::GotoIntoAtomic, 40) {
            let label = self.fresh("inner");
            let after = nodes.iter().skip(1).position(|node| matches!(node, Node::Line(text) if !text.ends_with(':')));
            if let Some(after) = after {
                nodes.insert(after + 1, Node::line(format!("{label}:")));
                self.body.inner_labels.push(label);
            }
        }
        Node::braces("atomic", nodes)
    }

    fn unless(&mut self, depth: usize) -> Node {
        self.note(if self.body.inside_unless { Feature::NestedUnless } else { Feature::Unless });
        let before = std::mem::replace(&mut self.body.inside_unless, true);
        let main = self.sequence(3, Mode::Plain, depth + 1);
        let input = match self.uses(Feature::UnlessInput, 40) {
            true => self.communication(Mode::Plain, true),
            false => None,
        };
        self.body.inside_unless = before;
        let mut escape = input.unwrap_or_else(|| vec![Node::line(self.condition())]);
        if self.chance(60) {
            escape.extend(self.statement(Mode::Plain, depth + 1, false));
        }
        Node::block(Form::Unless, vec![main, escape])
    }

    /// A jump to a statement of the outermost level. From inside an atomic sequence only ahead, because a cycle of atomic
    /// steps has no end for SPIN.
    fn goto(&mut self, mode: Mode) -> Vec<Node> {
        if mode == Mode::Plain && !self.body.inner_labels.is_empty() && self.chance(50) {
            self.note(Feature::GotoIntoAtomic);
            let label = self.pick(&self.body.inner_labels.clone());
            return vec![self.assignment(), Node::line(format!("goto {label}"))];
        }
        let from = if mode == Mode::Atomic { self.body.slot + 1 } else { 0 };
        if from >= self.body.slots || (mode == Mode::Atomic && !self.uses(Feature::GotoOutOfAtomic, 100)) {
            return vec![self.assignment()];
        }
        self.note(Feature::Goto);
        let target = from + self.below(self.body.slots - from);
        self.body.targets.push(target);
        // Something is done first, because SPIN refuses a circle of nothing but jumps.
        vec![self.assignment(), Node::line(format!("goto L{target}"))]
    }

    fn select(&mut self) -> Node {
        // Only a plain variable can be selected into.
        let plain = |place: &Place| place.length == 1 && !place.prefix.contains('.') && place.suffix.is_empty();
        let wide = |place: &Place| matches!(place.of, Type::Byte | Type::Int | Type::Short);
        let places: Vec<Place> = self.places().into_iter().filter(|place| plain(place) && wide(place)).collect();
        if places.is_empty() {
            return Node::line("skip");
        }
        self.note(Feature::Select);
        let (place, low) = (self.pick(&places), self.below(2));
        Node::line(format!("select ({} : {low} .. {})", place.prefix, low + 1 + self.below(2)))
    }

    /// Starts a process, where not too many have been started before.
    pub(super) fn run(&mut self) -> Vec<Node> {
        let number = self.below(self.kinds.len());
        let Some(call) = self.call(number) else { return vec![Node::line("skip")] };
        let most = 2 + self.below(2);
        let first = vec![Node::line(format!("started < {most}")), Node::line("started++")];
        let mut nodes = first;
        nodes.push(self.start(&call));
        if self.uses(Feature::RunAtomically, 70) { vec![Node::braces("atomic", nodes)] } else { nodes }
    }

    /// `run` in one of the places where it may stand.
    pub(super) fn start(&mut self, call: &str) -> Node {
        self.note(Feature::Run);
        let place = self.a_place(|of| matches!(of, Type::Byte | Type::Int | Type::Short));
        match place {
            Some(place) if self.uses(Feature::RunInExpression, 40) => {
                Node::line(format!("{} = run {call}", self.fixed(&place)))
            }
            _ if self.uses(Feature::RunInExpression, 30) => Node::line(format!("(run {call})")),
            _ => Node::line(format!("run {call}")),
        }
    }

    /// A proctype with arguments for its parameters.
    pub(super) fn call(&mut self, number: usize) -> Option<String> {
        let kind = self.kinds[number].clone();
        let mut arguments = Vec::new();
        for parameter in kind.parameters {
            arguments.push(match parameter {
                Parameter::Value(of) => {
                    self.note(Feature::Parameters);
                    // Of this type SPIN takes constants only.
                    if of == Type::Mtype { self.constant(of) } else { self.value(of) }
                }
                Parameter::Channel(signature) => {
                    self.note(Feature::ChannelParameters);
                    let channel = self.a_channel(|channel| channel.signature == signature)?;
                    self.channel_text(&channel)
                }
            });
        }
        Some(format!("{}({})", kind.name, arguments.join(", ")))
    }

    fn inline_call(&mut self) -> Node {
        let names = self.inlines.clone();
        match self.a_place(|of| matches!(of, Type::Byte | Type::Int | Type::Bit)) {
            Some(place) if !names.is_empty() => {
                self.note(Feature::Inline);
                let (name, text, amount) = (self.pick(&names), self.fixed(&place), self.below(2));
                Node::line(format!("{name}({text}, {amount})"))
            }
            _ => Node::line("skip"),
        }
    }

    /// A block with a variable of its own.
    fn scope(&mut self, depth: usize) -> Node {
        self.note(Feature::LocalScopes);
        let name = self.fresh("s");
        let (declaration, place) = self.variable(&name, Scope::Block);
        self.body.locals.push(place);
        let mut nodes = vec![declaration];
        nodes.extend(self.sequence(2, Mode::Plain, depth + 1));
        self.body.locals.retain(|place| place.prefix != name);
        Node::braces("", nodes)
    }
}
