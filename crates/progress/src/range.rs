//! The values that an expression can have, from the domains of its variables: an interval, never too small.

use scrimp_system::{BinaryOp, Expr, System, UnaryOp};

pub type Range = (i64, i64);

const ANY: Range = (i64::MIN, i64::MAX);
const TRUTH: Range = (0, 1);

pub fn range(system: &System, e: &Expr) -> Range {
    match e {
        Expr::Const(value) => (*value, *value),
        Expr::Var(v) | Expr::Element(v, _) => {
            let domain = system.variables[v.index()].domain;
            (domain.low, domain.high)
        }
        Expr::Table(values, _) => {
            let values = values.iter().copied();
            (values.clone().min().unwrap_or(0), values.max().unwrap_or(0))
        }
        Expr::Unary(op, a) => {
            let (low, high) = range(system, a);
            match op {
                UnaryOp::Not => TRUTH,
                UnaryOp::Complement => (!high, !low),
                UnaryOp::Negate => corners([-(low as i128), -(high as i128)]),
            }
        }
        Expr::Binary(op, a, b) => binary(*op, range(system, a), range(system, b)),
        Expr::If(_, a, b) => {
            let (a, b) = (range(system, a), range(system, b));
            (a.0.min(b.0), a.1.max(b.1))
        }
    }
}

fn binary(op: BinaryOp, a: Range, b: Range) -> Range {
    let wide = |(low, high): Range| [low as i128, high as i128];
    let ([a0, a1], [b0, b1]) = (wide(a), wide(b));
    match op {
        BinaryOp::Add => corners([a0 + b0, a1 + b1]),
        BinaryOp::Subtract => corners([a0 - b1, a1 - b0]),
        BinaryOp::Multiply => corners([a0 * b0, a0 * b1, a1 * b0, a1 * b1]),
        BinaryOp::Divide => {
            let most = a0.abs().max(a1.abs());
            corners([if a0 < 0 || b0 < 0 { -most } else { 0 }, most])
        }
        BinaryOp::Remainder => {
            let most = (b0.abs().max(b1.abs()) - 1).max(0).min(a0.abs().max(a1.abs()));
            corners([if a0 < 0 { -most } else { 0 }, if a1 > 0 { most } else { 0 }])
        }
        BinaryOp::ShiftLeft => match b.0 == b.1 && (0..63).contains(&b.0) {
            true => corners([a0 << b0, a1 << b0]),
            false => ANY,
        },
        BinaryOp::ShiftRight => corners([a0.clamp(-1, 0), a0, a1, a1.clamp(-1, 0)]),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => match a0 >= 0 && b0 >= 0 {
            // No bit above the highest of either.
            true => (0, i64::MAX >> a.1.max(b.1).max(1).leading_zeros().saturating_sub(1)),
            false => ANY,
        },
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::And
        | BinaryOp::Or => TRUTH,
    }
}

/// The interval between extremes; anything at all if it may wrap.
fn corners<const N: usize>(values: [i128; N]) -> Range {
    let (low, high) = (values.iter().min(), values.iter().max());
    match (low.map(|&v| i64::try_from(v)), high.map(|&v| i64::try_from(v))) {
        (Some(Ok(low)), Some(Ok(high))) => (low, high),
        _ => ANY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use scrimp_system::{Domain, Role, Source, VarId, Variable};

    fn system() -> System {
        let mut system = System::new(Source::new("test", ""));
        for (name, domain) in [("x", Domain::range(-3, 9)), ("y", Domain::BYTE)] {
            let (name, role) = (name.to_string(), Role::Data);
            system.variables.push(Variable { name, owner: None, domain, length: None, role });
        }
        system
    }

    fn expressions() -> impl Strategy<Value = Expr> {
        use BinaryOp::*;
        let leaf = prop_oneof![(-70..70i64).prop_map(Expr::Const), (0..2u32).prop_map(|v| Expr::Var(VarId(v)))];
        leaf.prop_recursive(5, 24, 3, |inner| {
            let binary =
                [Add, Subtract, Multiply, Divide, Remainder, ShiftLeft, ShiftRight, BitAnd, BitOr, BitXor, Less];
            let unary = [UnaryOp::Negate, UnaryOp::Complement, UnaryOp::Not];
            prop_oneof![
                (prop::sample::select(unary.to_vec()), inner.clone()).prop_map(|(op, a)| Expr::Unary(op, Box::new(a))),
                (prop::sample::select(binary.to_vec()), inner.clone(), inner.clone())
                    .prop_map(|(op, a, b)| Expr::Binary(op, Box::new(a), Box::new(b))),
                (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| Expr::If(
                    Box::new(a),
                    Box::new(b),
                    Box::new(c)
                )),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn no_value_is_outside(e in expressions(), values in prop::collection::vec((-3..10i64, 0..256i64), 1..20)) {
            let (low, high) = range(&system(), &e);
            for (x, y) in values {
                if let Ok(value) = e.eval(&|v, _| Ok([x, y][v.index()])) {
                    prop_assert!(low <= value && value <= high, "{value} is not in {low}..={high}");
                }
            }
        }
    }
}
