//! Statements: which may stand where, and those that hold no others.

use super::declare::Scope;
use super::tree::Node;
use super::{Here, Maker, Mode, Parameter, Type, Variable};

/// How often each statement is written, among those that may stand somewhere.
const WEIGHTS: &[(&str, usize)] = &[
    ("assignment", 24),
    ("increment", 2),
    ("decrement", 2),
    ("condition", 5),
    ("skip", 2),
    ("send", 12),
    ("sorted send", 5),
    ("receive", 12),
    ("random receive", 2),
    ("peek", 2),
    ("random peek", 1),
    ("if", 8),
    ("do", 6),
    ("for range", 2),
    ("for in", 2),
    ("select", 2),
    ("break", 3),
    ("goto", 4),
    ("label", 3),
    ("atomic", 6),
    ("d_step", 7),
    ("block", 5),
    ("unless", 4),
    ("inline call", 5),
    ("returning call", 2),
    ("macro", 2),
    ("assert", 4),
    ("printf", 1),
    ("printm", 1),
    ("run", 3),
    ("set_priority", 3),
    ("declaration", 3),
    ("array declaration", 1),
    ("record declaration", 1),
];

impl Maker<'_> {
    /// Some statements in a row, as what stands directly inside a production.
    pub(super) fn sequence(&mut self, here: Here, most: usize) -> Vec<Node> {
        let many = 1 + self.below(most);
        let mut nodes = Vec::new();
        for number in 0..many {
            let first = number == 0;
            nodes.extend(self.statement(Here { may_wait: here.may_wait && first, ..here }));
        }
        nodes
    }

    /// A statement, or several that belong together.
    pub(super) fn statement(&mut self, here: Here) -> Vec<Node> {
        if let Some(inner) = self.wishes(here.inside)
            && self.fits(here, inner)
        {
            let wish = self.wish.take();
            match self.write(here, inner) {
                Some(nodes) => return nodes,
                None => self.wish = wish,
            }
        }
        self.body.left = self.body.left.saturating_sub(1);
        for _ in 0..6 {
            let fitting: Vec<(&'static str, usize)> =
                WEIGHTS.iter().filter(|(name, _)| self.likes(here, name) && self.fits(here, name)).copied().collect();
            let all: usize = fitting.iter().map(|(_, weight)| weight).sum();
            let mut left = self.below(all);
            for (name, weight) in fitting {
                if left < weight {
                    if let Some(nodes) = self.write(here, name) {
                        return nodes;
                    }
                    break;
                }
                left -= weight;
            }
        }
        vec![self.assignment()]
    }

    /// Has the model anything for such a statement, and room for it?
    fn likes(&self, here: Here, production: &str) -> bool {
        let nests = ["if", "do", "for range", "for in", "atomic", "d_step", "block", "unless"].contains(&production);
        if nests && (here.depth >= 3 || self.body.left == 0) {
            return false;
        }
        match production {
            "atomic" => self.on.atomic,
            "d_step" => self.on.d_step,
            "unless" => self.on.unless,
            "goto" | "label" => self.on.goto,
            "run" => here.depth < 2,
            _ => true,
        }
    }

    /// May it stand there?
    fn fits(&self, here: Here, production: &str) -> bool {
        if !super::grammar::may_hold(here.inside, production) {
            return false;
        }
        let step = here.mode == Mode::Step;
        match production {
            "break" => here.in_loop,
            "unless" => !step,
            "run" => !step && !here.in_inline && self.on.running,
            "condition" => !step || here.may_wait || self.on.risky,
            "set_priority" => self.on.priorities,
            "inline call" => self.inlines.iter().any(|(_, returns)| !returns),
            "returning call" => self.inlines.iter().any(|(_, returns)| *returns),
            "macro" => self.macros,
            "assert" => self.on.asserts,
            "printm" => self.on.mtypes,
            "record declaration" => self.on.records,
            "send" | "sorted send" | "receive" | "random receive" | "peek" | "random peek" => self.on.channels,
            // A jump out of a d_step is none, and a circle within an atomic sequence has no end.
            "goto" | "label" => !step || ["d_step", "inline"].contains(&here.inside),
            _ => true,
        }
    }

    /// Writes a statement. Most may ask channels; a condition may stand beside `else`.
    fn write(&mut self, here: Here, production: &'static str) -> Option<Vec<Node>> {
        let asks = ["assignment", "assert", "printf", "send", "sorted send"].contains(&production);
        self.asks = asks && here.mode != Mode::Step;
        let nodes = self.written_out(here, production);
        self.asks = false;
        nodes
    }

    fn written_out(&mut self, here: Here, production: &'static str) -> Option<Vec<Node>> {
        let line = |text: String| Some(vec![Node::line(text)]);
        match production {
            "assignment" => Some(vec![self.assignment()]),
            "increment" | "decrement" => {
                // Counting on and on is for variables that go round soon; arrays of bits are arrays of bytes to SPIN.
                let narrow =
                    |v: &Variable| v.length == 1 && matches!(v.of, Type::Bit | Type::Bool | Type::Unsigned(1 | 2));
                let variable = self.a_variable(narrow)?;
                self.written.leaf(production);
                let text = self.fixed_text(&variable);
                line(format!("{text}{}", if production == "increment" { "++" } else { "--" }))
            }
            "condition" => {
                let text = self.inside("condition", |maker| match here.mode {
                    // A question to a channel, alone at the beginning of a d_step, makes SPIN write C that does not compile.
                    Mode::Step => maker.pure_condition(),
                    _ => maker.condition(),
                });
                line(text)
            }
            "skip" => {
                self.written.leaf("skip");
                line("skip".into())
            }
            "send" | "sorted send" => self.sending(here, production == "sorted send"),
            "receive" => self.receiving(here, false, false),
            "random receive" => self.receiving(here, true, false),
            "peek" => self.receiving(here, false, true),
            "random peek" => self.receiving(here, true, true),
            "assert" => {
                let text = self.inside("assert", |maker| {
                    if maker.chance(30) { maker.given(Type::Byte) } else { maker.pure_condition() }
                });
                line(format!("assert({text})"))
            }
            "printf" => {
                let number = self.inside("printf", |maker| maker.number(2));
                line(format!("printf(\"%d of\\n\", {number})"))
            }
            "printm" => {
                let variable = self.a_variable(|v| v.of.is_word())?;
                self.written.leaf("printm");
                let text = self.fixed_text(&variable);
                line(format!("printm({text})"))
            }
            "select" => self.select(),
            "goto" if here.mode == Mode::Step => {
                self.written.leaf("goto");
                let name = self.fresh("L");
                let (first, second, third) = (self.assignment(), self.assignment(), self.assignment());
                let (jump, label) = (Node::line(format!("goto {name}")), Node::line(format!("{name}:")));
                Some(vec![first, jump, second, label, third])
            }
            "label" if here.mode == Mode::Step => {
                let name = self.fresh("L");
                let statement = self.inside("label", |maker| maker.assignment());
                Some(vec![Node::line("skip"), Node::line(format!("{name}:")), statement])
            }
            "goto" => {
                self.written.leaf("goto");
                // Something is done first, because SPIN refuses a circle of nothing but jumps.
                let mark = if here.mode == Mode::Plain { '\u{4}' } else { '\u{6}' };
                Some(vec![self.assignment(), Node::line(format!("goto {mark}"))])
            }
            "break" => {
                self.written.leaf("break");
                line("break".into())
            }
            "run" => self.run(),
            "set_priority" => {
                self.written.leaf("set_priority");
                line(format!("set_priority(_pid, {})", 1 + self.below(3)))
            }
            "inline call" => {
                let names: Vec<String> =
                    self.inlines.iter().filter(|(_, r)| !r).map(|(name, _)| name.clone()).collect();
                let name = self.pick(&names);
                let variable = self.a_variable(|v| matches!(v.of, Type::Byte | Type::Int | Type::Bit))?;
                self.written.leaf("inline call");
                let text = self.fixed_text(&variable);
                line(format!("{name}({text}, {})", self.below(2)))
            }
            "returning call" => {
                let names: Vec<String> =
                    self.inlines.iter().filter(|(_, r)| *r).map(|(name, _)| name.clone()).collect();
                let name = self.pick(&names);
                let variable = self.a_variable(|v| matches!(v.of, Type::Byte | Type::Int) && v.is_plain())?;
                self.written.leaf("returning call");
                let text = self.fixed_text(&variable);
                line(format!("{text} = {name}({})", self.below(3)))
            }
            "macro" => {
                let variable = self.a_number()?;
                self.written.leaf("macro");
                let text = self.fixed_text(&variable);
                line(format!("TURN({text})"))
            }
            "declaration" | "array declaration" => self.local(here, production == "array declaration"),
            "record declaration" => {
                self.written.leaf("record declaration");
                let name = self.fresh("r");
                for (suffix, of) in [(".pa", Type::Byte), (".pb", Type::Bit)] {
                    let (prefix, suffix) = (name.clone(), suffix.to_string());
                    self.declared(here, Variable { prefix, length: 1, suffix, of });
                }
                line(format!("Plain {name}"))
            }
            _ => self.nested(here, production),
        }
    }

    /// A variable that is declared here can be used from here on, within what holds it; that is for the caller to see.
    fn declared(&mut self, here: Here, variable: Variable) {
        if !here.in_inline {
            self.body.locals.push(variable);
        }
    }

    fn local(&mut self, here: Here, array: bool) -> Option<Vec<Node>> {
        let mark = self.written.mark();
        for _ in 0..8 {
            let name = self.fresh("s");
            let (node, variable) = self.variable(&name, Scope::Block);
            if (variable.length > 1) == array {
                self.declared(here, variable);
                return Some(vec![node]);
            }
            self.written.back_to(mark);
        }
        None
    }

    pub(super) fn assignment(&mut self) -> Node {
        if self.on.hidden && self.chance(10) {
            return Node::line(format!("unseen = {}", self.below(3)));
        }
        let Some(variable) = self.a_variable(|_| true) else { return Node::line("skip") };
        self.inside("assignment", |maker| {
            let mark = maker.written.mark();
            let text = maker.text_of(&variable);
            // What stands on the left is no expression.
            maker.written.back_to(mark);
            let value = maker.value(variable.of);
            Node::line(format!("{text} = {value}"))
        })
    }

    fn select(&mut self) -> Option<Vec<Node>> {
        let variable = self.a_variable(|v| v.is_plain() && matches!(v.of, Type::Byte | Type::Int | Type::Short))?;
        self.written.leaf("select");
        let low = self.below(2);
        Some(vec![Node::line(format!("select ({} : {low} .. {})", variable.prefix, low + 1 + self.below(2)))])
    }

    /// Starts a process, where not too many have been started before.
    fn run(&mut self) -> Option<Vec<Node>> {
        let number = self.below(self.kinds.len());
        let most = 2 + self.below(2);
        let start = self.start(number)?;
        let nodes = vec![Node::line(format!("started < {most}")), Node::line("started++"), start];
        Some(if self.chance(60) { vec![Node::braces("atomic", nodes)] } else { nodes })
    }

    /// `run` in one of the places where it may stand.
    pub(super) fn start(&mut self, number: usize) -> Option<Node> {
        let mark = self.written.mark();
        let variable =
            self.a_variable(|v| v.length == 1 && matches!(v.of, Type::Byte | Type::Int | Type::Short | Type::Pid));
        let form = self.below(10);
        let (outer, production) = match (form, &variable) {
            (0..=2, Some(_)) => (Some("assignment"), "run expression"),
            (3..=4, _) => (Some("condition"), "run expression"),
            _ => (None, "run"),
        };
        if let Some(outer) = outer {
            self.written.enter(outer);
        }
        self.written.enter(production);
        let call = self.call(number);
        let priority = match self.on.priorities && self.chance(40) {
            true => {
                self.written.leaf("priority");
                format!(" priority {}", 1 + self.below(3))
            }
            false => String::new(),
        };
        self.written.leave();
        if outer.is_some() {
            self.written.leave();
        }
        let Some(call) = call else {
            self.written.back_to(mark);
            return None;
        };
        let text = format!("run {call}{priority}");
        Some(Node::line(match (outer, variable) {
            (Some("assignment"), Some(variable)) => format!("{} = {text}", self.fixed_text(&variable)),
            (Some(_), _) => format!("({text})"),
            _ => text,
        }))
    }

    /// A proctype with arguments for its parameters.
    fn call(&mut self, number: usize) -> Option<String> {
        let kind = self.kinds[number].clone();
        let mut arguments = Vec::new();
        for parameter in kind.parameters {
            self.written.enter("argument");
            let argument = match parameter {
                // Of this type SPIN takes constants only.
                Parameter::Value(of) if of.is_word() => {
                    self.written.leaf("mtype constant");
                    Some(self.constant(of))
                }
                Parameter::Value(of) => Some(self.given(of)),
                Parameter::Channel(signature) => {
                    let channel = self.a_channel(|channel| channel.signature == signature);
                    channel.map(|channel| self.channel_text(&channel))
                }
            };
            self.written.leave();
            arguments.push(argument?);
        }
        Some(format!("{}({})", kind.name, arguments.join(", ")))
    }
}
