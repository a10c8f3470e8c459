//! DVE expressions at random, over what is known beforehand and over what a model has.

use super::tree::*;
use scrimp_system::Random;

/// What is known before anything runs: constants, parameters, variables of loops.
pub struct Known<'a> {
    /// Constants stand before variables; only they are used.
    pub constants: &'a [Variable],
    pub parameters: usize,
    pub rounds: usize,
}

impl Known<'_> {
    pub fn value(&self, random: &mut Random, depth: usize) -> Expr {
        match random.below(if depth == 0 { 5 } else { 9 }) {
            0 => Expr::Number(number(random)),
            1 => Expr::Truth(random.below(2) == 0),
            2 if self.parameters > 0 => Expr::Parameter(random.below(self.parameters)),
            2 if self.rounds > 0 => Expr::Round(random.below(self.rounds)),
            2..5 => self.reference(random, depth).unwrap_or_else(|| Expr::Number(number(random))),
            5 => Expr::unary(Unary::ALL[random.below(3)], self.value(random, depth - 1)),
            _ => {
                let op = Binary::ALL[random.below(Binary::ALL.len())];
                let a = self.value(random, depth - 1);
                let b = match op {
                    // What cannot be computed is refused.
                    Binary::Divide | Binary::Modulo => Expr::Number(1 + random.below(4) as i64),
                    _ => self.value(random, depth - 1),
                };
                Expr::binary(op, a, b)
            }
        }
    }

    fn reference(&self, random: &mut Random, depth: usize) -> Option<Expr> {
        let candidates: Vec<usize> =
            (0..self.constants.len()).filter(|c| self.constants[*c].kind != Kind::Variable).collect();
        let number = *candidates.get(random.below(candidates.len()))?;
        let index = self.constants[number].size.as_ref().map(|(size, _)| {
            let at = random.below((*size).min(self.constants[number].initial.len()));
            let at = Expr::Number(at as i64);
            Box::new(match random.below(3) {
                0 if depth > 0 => Expr::binary(Binary::Plus, at, Expr::Truth(false)),
                _ => at,
            })
        });
        Some(Expr::Read(Reference { scope: Scope::Global, number, index }))
    }

    /// An expression with this value: with any operator that can give it outermost, or a constant that has it.
    pub fn exactly(&self, random: &mut Random, value: i64) -> Expr {
        let number = || Expr::Number(value);
        let truth = value == 0 || value == 1;
        let other = |e: Expr| Expr::binary(Binary::Times, e, Expr::Number(0));
        match random.below(6) {
            0 if truth => Expr::Truth(value == 1),
            0 | 1 => self.named(random, value).unwrap_or_else(number),
            2 => match Unary::ALL[random.below(3)] {
                Unary::Not if truth => Expr::unary(Unary::Not, Expr::Number(1 - value)),
                Unary::Not => number(),
                op => Expr::unary(op, Expr::unary(op, number())),
            },
            3 | 4 => {
                let op = Binary::ALL[random.below(Binary::ALL.len())];
                match op {
                    Binary::BitOr | Binary::BitAnd => Expr::binary(op, number(), number()),
                    Binary::BitXor | Binary::ShiftLeft | Binary::ShiftRight => {
                        Expr::binary(op, number(), Expr::Number(0))
                    }
                    Binary::Plus => Expr::binary(op, number(), other(self.value(random, 1))),
                    Binary::Minus => Expr::binary(op, Expr::Number(value + 3), Expr::Number(3)),
                    Binary::Times | Binary::Divide => Expr::binary(op, number(), Expr::Number(1)),
                    Binary::Modulo => Expr::binary(op, number(), Expr::Number(value + 1)),
                    op if truth => decided(op, self.value(random, 1), value == 1),
                    _ => number(),
                }
            }
            _ => number(),
        }
    }

    /// A constant, or an element of one, with this value.
    fn named(&self, random: &mut Random, value: i64) -> Option<Expr> {
        let mut found = Vec::new();
        for (number, constant) in self.constants.iter().enumerate().filter(|(_, c)| c.kind != Kind::Variable) {
            let index = |at: usize| Some(Box::new(Expr::Number(at as i64)));
            let read = |index| Expr::Read(Reference { scope: Scope::Global, number, index });
            match &constant.size {
                Some((size, _)) => found.extend((0..*size).map(|at| read(index(at)))),
                None => found.push(read(None)),
            }
        }
        found.retain(|e| self.constant(e, &[]) == value);
        found.get(random.below(found.len())).cloned()
    }

    /// The value of an expression over constants and the variables of loops.
    pub fn constant(&self, e: &Expr, rounds: &[i64]) -> i64 {
        let model = Model {
            variables: self.constants.to_vec(),
            channels: Vec::new(),
            bodies: Vec::new(),
            items: Vec::new(),
            expressions: Vec::new(),
            property: None,
            processes: Vec::new(),
            questions: Vec::new(),
            style: 0,
            before: Vec::new(),
        };
        let interpreter = super::interpret::Interpreter::new(&model, false);
        let e = with_rounds(e, rounds);
        interpreter.eval(&e, &crate::oracle::graph::Meaning::initial(&interpreter), None).unwrap_or(0)
    }
}

/// A logical operator that is true, or false, whatever the operand is.
fn decided(op: Binary, any: Expr, value: bool) -> Expr {
    let (zero, four) = (Expr::Number(0), Expr::Number(4));
    let again = any.clone();
    match (op, value) {
        (Binary::Equal | Binary::LessEqual | Binary::GreaterEqual, true) => Expr::binary(op, any, again),
        (Binary::NotEqual | Binary::Less | Binary::Greater, false) => Expr::binary(op, any, again),
        (Binary::Equal | Binary::GreaterEqual, false) | (Binary::NotEqual | Binary::Less, true) => {
            Expr::binary(op, zero, four)
        }
        (Binary::LessEqual, false) | (Binary::Greater, true) => Expr::binary(op, four, zero),
        (Binary::Or, true) => Expr::binary(op, four, any),
        (Binary::Or, false) => Expr::binary(op, zero.clone(), zero),
        (Binary::And, true) => Expr::binary(op, four.clone(), four),
        (Binary::And, false) => Expr::binary(op, zero, any),
        (_, true) => Expr::binary(Binary::Imply, zero, any),
        (_, false) => Expr::binary(Binary::Imply, four, zero),
    }
}

/// The expression with the variables of loops replaced by their values.
fn with_rounds(e: &Expr, rounds: &[i64]) -> Expr {
    if let Expr::Round(number) = e {
        return Expr::Number(rounds[*number]);
    }
    let mut e = e.clone();
    e.parts_mut().into_iter().for_each(|part| *part = with_rounds(part, rounds));
    e
}

/// Small numbers mostly, and those at the edges of types.
fn number(random: &mut Random) -> i64 {
    match random.below(12) {
        0 => [127, 128, 255, 256, 257, 32767, 32768, 65535, 65536][random.below(9)],
        _ => random.below(5) as i64,
    }
}

/// Writes what stands in a body, or outside all.
pub struct Writer<'m> {
    model: &'m Model,
    body: Option<usize>,
    in_property: bool,
}

impl<'m> Writer<'m> {
    pub fn new(model: &'m Model, body: Option<usize>) -> Writer<'m> {
        Writer { model, body, in_property: false }
    }

    /// In a property, channels can be looked into.
    pub fn for_properties(self) -> Writer<'m> {
        Writer { in_property: true, ..self }
    }

    fn parameters(&self) -> usize {
        self.body.map_or(0, |body| self.model.bodies[body].parameters.len())
    }

    /// Something of which truth is asked, mostly a comparison.
    pub fn condition(&self, random: &mut Random) -> Expr {
        match random.below(8) {
            0..3 => {
                let op = [Binary::Equal, Binary::NotEqual, Binary::Less, Binary::LessEqual, Binary::Greater]
                    [random.below(5)];
                Expr::binary(op, self.value(random, 1), Expr::Number(random.below(3) as i64))
            }
            3 => self.location(random),
            _ => self.value(random, 3),
        }
    }

    pub fn value(&self, random: &mut Random, depth: usize) -> Expr {
        match random.below(if depth == 0 { 7 } else { 13 }) {
            0 => Expr::Number(number(random)),
            1 if random.below(3) == 0 => Expr::Truth(random.below(2) == 0),
            1 | 2 if self.in_property && random.below(3) > 0 => self.looked_into(random, depth),
            1 if self.parameters() > 0 => Expr::Parameter(random.below(self.parameters())),
            2 if random.below(2) == 0 => self.location(random),
            1..7 => match self.reference(random, depth, false) {
                Some(reference) => Expr::Read(reference),
                None => Expr::Number(number(random)),
            },
            7..9 => match (Unary::ALL[random.below(3)], self.value(random, depth - 1)) {
                // `~p` is "not p" in other languages: of a condition, a property does not have it.
                (Unary::Complement, a) if self.in_property && a.is_condition() => Expr::unary(Unary::Minus, a),
                (op, a) => Expr::unary(op, a),
            },
            _ => {
                let op = Binary::ALL[random.below(Binary::ALL.len())];
                let a = self.value(random, depth - 1);
                let b = match op {
                    Binary::Divide | Binary::Modulo if random.below(2) == 0 => Expr::Number(1 + random.below(4) as i64),
                    _ => self.value(random, depth - 1),
                };
                Expr::binary(op, a, b)
            }
        }
    }

    fn looked_into(&self, random: &mut Random, depth: usize) -> Expr {
        let buffered: Vec<usize> =
            (0..self.model.channels.len()).filter(|c| self.model.channels[*c].room() > 0).collect();
        let Some(channel) = buffered.get(random.below(buffered.len())) else { return self.location(random) };
        let declared = &self.model.channels[*channel];
        if random.below(2) == 0 {
            return Expr::Waiting(*channel);
        }
        let component = random.below(declared.types.as_ref().map_or(0, Vec::len));
        Expr::Message(*channel, component, Box::new(self.index(random, depth, declared.room())))
    }

    fn location(&self, random: &mut Random) -> Expr {
        // The one that watches is not there where the others are asked about.
        let count = self.model.processes.len() - (self.model.watcher().is_some()) as usize;
        let process = random.below(count);
        Expr::At(process, random.below(self.model.body(process).states.len()))
    }

    /// An index that is often in range.
    fn index(&self, random: &mut Random, depth: usize, size: usize) -> Expr {
        match random.below(7) {
            0 => Expr::Number(random.below(size + 1) as i64),
            1 if depth > 0 => Expr::binary(Binary::Modulo, self.value(random, depth - 1), Expr::Number(size as i64)),
            2 => self.value(random, depth.saturating_sub(1)),
            3 => self.location(random),
            _ => Expr::Number(random.below(size) as i64),
        }
    }

    /// A variable or element; where it is stored into, no constant.
    fn reference(&self, random: &mut Random, depth: usize, stored: bool) -> Option<Reference> {
        let own = self.body.map(|body| &self.model.bodies[body].variables);
        let hidden = |name: &str| own.is_some_and(|own| own.iter().any(|v| v.name == name));
        let mut found: Vec<(Scope, usize, &Variable)> = Vec::new();
        for (number, variable) in self.model.variables.iter().enumerate().filter(|(_, v)| !hidden(&v.name)) {
            found.push((Scope::Global, number, variable));
        }
        for (number, variable) in own.into_iter().flatten().enumerate() {
            found.extend([(Scope::Own, number, variable), (Scope::Own, number, variable)]);
        }
        let watcher = self.model.watcher();
        for process in (0..self.model.processes.len()).filter(|p| Some(*p) != watcher) {
            if self.body.is_none() || random.below(3) == 0 {
                let variables = self.model.body(process).variables.iter().enumerate();
                found.extend(variables.map(|(number, v)| (Scope::Of(process), number, v)));
            }
        }
        found.retain(|(_, _, v)| !stored || v.kind == Kind::Variable);
        let &(scope, number, variable) = found.get(random.below(found.len()))?;
        let index = match &variable.size {
            // In properties every element has its index.
            Some(_) if !self.in_property && variable.kind == Kind::Variable && random.below(8) == 0 => None,
            Some((size, _)) => Some(Box::new(self.index(random, depth, *size))),
            None => None,
        };
        Some(Reference { scope, number, index })
    }

    /// An assignment whose values are mostly small.
    pub fn effect(&self, random: &mut Random) -> (Reference, Expr) {
        let target = self.target(random);
        let e = match random.below(6) {
            0 => Expr::Number(random.below(4) as i64),
            1 => Expr::binary(Binary::BitAnd, self.value(random, 2), Expr::Number([1, 3][random.below(2)])),
            2 => Expr::binary(Binary::Modulo, self.value(random, 2), Expr::Number(2 + random.below(3) as i64)),
            3 => Expr::binary(Binary::Minus, Expr::Number(1 + random.below(2) as i64), Expr::Read(target.clone())),
            _ => self.value(random, 2),
        };
        (target, e)
    }

    fn target(&self, random: &mut Random) -> Reference {
        let global = self.model.variables.iter().position(|v| v.kind == Kind::Variable).unwrap_or(0);
        let fallback = Reference { scope: Scope::Global, number: global, index: None };
        self.reference(random, 2, true).unwrap_or(fallback)
    }

    pub fn sync(&self, random: &mut Random) -> Option<Sync> {
        if self.model.channels.is_empty() || random.below(2) == 0 {
            return None;
        }
        let channel = random.below(self.model.channels.len());
        let count = match &self.model.channels[channel].types {
            Some(types) => types.len(),
            // All uses of an untyped channel pass equally many.
            None => 1,
        };
        let count = if random.below(6) == 0 { 0 } else { count };
        let passed = match random.below(2) {
            0 => Passed::Sent((0..count).map(|_| self.sent(random)).collect()),
            _ => Passed::Received((0..count).map(|_| self.target(random)).collect()),
        };
        Some(Sync { channel, passed })
    }

    fn sent(&self, random: &mut Random) -> Expr {
        match random.below(3) {
            0 => Expr::Number(random.below(3) as i64),
            _ => self.value(random, 2),
        }
    }
}
