//! Expressions as C: text, and the range of the value, which says whether 32 bits are enough for it.
//!
//! A [`Writer`] writes the body of one function. What can go wrong (an index outside its array, a division by zero) is tested by
//! statements written before the expression is used, in the order in which the expression is evaluated, and leaves the
//! function by `return`. What is never wrong stays one expression.

use crate::packing::{Field, Packing};
use scrimp_system::{BinaryOp, Expr, Fault, System, UnaryOp, VarId};
use std::fmt::Write;
use std::sync::Arc;

/// An expression of type `int` if all its values fit, and of type `i64` if not.
#[derive(Debug, Clone)]
pub struct Term {
    pub text: String,
    pub low: i64,
    pub high: i64,
}

impl Term {
    pub fn constant(value: i64) -> Term {
        let text = match value {
            i64::MIN => "(-9223372036854775807LL - 1)".to_string(),
            _ if i32::try_from(value).is_err() => format!("({value}LL)"),
            // The least number of 32 bits is not one that C can write.
            _ if value == i32::MIN as i64 => "(-2147483647 - 1)".to_string(),
            _ if value < 0 => format!("({value})"),
            _ => value.to_string(),
        };
        Term { text, low: value, high: value }
    }

    fn new(text: String, (low, high): (i64, i64)) -> Term {
        Term { text, low, high }
    }

    fn truth(text: String) -> Term {
        Term { text, low: 0, high: 1 }
    }

    fn range(&self) -> (i64, i64) {
        (self.low, self.high)
    }

    pub fn is_wide(&self) -> bool {
        !fits(self.range())
    }

    pub fn is_constant(&self) -> bool {
        self.low == self.high
    }

    pub fn within(&self, low: i64, high: i64) -> bool {
        low <= self.low && self.high <= high
    }

    /// As an expression of 64 bits.
    fn widened(&self) -> String {
        format!("(i64){}", self.text)
    }
}

const ANY: (i64, i64) = (i64::MIN, i64::MAX);

fn fits((low, high): (i64, i64)) -> bool {
    low >= i32::MIN as i64 && high <= i32::MAX as i64
}

/// Tables of constants that functions share.
#[derive(Debug, Default)]
pub struct Tables {
    tables: Vec<Arc<[i64]>>,
}

impl Tables {
    fn number(&mut self, table: &Arc<[i64]>) -> usize {
        self.tables.iter().position(|known| known == table).unwrap_or_else(|| {
            self.tables.push(table.clone());
            self.tables.len() - 1
        })
    }

    /// Their declarations.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (number, table) in self.tables.iter().enumerate() {
            let mut values: Vec<String> = table.iter().map(|value| Term::constant(*value).text).collect();
            if values.is_empty() {
                // Nothing is read there, but an array has an element.
                values.push("0".to_string());
            }
            let kind = if fits(hull(table)) { "int" } else { "i64" };
            let _ = writeln!(out, "TABLE {kind} table_{number}[] = {{{}}};", values.join(", "));
        }
        out
    }
}

fn hull(table: &[i64]) -> (i64, i64) {
    (table.iter().copied().min().unwrap_or(0), table.iter().copied().max().unwrap_or(0))
}

/// Writes the body of a function.
pub struct Writer<'a> {
    system: &'a System,
    packing: &'a Packing,
    tables: &'a mut Tables,
    out: String,
    names: usize,
    /// What is returned with a fault.
    also: &'static str,
}

impl<'a> Writer<'a> {
    pub fn new(system: &'a System, packing: &'a Packing, tables: &'a mut Tables) -> Writer<'a> {
        Writer { system, packing, tables, out: String::new(), names: 0, also: "" }
    }

    /// From now on what is in this variable is returned with a fault.
    pub fn with_faults(&mut self, also: &'static str) {
        self.also = also;
    }

    pub fn line(&mut self, text: impl AsRef<str>) {
        self.out.push_str("  ");
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    pub fn finish(self) -> String {
        self.out
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Gives a term a name, so that it is evaluated once.
    pub fn bound(&mut self, term: Term) -> Term {
        if term.is_constant() || term.text.chars().all(|c| c.is_ascii_alphanumeric()) {
            return term;
        }
        let (name, kind) = (self.name(), if term.is_wide() { "i64" } else { "int" });
        self.line(format!("const {kind} {name} = {};", term.text));
        Term { text: name, ..term }
    }

    pub fn field(&self, v: VarId) -> Field {
        self.packing.field(v)
    }

    /// Leaves the function with a fault where the condition holds.
    pub fn fail_if(&mut self, condition: &str, fault: Fault, more: &str) {
        let also = self.also;
        self.line(format!("if ({condition}) return FAULT({}){more}{also};", fault as u32));
    }

    /// Leaves the function where a variable has no room for a value.
    pub fn outgrown_if(&mut self, condition: &str, variable: VarId) {
        self.line(format!("if ({condition}) return OUTGROWN({});", variable.0));
    }

    /// What is written by `write`, instead of where it would have been written.
    fn aside<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> (String, T) {
        let before = std::mem::take(&mut self.out);
        let value = write(self);
        (std::mem::replace(&mut self.out, before), value)
    }

    /// The value of an expression in a state of this name.
    pub fn term(&mut self, e: &Expr, state: &str) -> Term {
        match e {
            Expr::Const(value) => Term::constant(*value),
            Expr::Var(v) => self.scalar(*v, state),
            Expr::Element(v, index) => {
                let index = self.term(index, state);
                self.element(*v, index, state)
            }
            Expr::Table(table, index) => {
                let index = self.term(index, state);
                let index = self.index(index, table.len());
                let number = self.tables.number(table);
                Term::new(format!("table_{number}[{}]", index.text), hull(table))
            }
            Expr::Unary(op, a) => {
                let a = self.term(a, state);
                unary(*op, a)
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => self.short(*op, a, b, state),
            Expr::Binary(op, a, b) => {
                let a = self.term(a, state);
                let b = self.term(b, state);
                self.binary(*op, a, b)
            }
            Expr::If(c, a, b) => self.choice(c, a, b, state),
        }
    }

    fn short(&mut self, op: BinaryOp, a: &Expr, b: &Expr, state: &str) -> Term {
        let a = self.term(a, state);
        let (tests, b) = self.aside(|writer| writer.term(b, state));
        let (sign, not) = if op == BinaryOp::And { ("&&", "") } else { ("||", "!") };
        if tests.is_empty() {
            return Term::truth(format!("(({}) != 0 {sign} ({}) != 0)", a.text, b.text));
        }
        let name = self.name();
        self.line(format!("int {name} = ({}) != 0;", a.text));
        self.line(format!("if ({not}{name}) {{"));
        self.out.push_str(&tests);
        self.line(format!("{name} = ({}) != 0; }}", b.text));
        Term::truth(name)
    }

    fn choice(&mut self, c: &Expr, a: &Expr, b: &Expr, state: &str) -> Term {
        let c = self.term(c, state);
        let (first, a) = self.aside(|writer| writer.term(a, state));
        let (second, b) = self.aside(|writer| writer.term(b, state));
        let range = (a.low.min(b.low), a.high.max(b.high));
        if first.is_empty() && second.is_empty() {
            let (a, b) = if fits(range) { (a.text, b.text) } else { (a.widened(), b.widened()) };
            return Term::new(format!("(({}) != 0 ? {a} : {b})", c.text), range);
        }
        let (name, kind) = (self.name(), if fits(range) { "int" } else { "i64" });
        self.line(format!("{kind} {name};"));
        self.line(format!("if (({}) != 0) {{", c.text));
        self.out.push_str(&first);
        self.line(format!("{name} = {}; }} else {{", a.text));
        self.out.push_str(&second);
        self.line(format!("{name} = {}; }}", b.text));
        Term::new(name, range)
    }

    pub fn scalar(&self, v: VarId, state: &str) -> Term {
        read(self.packing.field(v), 0, state)
    }

    /// An index that lies inside; leaves the function where it does not.
    pub fn index(&mut self, index: Term, length: usize) -> Term {
        if index.within(0, length as i64 - 1) {
            return self.bound(index);
        }
        let index = self.bound(index);
        let condition = match index.is_wide() {
            true => format!("(u64){} >= {length}ULL", index.text),
            false => format!("(u32){} >= {length}u", index.text),
        };
        self.fail_if(&condition, Fault::Index, "");
        let text = if index.is_wide() { format!("(int){}", index.text) } else { index.text };
        Term { text, low: index.low.max(0), high: index.high.min(length as i64 - 1).max(0) }
    }

    fn element(&mut self, v: VarId, index: Term, state: &str) -> Term {
        let field = self.packing.field(v);
        let cells = self.system.variables[v.index()].cells();
        let index = self.index(index, cells);
        if field.bits == 0 {
            return Term::constant(field.low);
        }
        if index.is_constant() && (0..cells as i64).contains(&index.low) {
            return read(field, index.low as u32, state);
        }
        let (words, per_word, bits) = (field.words(), field.per_word(), field.bits);
        if words == 1 {
            let shift = format!("({} + {} * {bits})", field.shift, index.text);
            return from_bits(field, format!("({state}.w[{}] >> {shift} & {}u)", field.word, field.mask()));
        }
        // A word that is chosen by comparisons stays in a register.
        let which = self.bound(Term::new(format!("({} / {per_word})", index.text), (0, words as i64 - 1)));
        let word = match words {
            2..=8 => {
                let last = format!("{state}.w[{}]", field.word + words - 1);
                (0..words - 1)
                    .rev()
                    .fold(last, |rest, w| format!("({} == {w} ? {state}.w[{}] : {rest})", which.text, field.word + w))
            }
            _ => format!("{state}.w[{} + {}]", field.word, which.text),
        };
        let shift = format!("(({} - {} * {per_word}) * {bits})", index.text, which.text);
        from_bits(field, format!("({word} >> {shift} & {}u)", field.mask()))
    }

    /// Writes a value, for which there is room, into an element.
    pub fn write(&mut self, v: VarId, index: Option<&Term>, value: &Term, state: &str) {
        let field = self.packing.field(v);
        if field.bits == 0 {
            return;
        }
        let bits = match field.low {
            0 => format!("((u32){} & {}u)", value.text, field.mask()),
            low => format!("((u32){} - {}u & {}u)", value.text, low as u32, field.mask()),
        };
        let constant = index.is_none_or(Term::is_constant);
        if constant {
            let (word, shift) = field.place(index.map_or(0, |index| index.low as u32));
            let kept = !(field.mask() << shift);
            self.line(format!("{state}.w[{word}] = ({state}.w[{word}] & {kept}u) | {bits} << {shift};"));
            return;
        }
        let (words, per_word, wide) = (field.words(), field.per_word(), field.bits);
        let Some(index) = index else { return };
        let put = |word: &str, shift: &str| {
            let mask = field.mask();
            format!("{state}.w[{word}] = ({state}.w[{word}] & ~({mask}u << {shift})) | {bits} << {shift};")
        };
        if words == 1 {
            let shift = self.bound(Term::new(format!("({} + {} * {wide})", field.shift, index.text), (0, 31)));
            return self.line(put(&field.word.to_string(), &shift.text));
        }
        let which = self.bound(Term::new(format!("({} / {per_word})", index.text), (0, words as i64 - 1)));
        let shift = format!("(({} - {} * {per_word}) * {wide})", index.text, which.text);
        let shift = self.bound(Term::new(shift, (0, 31)));
        if words > 8 {
            return self.line(put(&format!("{} + {}", field.word, which.text), &shift.text));
        }
        for word in 0..words {
            let place = (field.word + word).to_string();
            self.line(format!("if ({} == {word}) {}", which.text, put(&place, &shift.text)));
        }
    }

    fn binary(&mut self, op: BinaryOp, a: Term, b: Term) -> Term {
        use BinaryOp::*;
        let compared = |sign: &str| Term::truth(format!("({} {sign} {})", a.text, b.text));
        match op {
            Equal => compared("=="),
            NotEqual => compared("!="),
            Less => compared("<"),
            LessEqual => compared("<="),
            Greater => compared(">"),
            GreaterEqual => compared(">="),
            And | Or => unreachable!("evaluated as far as needed"),
            Add | Subtract | Multiply => {
                let (sign, range) = match op {
                    Add => ("+", checked(&a, &b, i64::checked_add)),
                    Subtract => ("-", checked(&a, &b, i64::checked_sub)),
                    _ => ("*", checked(&a, &b, i64::checked_mul)),
                };
                match range {
                    Some(range) if fits(range) && !a.is_wide() && !b.is_wide() => {
                        Term::new(format!("({} {sign} {})", a.text, b.text), range)
                    }
                    Some(range) if fits(range) => {
                        Term::new(format!("(int)({} {sign} {})", a.widened(), b.widened()), range)
                    }
                    Some(range) => Term::new(format!("({} {sign} {})", a.widened(), b.widened()), range),
                    None => Term::new(format!("(i64)((u64){} {sign} (u64){})", a.text, b.text), ANY),
                }
            }
            Divide | Remainder => self.divided(op, a, b),
            ShiftLeft | ShiftRight => {
                let (name, range) = match op {
                    ShiftLeft if a.low >= 0 && a.high < 1 << 31 && b.low >= 0 && b.high < 32 => {
                        ("shifted_left", (0, a.high << b.high))
                    }
                    ShiftLeft => ("shifted_left", ANY),
                    _ if a.low >= 0 => ("shifted_right", (0, a.high)),
                    _ => ("shifted_right", (a.low, a.high.max(0))),
                };
                let text = format!("{name}({}, {})", a.widened(), b.widened());
                Term::new(if fits(range) { format!("(int){text}") } else { text }, range)
            }
            BitAnd | BitOr | BitXor => {
                let (sign, range) = match op {
                    BitAnd => ("&", both_bits(&a, &b)),
                    BitOr => ("|", either_bit(&a, &b)),
                    _ => ("^", either_bit(&a, &b)),
                };
                let text = match (a.is_wide() || b.is_wide(), fits(range)) {
                    (false, _) => format!("({} {sign} {})", a.text, b.text),
                    (true, false) => format!("({} {sign} {})", a.widened(), b.widened()),
                    (true, true) => format!("(int)({} {sign} {})", a.widened(), b.widened()),
                };
                Term::new(text, range)
            }
        }
    }

    /// Rounds towards zero, as C does; by zero it is a fault.
    fn divided(&mut self, op: BinaryOp, a: Term, b: Term) -> Term {
        let b = self.bound(b);
        if b.low <= 0 && b.high >= 0 {
            self.fail_if(&format!("{} == 0", b.text), Fault::Division, "");
        }
        // The one quotient that there is no room for.
        let plain = !a.is_wide() && !b.is_wide() && a.low > i32::MIN as i64;
        let most = a.low.unsigned_abs().max(a.high.unsigned_abs());
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let range = match op {
            BinaryOp::Divide if a.low == i64::MIN => ANY,
            BinaryOp::Divide => (if a.low >= 0 && b.low >= 0 { 0 } else { -most }, most),
            _ => {
                let divisor = b.low.unsigned_abs().max(b.high.unsigned_abs()).saturating_sub(1);
                let rest = most.min(i64::try_from(divisor).unwrap_or(i64::MAX));
                (if a.low >= 0 { 0 } else { -rest }, if a.high <= 0 { 0 } else { rest })
            }
        };
        let sign = if op == BinaryOp::Divide { "/" } else { "%" };
        if plain {
            // Where the divisor may be -1 and the dividend is not the least number, nothing overflows.
            return Term::new(format!("({} {sign} {})", a.text, b.text), range);
        }
        let name = if op == BinaryOp::Divide { "divided" } else { "remainder_of" };
        let text = format!("{name}({}, {})", a.widened(), b.widened());
        Term::new(if fits(range) { format!("(int){text}") } else { text }, range)
    }
}

fn read(field: Field, index: u32, state: &str) -> Term {
    if field.bits == 0 {
        return Term::constant(field.low);
    }
    let (word, shift) = field.place(index);
    let text = match (shift, field.bits) {
        (_, 32) => format!("{state}.w[{word}]"),
        (0, _) => format!("({state}.w[{word}] & {}u)", field.mask()),
        (shift, bits) if shift + bits == 32 => format!("({state}.w[{word}] >> {shift})"),
        (shift, _) => format!("({state}.w[{word}] >> {shift} & {}u)", field.mask()),
    };
    from_bits(field, text)
}

/// The value that bits of a field stand for.
fn from_bits(field: Field, bits: String) -> Term {
    let range = (field.low, field.high);
    let text = match (fits(range), field.low) {
        (true, 0) => format!("(int){bits}"),
        // The sum may pass through numbers that no variable has.
        (true, low) => format!("(int)({bits} + {}u)", low as u32),
        (false, 0) => format!("(i64){bits}"),
        (false, low) => format!("((i64){bits} + {})", Term::constant(low).text),
    };
    Term::new(format!("({text})"), range)
}

fn unary(op: UnaryOp, a: Term) -> Term {
    match op {
        UnaryOp::Not => Term::truth(format!("(({}) == 0)", a.text)),
        UnaryOp::Complement => Term::new(format!("(~{})", a.text), (!a.high, !a.low)),
        UnaryOp::Negate => match (a.high.checked_neg(), a.low.checked_neg()) {
            (Some(low), Some(high)) if fits((low, high)) && !a.is_wide() => {
                Term::new(format!("(-{})", a.text), (low, high))
            }
            (Some(low), Some(high)) if fits((low, high)) => Term::new(format!("(int)(-{})", a.widened()), (low, high)),
            (Some(low), Some(high)) => Term::new(format!("(-{})", a.widened()), (low, high)),
            _ => Term::new(format!("(i64)(0 - (u64){})", a.text), ANY),
        },
    }
}

/// The range of an operator that is greatest and least at the ends of its operands; `None` where it overflows.
fn checked(a: &Term, b: &Term, apply: impl Fn(i64, i64) -> Option<i64>) -> Option<(i64, i64)> {
    let ends = [apply(a.low, b.low)?, apply(a.low, b.high)?, apply(a.high, b.low)?, apply(a.high, b.high)?];
    Some(hull(&ends))
}

fn both_bits(a: &Term, b: &Term) -> (i64, i64) {
    match (a.low >= 0, b.low >= 0) {
        (true, true) => (0, a.high.min(b.high)),
        (true, false) => (0, a.high),
        (false, true) => (0, b.high),
        (false, false) => of_width(a, b),
    }
}

fn either_bit(a: &Term, b: &Term) -> (i64, i64) {
    match a.low >= 0 && b.low >= 0 {
        true => (0, all_ones(a.high.max(b.high))),
        false => of_width(a, b),
    }
}

/// The least number of ones that is not less.
fn all_ones(value: i64) -> i64 {
    (u64::MAX.checked_shr(value.leading_zeros()).unwrap_or(0)) as i64
}

fn of_width(a: &Term, b: &Term) -> (i64, i64) {
    if a.is_wide() || b.is_wide() { ANY } else { (i32::MIN as i64, i32::MAX as i64) }
}
