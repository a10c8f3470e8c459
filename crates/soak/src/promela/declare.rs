//! What stands before the processes: types, variables, channels, inlines and macros.

use super::tree::Node;
use super::{Channel, Field, MTYPES, Maker, NAMED, Type, Variable};

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
            Type::Pid => format!("pid {name}"),
            Type::Short => format!("short {name}"),
            Type::Int => format!("int {name}"),
            Type::Unsigned(bits) => format!("unsigned {name} : {bits}"),
            Type::Mtype => format!("mtype {name}"),
            Type::Named => format!("mtype:way {name}"),
        }
    }

    /// Is it a name and not a number?
    pub(super) fn is_word(self) -> bool {
        matches!(self, Type::Mtype | Type::Named)
    }
}

impl Maker<'_> {
    pub(super) fn declarations(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        if self.on.mtypes {
            self.written.leaf("mtype");
            self.written.leaf("named mtype");
            nodes.push(Node::line(format!("mtype = {{ {} }}", MTYPES.join(", "))));
            nodes.push(Node::line(format!("mtype:way = {{ {} }}", NAMED.join(", "))));
        }
        if self.chance(40) {
            self.macros = true;
            self.written.leaf("define");
            nodes.push(Node::line("#define TURN(variable) variable = 1 - (variable & 1)"));
            nodes.push(Node::line("#define LIMIT 2"));
        }
        for _ in 0..2 + self.below(3) {
            let name = self.fresh("g");
            let (node, variable) = self.variable(&name, Scope::Global);
            nodes.push(node);
            self.globals.push(variable);
        }
        if self.on.hidden {
            self.inside("variable declaration", |maker| maker.written.leaf("hidden"));
            nodes.push(Node::line("hidden byte unseen"));
        }
        if self.on.running {
            nodes.push(Node::line("byte started"));
        }
        if self.on.channels {
            self.signatures();
        }
        if self.on.records {
            nodes.extend(self.records());
        }
        if self.on.channels {
            nodes.extend(self.channel_declarations());
        }
        nodes
    }

    pub(super) fn any_type(&mut self) -> Type {
        let bits = 1 + self.below(5) as u32;
        let mut types = vec![
            Type::Bit,
            Type::Bool,
            Type::Byte,
            Type::Byte,
            Type::Byte,
            Type::Pid,
            Type::Short,
            Type::Int,
            Type::Unsigned(bits),
        ];
        if self.on.mtypes {
            types.extend([Type::Mtype, Type::Mtype, Type::Named]);
        }
        self.pick(&types)
    }

    /// A type that messages and parameters may have.
    pub(super) fn message_type(&mut self) -> Type {
        loop {
            match self.any_type() {
                Type::Unsigned(_) => {}
                of => return of,
            }
        }
    }

    /// A variable or an array, with or without an initial value; that of a local variable may be an expression.
    pub(super) fn variable(&mut self, name: &str, scope: Scope) -> (Node, Variable) {
        let of = self.any_type();
        // SPIN has no arrays of unsigned.
        let array = self.on.arrays && !matches!(of, Type::Unsigned(_)) && self.chance(35);
        let production = match (array, scope) {
            (true, _) => "array declaration",
            (false, Scope::Global) => "variable declaration",
            (false, _) => "declaration",
        };
        let length = if array { 2 + self.below(2) } else { 1 };
        let size = if self.chance(20) { format!("{} + 1", length - 1) } else { length.to_string() };
        let text = if array { of.declare(&format!("{name}[{size}]")) } else { of.declare(name) };
        self.written.enter(production);
        let seen = match self.below(12) {
            0 if scope == Scope::Global && !array => "show ",
            1 if scope == Scope::Global && !array => "local ",
            _ => "",
        };
        if !seen.is_empty() {
            self.written.leaf(seen.trim());
        }
        let value = match () {
            _ if !self.chance(50) => String::new(),
            _ if array && scope != Scope::Block && self.chance(60) => {
                let values: Vec<String> = (0..length).map(|_| self.constant(of)).collect();
                format!(" = {{ {} }}", values.join(", "))
            }
            _ if scope != Scope::Global && matches!(of, Type::Short | Type::Int) && !array && self.chance(90) => {
                let before = std::mem::replace(&mut self.body.no_remote, true);
                let value = self.inside("initial value", |maker| maker.given(of));
                self.body.no_remote = before;
                format!(" = {value}")
            }
            _ => {
                if scope == Scope::Global && !array {
                    self.written.leaf("initial value");
                }
                format!(" = {}", self.constant(of))
            }
        };
        self.written.leave();
        let variable = Variable { prefix: name.to_string(), length, suffix: String::new(), of };
        (Node::line(format!("{seen}{text}{value}")), variable)
    }

    /// Two record types, one inside the other, and variables of the outer one; the inner one may hold a channel.
    fn records(&mut self) -> Vec<Node> {
        self.written.leaf("typedef");
        let (first, second, third) = (self.any_type(), Type::Byte, self.any_type());
        let mut inner = vec![Node::line(first.declare("ia")), Node::line(second.declare("ib[2]"))];
        // A record that is a message may not have channels that are made.
        let with_channel =
            self.on.channels && self.chance(40) && !self.signatures.iter().flatten().any(|f| *f == Field::Record);
        if with_channel {
            inner.push(Node::line(format!("chan ic = [1] of {{ {} }}", self.fields(0))));
        }
        let outer = vec![Node::line("Inner in"), Node::line(third.declare("oa"))];
        let array = self.on.arrays && self.chance(50);
        self.written.leaf("record declaration");
        let (name, length) = if array { ("rec[2]", 2) } else { ("rec", 1) };
        for (prefix, length, suffix, of) in [
            ("rec", length, ".in.ia", first),
            ("rec", length, ".oa", third),
            (if array { "rec[1].in.ib" } else { "rec.in.ib" }, 2, "", second),
        ] {
            self.globals.push(Variable { prefix: prefix.into(), length, suffix: suffix.into(), of });
        }
        if with_channel {
            let name = if array { "rec[1].in.ic" } else { "rec.in.ic" };
            self.channels.push(Channel { name: name.into(), length: 1, signature: 0, capacity: Some(1) });
        }
        vec![
            Node::braces("typedef Inner", inner),
            Node::braces("typedef Outer", outer),
            Node::braces("typedef Plain", vec![Node::line("byte pa"), Node::line("bit pb")]),
            Node::line(format!("Outer {name}")),
            Node::line("Plain whole"),
        ]
    }

    fn signatures(&mut self) {
        let plain = self.signature();
        self.signatures.push(plain);
        if self.on.travelling {
            let of = Field::Value(self.message_type());
            self.signatures.push(vec![of, Field::Channel(0)]);
        }
        if self.on.records && self.chance(40) {
            self.signatures.push(vec![Field::Record]);
        }
        if self.chance(40) {
            let other = self.signature();
            self.signatures.push(other);
        }
    }

    fn signature(&mut self) -> Vec<Field> {
        (0..1 + self.below(2)).map(|_| Field::Value(self.message_type())).collect()
    }

    fn channel_declarations(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        for number in 0..1 + self.below(3) {
            // One of the first signature must be there for others to carry.
            let signature = if number == 0 { 0 } else { self.below(self.signatures.len()) };
            let length = if self.on.arrays && self.chance(35) { 2 } else { 1 };
            let (node, channel) = self.channel("c", signature, length);
            nodes.push(node);
            self.channels.push(channel);
        }
        nodes
    }

    /// A channel of its own.
    pub(super) fn channel(&mut self, stem: &str, signature: usize, length: usize) -> (Node, Channel) {
        self.written.leaf("channel declaration");
        let record = self.signatures[signature].contains(&Field::Record);
        let capacity = match self.on.rendezvous && !record {
            true => self.below(3),
            false => 1 + self.below(2),
        };
        let name = self.fresh(stem);
        let text = if length > 1 { format!("{name}[{length}]") } else { name.clone() };
        let size = if capacity == 2 && self.chance(30) { "1 + 1".to_string() } else { capacity.to_string() };
        let node = Node::line(format!("chan {text} = [{size}] of {{ {} }}", self.fields(signature)));
        (node, Channel { name, length, signature, capacity: Some(capacity) })
    }

    /// The fields of a signature as in a declaration.
    pub(super) fn fields(&self, signature: usize) -> String {
        let word = |field: &Field| match field {
            Field::Value(of) => of.declare("").trim().to_string(),
            Field::Channel(_) => "chan".to_string(),
            Field::Record => "Plain".to_string(),
        };
        self.signatures[signature].iter().map(word).collect::<Vec<_>>().join(", ")
    }
}
