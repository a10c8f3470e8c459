//! Expressions as a user would write them in a property.

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::system::{Role, System, VarId};

impl System {
    /// An expression in terms of the system's names.
    pub fn spell(&self, e: &Expr) -> String {
        match e {
            Expr::Const(value) => value.to_string(),
            Expr::Var(variable) => self.full_name(*variable),
            Expr::Element(variable, index) => format!("{}[{}]", self.full_name(*variable), self.spell(index)),
            Expr::Table(_, index) => format!("table[{}]", self.spell(index)),
            Expr::Unary(op, a) => {
                let sign = match op {
                    UnaryOp::Negate => "-",
                    UnaryOp::Complement => "~",
                    UnaryOp::Not => "!",
                };
                format!("{sign}{}", self.operand(a))
            }
            Expr::Binary(op @ (BinaryOp::Equal | BinaryOp::NotEqual), a, b) => {
                let compared = match (&**a, &**b) {
                    (Expr::Var(v), Expr::Const(value)) | (Expr::Const(value), Expr::Var(v)) => {
                        self.at_place(*v, *value)
                    }
                    _ => None,
                };
                match (compared, op) {
                    (Some(place), BinaryOp::Equal) => place,
                    (Some(place), _) => format!("!{place}"),
                    (None, _) => format!("{} {} {}", self.operand(a), sign(*op), self.operand(b)),
                }
            }
            Expr::Binary(op, a, b) => format!("{} {} {}", self.operand(a), sign(*op), self.operand(b)),
            Expr::If(condition, then, otherwise) => {
                format!("{} ? {} : {}", self.operand(condition), self.operand(then), self.operand(otherwise))
            }
        }
    }

    fn operand(&self, e: &Expr) -> String {
        let text = self.spell(e);
        match e {
            Expr::Binary(..) | Expr::If(..) if text.contains(' ') => format!("({text})"),
            _ => text,
        }
    }

    /// "The process is at this place", if that is what the variable says.
    fn at_place(&self, variable: VarId, value: i64) -> Option<String> {
        match self.variables[variable.index()].role {
            Role::Control(process) => {
                let process = &self.processes[process.index()];
                Some(format!("{}@{}", process.name, process.locations.get(usize::try_from(value).ok()?)?))
            }
            _ => None,
        }
    }
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}
