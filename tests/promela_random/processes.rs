//! The processes of a program: which there are, and how their bodies are put together.

use super::declarations::Scope;
use super::features::Feature;
use super::tree::{Form, Node, Program};
use super::{Body, Channel, Kind, Maker, Mode, Parameter, Place, Type};

impl Maker {
    pub(super) fn program(&mut self) -> Program {
        // No process is being written: initial values must not read what only a process has.
        let mut nodes = self.declarations();
        let with_init = self.on.has(Feature::Init);
        let instances = self.plan(with_init);
        // Few processes may be long, many must be short, or there are too many states.
        let most = match instances {
            0..=1 => 14,
            2 => 9,
            3 => 6,
            _ => 4,
        };
        for number in 0..self.kinds.len() {
            nodes.push(self.process(number, most));
        }
        if with_init {
            nodes.push(self.init(most));
        }
        Program(nodes)
    }

    /// Decides on the proctypes; answers how many instances there will be at the same time, about.
    fn plan(&mut self, with_init: bool) -> usize {
        let mut instances = with_init as usize;
        for number in 0..2 + self.below(2) {
            let active = match () {
                _ if with_init && self.chance(60) => 0,
                _ if instances < 2 && self.uses(Feature::SeveralInstances, 40) => 2,
                _ => 1,
            };
            let mut parameters = Vec::new();
            if self.on.has(Feature::Parameters) && self.chance(60) {
                parameters.push(Parameter::Value(self.parameter_type()));
            }
            // Nobody gives a process that is active from the beginning its channels.
            if active == 0 && !self.channels.is_empty() && self.on.has(Feature::ChannelParameters) && self.chance(70) {
                let signature = self.pick(&self.channels.clone()).signature;
                parameters.push(Parameter::Channel(signature));
            }
            let labelled = active == 1 && self.on.has(Feature::RemoteReference);
            self.kinds.push(Kind { name: format!("P{number}"), active, parameters, labelled });
            instances += active.max(1);
        }
        instances
    }

    fn parameter_type(&mut self) -> Type {
        loop {
            match self.any_type() {
                Type::Unsigned(_) => {}
                of => return of,
            }
        }
    }

    fn process(&mut self, number: usize, most: usize) -> Node {
        self.body = Body { number, ..Body::default() };
        let kind = self.kinds[number].clone();
        let mut parameters = Vec::new();
        for (i, parameter) in kind.parameters.iter().enumerate() {
            let name = format!("p{i}");
            parameters.push(match *parameter {
                Parameter::Value(of) => {
                    let text = of.declare(&name);
                    self.body.locals.push(Place { prefix: name, length: 1, suffix: String::new(), of });
                    text
                }
                Parameter::Channel(signature) => {
                    let text = format!("chan {name}");
                    self.body.channels.push(Channel { name, length: 1, signature, capacity: None });
                    text
                }
            });
        }
        let active = match kind.active {
            0 => String::new(),
            1 => "active ".to_string(),
            n => format!("active [{n}] "),
        };
        let provided = match self.uses(Feature::Provided, 25) {
            true => format!(" provided ({})", self.global_condition()),
            false => String::new(),
        };
        let nodes = self.body_of(most, kind.labelled);
        Node::braces(format!("{active}proctype {}({}){provided}", kind.name, parameters.join("; ")), nodes)
    }

    fn global_condition(&mut self) -> String {
        let places = self.globals.clone();
        let place = self.pick(&places);
        let (text, value) = (self.fixed(&place), self.constant(place.of));
        format!("{text} != {value}")
    }

    fn body_of(&mut self, most: usize, labelled: bool) -> Vec<Node> {
        self.local_variables();
        self.body.slots = 1 + most / 3 + self.below(most);
        let slots = self.body.slots;
        let here = self.below(slots);
        let mut statements = Vec::new();
        for slot in 0..slots {
            self.body.slot = slot;
            statements.push(self.statement(Mode::Plain, 0, true));
        }
        let mut nodes = Vec::new();
        for (slot, group) in statements.into_iter().enumerate() {
            if self.body.targets.contains(&slot) {
                nodes.push(Node::line(format!("L{slot}:")));
            }
            if labelled && slot == here {
                nodes.push(Node::line("here:"));
            }
            if slot + 1 == slots && self.uses(Feature::EndLabels, 20) {
                nodes.push(Node::line(format!("{}:", self.fresh("end"))));
            }
            let labelled = nodes.last().is_some_and(is_label);
            match group.first() {
                // SPIN wants the braces.
                Some(Node::Block(block)) if labelled && block.form == Form::Unless => {
                    nodes.push(Node::braces("", group))
                }
                _ => nodes.extend(group),
            }
        }
        // Some go round for ever, others end.
        if self.on.has(Feature::Do) && !nodes.iter().any(is_label) && self.chance(35) {
            let leave = vec![Node::line(self.pure_condition()), Node::line("break")];
            nodes = vec![Node::block(Form::Do, vec![nodes, leave])];
            self.note(Feature::Do);
            if self.uses(Feature::EndLabels, 50) {
                nodes.insert(0, Node::line(format!("{}:", self.fresh("end"))));
            }
        }
        let mut declarations = std::mem::take(&mut self.body.declarations);
        declarations.extend(nodes);
        declarations
    }

    fn local_variables(&mut self) {
        for i in 0..1 + self.below(2) {
            let (node, place) = self.variable(&format!("l{i}"), Scope::Process);
            self.body.declarations.push(node);
            self.body.locals.push(place);
        }
        let any = (self.on.has(Feature::Rendezvous), self.on.has(Feature::Buffered));
        if any != (false, false) && self.uses(Feature::LocalChannels, 40) {
            let capacity = if any.1 { 1 } else { 0 };
            let signature = self.below(self.signatures.len());
            let name = self.fresh("own");
            let text = format!("chan {name} = [{capacity}] of {{ {} }}", self.fields(signature));
            self.body.declarations.push(Node::line(text));
            self.body.channels.push(Channel { name, length: 1, signature, capacity: Some(capacity) });
        }
        if !self.channels.is_empty() && self.uses(Feature::ChannelVariables, 40) {
            let channel = self.pick(&self.channels.clone());
            let name = self.fresh("same");
            let text = format!("chan {name} = {}", self.channel_text(&channel));
            self.body.declarations.push(Node::line(text));
            self.body.channels.push(Channel { name, length: 1, capacity: None, ..channel });
        }
    }

    /// Starts what is not active, at once or as others end.
    fn init(&mut self, most: usize) -> Node {
        self.note(Feature::Init);
        self.body = Body { number: self.kinds.len(), ..Body::default() };
        let passive: Vec<usize> = (0..self.kinds.len()).filter(|&n| self.kinds[n].active == 0).collect();
        let rest = self.body_of(most.min(3), false);
        let declared = rest.iter().take_while(|node| is_declaration(node)).count();
        let mut starts = Vec::new();
        for number in passive {
            if let Some(call) = self.call(number) {
                starts.push(self.start(&call));
            }
        }
        let mut nodes = rest[..declared].to_vec();
        if self.uses(Feature::RunAtomically, 60) {
            nodes.push(Node::braces("atomic", starts));
        } else {
            nodes.extend(starts);
        }
        if self.on.has(Feature::Run) && self.on.has(Feature::ProcessCount) && self.chance(40) {
            self.note(Feature::ProcessCount);
            let number = self.below(self.kinds.len());
            nodes.push(Node::line(format!("_nr_pr < {}", 2 + self.below(2))));
            if let Some(call) = self.call(number) {
                nodes.push(self.start(&call));
            }
        }
        nodes.extend_from_slice(&rest[declared..]);
        Node::braces("init", nodes)
    }
}

fn is_label(node: &Node) -> bool {
    matches!(node, Node::Line(text) if text.ends_with(':'))
}

fn is_declaration(node: &Node) -> bool {
    let types = ["bit ", "bool ", "byte ", "short ", "int ", "unsigned ", "mtype ", "chan "];
    matches!(node, Node::Line(text) if types.iter().any(|of| text.starts_with(of)))
}
