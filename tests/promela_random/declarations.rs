//! Types, variables, channels, inlines and macros that a program declares.

use super::features::Feature;
use super::tree::Node;
use super::{Channel, Field, MTYPES, Maker, Place, Type};

/// Where a variable is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Global,
    Process,
    Block,
}

impl Type {
    /// As in a declaration, around the name.
    pub(super) fn declare(self, name: &str) -> String {
        match self {
            Type::Bit => format!("bit {name}"),
            Type::Bool => format!("bool {name}"),
            Type::Byte => format!("byte {name}"),
            Type::Short => format!("short {name}"),
            Type::Int => format!("int {name}"),
            Type::Unsigned(bits) => format!("unsigned {name} : {bits}"),
            Type::Mtype => format!("mtype {name}"),
        }
    }
}

impl Maker {
    /// Everything that stands before the processes.
    pub(super) fn declarations(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        if self.on.has(Feature::Mtype) {
            nodes.push(Node::line(format!("mtype = {{ {} }}", MTYPES.join(", "))));
        }
        if self.uses(Feature::Macro, 100) {
            nodes.push(Node::line("#define TURN(variable) variable = 1 - (variable & 1)"));
            nodes.push(Node::line("#define LIMIT 2"));
            self.macros.push("TURN".into());
        }
        for _ in 0..1 + self.below(3) {
            let name = self.fresh("g");
            let (node, place) = self.variable(&name, Scope::Global);
            nodes.push(node);
            self.globals.push(place);
        }
        if self.uses(Feature::Records, 100) {
            nodes.extend(self.record());
        }
        if self.on.has(Feature::Run) {
            nodes.push(Node::line("byte started"));
        }
        nodes.extend(self.channel_declarations());
        if self.on.has(Feature::Inline) {
            nodes.push(self.inline());
        }
        nodes
    }

    pub(super) fn any_type(&mut self) -> Type {
        let unsigned = if self.on.has(Feature::Unsigned) { 3 } else { 0 };
        let mtype = if self.on.has(Feature::Mtype) { 3 } else { 0 };
        let bits = 1 + self.below(5) as u32;
        let of = self.weighted(&[
            (3, Type::Bit),
            (2, Type::Bool),
            (5, Type::Byte),
            (2, Type::Short),
            (2, Type::Int),
            (unsigned, Type::Unsigned(bits)),
            (mtype, Type::Mtype),
        ]);
        match of {
            Type::Unsigned(_) => self.note(Feature::Unsigned),
            Type::Mtype => self.note(Feature::Mtype),
            _ => {}
        }
        of
    }

    /// A variable or an array, with or without an initial value; that of a local variable may be an expression.
    pub(super) fn variable(&mut self, name: &str, scope: Scope) -> (Node, Place) {
        let of = self.any_type();
        // SPIN has no arrays of unsigned.
        let array = !matches!(of, Type::Unsigned(_)) && self.uses(Feature::Arrays, 30);
        let length = if array { 2 + self.below(2) } else { 1 };
        let text = if array { of.declare(&format!("{name}[{length}]")) } else { of.declare(name) };
        let value = match () {
            _ if !self.uses(Feature::Initialisers, 50) => String::new(),
            _ if array && scope != Scope::Block && self.chance(60) => {
                let values: Vec<String> = (0..length).map(|_| self.constant(of)).collect();
                format!(" = {{ {} }}", values.join(", "))
            }
            _ if scope != Scope::Global && matches!(of, Type::Short | Type::Int) && !array && self.chance(60) => {
                self.body.no_remote = true;
                let value = self.value(of);
                self.body.no_remote = false;
                format!(" = {value}")
            }
            _ => format!(" = {}", self.constant(of)),
        };
        let place = Place { prefix: name.to_string(), length, suffix: String::new(), of };
        (Node::line(format!("{text}{value}")), place)
    }

    /// Two record types, one inside the other, and variables of the outer one.
    fn record(&mut self) -> Vec<Node> {
        let (first, second, third) = (self.any_type(), Type::Byte, self.any_type());
        let inner = vec![Node::line(first.declare("ia")), Node::line(second.declare("ib[2]"))];
        let outer = vec![Node::line("Inner in"), Node::line(third.declare("oa"))];
        let array = self.uses(Feature::Arrays, 50);
        let (name, length) = if array { ("rec[2]", 2) } else { ("rec", 1) };
        let mut add = |prefix: &str, length, suffix: &str, of| {
            self.globals.push(Place { prefix: prefix.into(), length, suffix: suffix.into(), of });
        };
        add("rec", length, ".in.ia", first);
        add("rec", length, ".oa", third);
        add(if array { "rec[1].in.ib" } else { "rec.in.ib" }, 2, "", second);
        vec![
            Node::braces("typedef Inner", inner),
            Node::braces("typedef Outer", outer),
            Node::line(format!("Outer {name}")),
        ]
    }

    fn channel_declarations(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        let plain = self.signature();
        self.signatures.push(plain);
        if self.on.has(Feature::ChannelsInMessages) {
            let of = self.field();
            self.signatures.push(vec![of, Field::Channel(0)]);
        } else if self.chance(50) {
            let other = self.signature();
            self.signatures.push(other);
        }
        for _ in 0..1 + self.below(3) {
            let (rendezvous, buffered) = (self.on.has(Feature::Rendezvous), self.on.has(Feature::Buffered));
            let capacity = match (rendezvous, buffered) {
                (false, false) => return nodes,
                (true, false) => 0,
                (false, true) => 1 + self.below(2),
                (true, true) => self.below(3),
            };
            self.note(if capacity == 0 { Feature::Rendezvous } else { Feature::Buffered });
            let length = if self.uses(Feature::ChannelArrays, 30) { 2 } else { 1 };
            // One of the first signature must be there for others to carry.
            let signature = if self.channels.is_empty() { 0 } else { self.below(self.signatures.len()) };
            let name = self.fresh("c");
            let text = if length > 1 { format!("{name}[{length}]") } else { name.clone() };
            nodes.push(Node::line(format!("chan {text} = [{capacity}] of {{ {} }}", self.fields(signature))));
            self.channels.push(Channel { name, length, signature, capacity: Some(capacity) });
        }
        nodes
    }

    fn signature(&mut self) -> Vec<Field> {
        (0..1 + self.below(2)).map(|_| self.field()).collect()
    }

    fn field(&mut self) -> Field {
        loop {
            match self.any_type() {
                // Not a type that SPIN lets a message have.
                Type::Unsigned(_) => {}
                of => return Field::Value(of),
            }
        }
    }

    /// The fields of a signature as in a declaration.
    pub(super) fn fields(&self, signature: usize) -> String {
        let word = |field: &Field| match field {
            Field::Value(of) => of.declare("").trim().to_string(),
            Field::Channel(_) => "chan".to_string(),
        };
        self.signatures[signature].iter().map(word).collect::<Vec<_>>().join(", ")
    }

    fn inline(&mut self) -> Node {
        let name = self.fresh("change");
        let condition = self.condition();
        let lines = vec![
            Node::line("target_ = (target_ + amount_) & 1"),
            Node::block(
                super::tree::Form::If,
                vec![vec![Node::line(condition), Node::line("target_ = amount_")], vec![Node::line("target_ == 0")]],
            ),
        ];
        self.inlines.push(name.clone());
        Node::braces(format!("inline {name}(target_, amount_)"), lines)
    }
}
