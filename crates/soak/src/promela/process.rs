//! The processes of a program: which there are, and how their bodies are put together.

use super::ask;
use super::declare::Scope;
use super::tree::{Form, Node, Program};
use super::{Body, Channel, Here, Kind, Maker, Mode, Model, Parameter, Variable};

impl Maker<'_> {
    pub(super) fn model(mut self) -> Model {
        self.written.enter("program");
        let mut nodes = self.declarations();
        let instances = self.plan();
        if self.on.inline {
            nodes.extend(self.inlines());
        }
        // Few processes may be long, many must be short, or there are too many states.
        let most = match instances {
            0..=1 => 12,
            2 => 7,
            3 => 4,
            _ => 3,
        };
        for number in 0..self.kinds.len() {
            nodes.push(self.process(number, most));
        }
        if self.on.init {
            nodes.push(self.init(most.min(4)));
        }
        let question = self.question;
        let asked = self.behind();
        self.written.leave();
        let program = Program(nodes);
        let program = ask::labelled(&program, question, self.random);
        let program = Program([program.0, asked].concat());
        // `_last` is part of SPIN's states wherever it is named, also where nothing comes to.
        let counts = !self.on.hidden && !program.to_string().contains("_last");
        Model { program, question, names: self.names, counts }
    }

    /// Decides on the proctypes; answers how many instances there will be at the same time, about.
    fn plan(&mut self) -> usize {
        let mut instances = self.on.init as usize;
        for _ in 0..1 + self.below(3) {
            let active = match () {
                _ if self.on.init && self.chance(60) => 0,
                _ if instances < 2 && self.chance(25) => 2,
                _ => 1,
            };
            let mut parameters = Vec::new();
            if self.chance(50) {
                parameters.push(Parameter::Value(self.message_type()));
            }
            // Nobody gives a process that is active from the beginning its channels.
            if active == 0 && !self.channels.is_empty() && self.chance(50) {
                let signature = self.pick(&self.channels.clone()).signature;
                parameters.push(Parameter::Channel(signature));
            }
            let name = self.fresh("P");
            self.kinds.push(Kind { name, active, parameters });
            instances += active.max(1);
        }
        if instances == 0 || (!self.on.init && self.kinds.iter().all(|kind| kind.active == 0)) {
            self.kinds[0].active = 1;
            self.kinds[0].parameters.retain(|parameter| matches!(parameter, Parameter::Value(_)));
        }
        instances
    }

    /// Inlines: one that returns a value, and some that do something with their arguments and call those before.
    fn inlines(&mut self) -> Vec<Node> {
        self.body = Body { left: 4, ..Body::default() };
        let here =
            Here { inside: "inline", mode: Mode::Step, depth: 1, may_wait: false, in_loop: false, in_inline: true };
        let give = self.fresh("give");
        self.written.leaf("inline");
        let returns = Node::braces(format!("inline {give}(amount)"), vec![Node::line("return (amount + 1) & 3")]);
        self.inlines = vec![(give, true)];
        let mut nodes = vec![returns];
        self.body.no_remote = true;
        for _ in 0..2 {
            let name = self.fresh("act");
            self.body.turns = self.fresh("turns");
            let mut body = self.inside("inline", |maker| maker.sequence(here, 3));
            body.insert(0, Node::line(format!("byte {}", self.body.turns)));
            body.push(Node::line("target = amount"));
            nodes.push(Node::braces(format!("inline {name}(target, amount)"), body));
            // The next one may call it.
            self.inlines.push((name, false));
        }
        self.body.no_remote = false;
        nodes
    }

    fn process(&mut self, number: usize, most: usize) -> Node {
        self.body = Body { number, ..Body::default() };
        let kind = self.kinds[number].clone();
        self.written.enter("proctype");
        let mut parameters = Vec::new();
        for (i, parameter) in kind.parameters.iter().enumerate() {
            let name = format!("p{i}");
            parameters.push(match *parameter {
                Parameter::Value(of) => {
                    self.written.leaf("parameter");
                    let text = of.declare(&name);
                    self.body.locals.push(Variable { prefix: name, length: 1, suffix: String::new(), of });
                    text
                }
                Parameter::Channel(signature) => {
                    self.written.leaf("channel parameter");
                    let text = format!("chan {name}");
                    self.body.channels.push(Channel { name, length: 1, signature, capacity: None });
                    text
                }
            });
        }
        let active = match kind.active {
            0 => String::new(),
            1 => {
                self.written.leaf("active");
                "active ".to_string()
            }
            n => {
                self.written.leaf("active several");
                format!("active [{n}] ")
            }
        };
        let priority = match self.on.priorities && kind.active > 0 && self.chance(60) {
            true => {
                self.written.leaf("priority");
                format!(" priority {}", 1 + self.below(3))
            }
            false => String::new(),
        };
        let provided = match self.chance(12) {
            true => format!(" provided ({})", self.inside("provided", |maker| maker.global_condition())),
            false => String::new(),
        };
        let nodes = self.body_of("proctype", most);
        self.written.leave();
        let head = format!("{active}proctype {}({}){priority}{provided}", kind.name, parameters.join("; "));
        Node::braces(head, nodes)
    }

    fn global_condition(&mut self) -> String {
        if self.on.timeouts && self.chance(20) {
            self.written.leaf("timeout");
            return "timeout".into();
        }
        let variables = self.globals.clone();
        let variable = self.pick(&variables);
        let operator = match variable.of.is_word() {
            true => self.pick(&["==", "!="]),
            false => self.pick(&["==", "!=", "<", ">="]),
        };
        self.inside(operator, |maker| {
            let mark = maker.written.mark();
            let text = maker.fixed(&variable);
            maker.written.back_to(mark);
            format!("{text} {operator} {}", maker.constant(variable.of))
        })
    }

    fn body_of(&mut self, inside: &'static str, most: usize) -> Vec<Node> {
        self.local_variables();
        let known = self.body.locals.len();
        let statements = 1 + most / 3 + self.below(most);
        self.body.left = 2 * statements;
        let here = Here { inside, mode: Mode::Plain, depth: 0, may_wait: true, in_loop: false, in_inline: false };
        let mut nodes = Vec::new();
        // What is wished for is to stand somewhere: the first process begins with what holds it.
        let wished = self.wish.map(|(outer, _)| if outer == "escape" { "unless" } else { outer });
        if let Some(outer) = wished.filter(|outer| super::grammar::may_hold(inside, outer)) {
            nodes.extend(self.nested(here, outer).unwrap_or_default());
        }
        let at = self.below(statements);
        for number in 0..statements {
            let group = self.statement(here);
            if number == at {
                nodes.push(Node::line("here:"));
                nodes.extend(if group.len() == 1 && !is_unless(&group[0]) && !is_declaration(&group[0]) {
                    group
                } else {
                    [vec![Node::line("skip")], group].concat()
                });
            } else {
                nodes.extend(group);
            }
        }
        // Some go round for ever, others end.
        if self.body.labels == 0 && self.chance(25) {
            // What was declared on the way is known in that option alone.
            self.body.locals.truncate(known);
            let leave = vec![Node::line(self.inside("condition", |maker| maker.pure_condition())), Node::line("break")];
            nodes.retain(|node| !matches!(node, Node::Line(text) if text == "here:"));
            nodes = vec![Node::line("here:"), Node::block(Form::Do, vec![nodes, leave])];
        }
        let mut declarations = std::mem::take(&mut self.body.declarations);
        declarations.push(Node::line("byte seen"));
        declarations.extend(nodes);
        self.jumps(&mut declarations);
        declarations
    }

    /// Lets every jump have somewhere to go: from within an atomic sequence only ahead, for a circle there has no end.
    fn jumps(&mut self, nodes: &mut Vec<Node>) {
        let mut labels = Vec::new();
        collect(nodes, false, &mut 0, &mut labels);
        let end = self.fresh("L");
        let mut used = false;
        let mut at = 0;
        self.aim(nodes, &labels, &end, &mut at, &mut used);
        if used {
            nodes.extend([Node::line(format!("{end}:")), Node::line("skip")]);
        }
    }

    fn aim(&mut self, nodes: &mut [Node], labels: &[(usize, String)], end: &str, at: &mut usize, used: &mut bool) {
        for node in nodes {
            *at += 1;
            match node {
                Node::Line(text) if text.ends_with(['\u{4}', '\u{6}']) => {
                    let ahead = text.ends_with('\u{6}');
                    let fitting: Vec<String> =
                        labels.iter().filter(|(place, _)| !ahead || place > at).map(|(_, name)| name.clone()).collect();
                    let target = if fitting.is_empty() { end.to_string() } else { self.pick(&fitting) };
                    *used |= target == end;
                    *text = format!("goto {target}");
                }
                Node::Line(_) => {}
                Node::Block(block) => block.parts.iter_mut().for_each(|part| self.aim(part, labels, end, at, used)),
            }
        }
    }

    fn local_variables(&mut self) {
        for i in 0..1 + self.below(2) {
            let mark = self.written.mark();
            let (node, variable) = self.variable(&format!("l{i}"), Scope::Process);
            self.written.back_to(mark);
            self.body.declarations.push(node);
            self.body.locals.push(variable);
        }
        if self.on.channels && self.chance(30) {
            let signature = self.below(self.signatures.len());
            let (node, channel) = self.channel("own", signature, 1);
            self.body.declarations.push(node);
            self.body.channels.push(channel);
        }
        if !self.channels.is_empty() && self.chance(20) {
            let channel = self.pick(&self.channels.clone());
            let name = self.fresh("same");
            let text = self.channel_text(&channel);
            self.body.declarations.push(Node::line(format!("chan {name} = {text}")));
            self.body.channels.push(Channel { name, length: 1, capacity: None, ..channel });
        }
    }

    /// Starts what is not active, at once or as others end.
    fn init(&mut self, most: usize) -> Node {
        self.body = Body { number: self.kinds.len(), ..Body::default() };
        self.written.enter("init");
        let passive: Vec<usize> = (0..self.kinds.len()).filter(|&n| self.kinds[n].active == 0).collect();
        let mut starts = Vec::new();
        for number in passive {
            starts.extend(self.start(number));
        }
        let rest = self.body_of("init", most);
        let declared = rest.iter().take_while(|node| is_declaration(node)).count();
        self.written.leave();
        let mut nodes = rest[..declared].to_vec();
        match self.chance(50) && !starts.is_empty() {
            true => nodes.push(Node::braces("atomic", starts)),
            false => nodes.extend(starts),
        }
        nodes.extend_from_slice(&rest[declared..]);
        Node::braces("init", nodes)
    }
}

/// The labels that can be jumped to, each with its place: those that are in no d_step.
fn collect(nodes: &[Node], in_step: bool, at: &mut usize, labels: &mut Vec<(usize, String)>) {
    for node in nodes {
        *at += 1;
        match node {
            Node::Line(text) if !in_step => labels.extend(text.strip_suffix(':').map(|name| (*at, name.to_string()))),
            Node::Line(_) => {}
            Node::Block(block) => {
                let in_step = in_step || block.head == "d_step";
                block.parts.iter().for_each(|part| collect(part, in_step, at, labels));
            }
        }
    }
}

fn is_unless(node: &Node) -> bool {
    matches!(node, Node::Block(block) if block.form == Form::Unless)
}

pub(super) fn is_declaration(node: &Node) -> bool {
    let types =
        ["bit ", "bool ", "byte ", "pid ", "short ", "int ", "unsigned ", "mtype", "chan ", "Plain ", "xr ", "xs "];
    matches!(node, Node::Line(text) if types.iter().any(|of| text.starts_with(of)))
}
