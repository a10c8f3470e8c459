//! Statements and expressions as SPIN shows them in its traces: `x = (x+1)`, `c!1,x`, `((z>0))`.

use super::syntax::*;
use std::fmt::{self, Display, Formatter};

/// A statement; of one that contains others, what SPIN calls it.
pub(crate) fn statement(kind: &StepKind) -> String {
    match kind {
        StepKind::Declaration(variables) => {
            let names: Vec<&str> = variables.iter().map(|variable| &*variable.name.name).collect();
            format!("declares {}", names.join(","))
        }
        StepKind::Exclusive { receive, channels } => {
            format!("{} {}", if *receive { "xr" } else { "xs" }, Listed(channels))
        }
        StepKind::Condition(condition) => format!("({condition})"),
        StepKind::Assign { target, value } => format!("{target} = {value}"),
        StepKind::Send { channel, sorted, arguments } => {
            format!("{channel}{}{}", if *sorted { "!!" } else { "!" }, Listed(arguments))
        }
        StepKind::Receive { channel, random, keep, arguments } => {
            let (open, close) = if *keep { ("<", ">") } else { ("", "") };
            format!("{channel}{}{open}{}{close}", if *random { "??" } else { "?" }, Listed(arguments))
        }
        StepKind::Assert(condition) => format!("assert({condition})"),
        StepKind::Print { format, arguments } => {
            let arguments: String = arguments.iter().map(|argument| format!(",{argument}")).collect();
            format!("printf('{}'{arguments})", format.replace('"', "'"))
        }
        StepKind::PrintName(value) => format!("printm({value})"),
        StepKind::SetPriority { process, priority } => format!("set_priority({process}, {priority})"),
        StepKind::Else => "else".into(),
        StepKind::Break => "break".into(),
        StepKind::Goto(label) => format!("goto {}", label.name),
        StepKind::If(_) => "IF".into(),
        StepKind::Do(_) => "DO".into(),
        StepKind::Atomic(_) => "ATOMIC".into(),
        StepKind::DStep(_) => "D_STEP".into(),
        StepKind::Block(_) => "sub-sequence".into(),
        StepKind::Unless { .. } => "unless".into(),
        StepKind::ForRange { variable, from, to, .. } => format!("for ({variable} : {from} .. {to})"),
        StepKind::ForIn { variable, container, .. } => format!("for ({variable} in {container})"),
        StepKind::Select { variable, from, to } => format!("select ({variable} : {from} .. {to})"),
    }
}

pub(crate) fn expression(expression: &Expression) -> String {
    expression.to_string()
}

/// With commas between.
struct Listed<'a, T>(&'a [T]);

impl<T: Display> Display for Listed<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, item) in self.0.iter().enumerate() {
            write!(f, "{}{item}", if number > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Argument::Plain(value) => write!(f, "{value}"),
            Argument::Eval(value) => write!(f, "eval({value})"),
        }
    }
}

impl Display for Reference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name.name)?;
        if let Some(index) = &self.index {
            write!(f, "[{index}]")?;
        }
        match &self.field {
            Some(field) => write!(f, ".{field}"),
            None => Ok(()),
        }
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            ExpressionKind::Number(value) => write!(f, "{value}"),
            ExpressionKind::Name(reference) => write!(f, "{reference}"),
            ExpressionKind::Unary(operator, operand) => write!(f, "{}({operand})", unary(*operator)),
            ExpressionKind::Binary(operator, left, right) => write!(f, "({left}{}{right})", binary(*operator)),
            ExpressionKind::Conditional(condition, first, second) => {
                write!(f, "( ({condition}) -> ({first}) : ({second}) )")
            }
            ExpressionKind::Channel(test, channel) => write!(f, "{}({channel})", channel_test(*test)),
            ExpressionKind::Poll { channel, random, arguments } => {
                write!(f, "{channel}{}[{}]", if *random { "??" } else { "?" }, Listed(arguments))
            }
            ExpressionKind::Timeout => write!(f, "timeout"),
            ExpressionKind::NonProgress => write!(f, "np_"),
            ExpressionKind::Run { process, arguments, .. } => write!(f, "run {}({})", process.name, Listed(arguments)),
            ExpressionKind::RemoteVariable { process, pid, variable } => {
                write!(f, "{}{}:{variable}", process.name, InBrackets(pid))
            }
            ExpressionKind::RemoteLabel { process, pid, label } => {
                write!(f, "{}{}@{}", process.name, InBrackets(pid), label.name)
            }
            ExpressionKind::Enabled(process) => write!(f, "enabled({process})"),
            ExpressionKind::PcValue(process) => write!(f, "pc_value({process})"),
            ExpressionKind::GetPriority(process) => write!(f, "get_priority({process})"),
            ExpressionKind::Temporal(operator, left, right) => match right {
                Some(right) => write!(f, "({left} {} {right})", temporal(*operator)),
                None => write!(f, "{} ({left})", temporal(*operator)),
            },
        }
    }
}

struct InBrackets<'a>(&'a Option<Expression>);

impl Display for InBrackets<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(value) => write!(f, "[{value}]"),
            None => Ok(()),
        }
    }
}

fn unary(operator: Unary) -> &'static str {
    match operator {
        Unary::Negate => "-",
        Unary::Complement => "~",
        Unary::Not => "!",
    }
}

fn binary(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::Less => "<",
        Binary::LessEqual => "<=",
        Binary::Greater => ">",
        Binary::GreaterEqual => ">=",
        Binary::And => "&&",
        Binary::Or => "||",
    }
}

fn channel_test(test: ChannelTest) -> &'static str {
    match test {
        ChannelTest::Length => "len",
        ChannelTest::Empty => "empty",
        ChannelTest::NotEmpty => "nempty",
        ChannelTest::Full => "full",
        ChannelTest::NotFull => "nfull",
    }
}

fn temporal(operator: Temporal) -> &'static str {
    match operator {
        Temporal::Always => "[]",
        Temporal::Eventually => "<>",
        Temporal::Next => "X",
        Temporal::Until => "U",
        Temporal::WeakUntil => "W",
        Temporal::Release => "V",
        Temporal::Implies => "->",
        Temporal::Equivalent => "<->",
    }
}
