//! The two walks over a [`Tableau`]: towards a point within all bounds, and from there towards the largest value.

use super::number::floor;
use super::tableau::{NO_LOWER, NO_UPPER, Stop, Tableau};
use std::cmp::Ordering;
use std::time::Instant;

/// Steps, beyond one for each row, after which the least variable is always taken, which cannot go round in circles.
const FREE_STEPS: usize = 300;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feasible {
    Yes,
    /// The row with this number contradicts the bounds: its basic variable would have to be larger (`true`) or smaller, and
    /// no other variable lets it.
    No {
        row: usize,
        larger: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Largest {
    /// The variable's row proves it, or its own bound where it is not basic. As numerator and denominator.
    Value(i128, i64),
    Unbounded,
}

impl Tableau {
    /// Looks for a point within all bounds.
    pub fn make_feasible(&mut self, deadline: Instant) -> Result<Feasible, Stop> {
        for step in 0usize.. {
            let careful = step > FREE_STEPS + self.rows.len();
            let Some((row, larger)) = self.violated(careful) else { return Ok(Feasible::Yes) };
            let Some(entering) = self.helper(row, larger, careful) else { return Ok(Feasible::No { row, larger }) };
            let leaving = self.rows[row].basic as usize;
            let target = if larger { self.lower[leaving] } else { self.upper[leaving] };
            self.pivot(row, entering, target, deadline)?;
        }
        Err(Stop)
    }

    /// A row whose basic variable is out of its bounds, and whether it must grow.
    fn violated(&self, careful: bool) -> Option<(usize, bool)> {
        let mut best: Option<(f64, u32, usize, bool)> = None;
        for (at, row) in self.rows.iter().enumerate() {
            let (lower, upper) = (self.lower[row.basic as usize], self.upper[row.basic as usize]);
            let denominator = i128::from(row.denominator);
            let too_small = lower != NO_LOWER && row.numerator < i128::from(lower) * denominator;
            let too_large = upper != NO_UPPER && row.numerator > i128::from(upper) * denominator;
            if !too_small && !too_large {
                continue;
            }
            let bound = if too_small { lower } else { upper };
            let gap = (row.numerator as f64 / row.denominator as f64 - bound as f64).abs();
            let better = match best {
                None => true,
                Some((_, variable, _, _)) if careful => row.basic < variable,
                Some((most, _, _, _)) => gap > most,
            };
            if better {
                best = Some((gap, row.basic, at, too_small));
            }
        }
        best.map(|(_, _, at, larger)| (at, larger))
    }

    fn can_grow(&self, variable: u32) -> bool {
        let upper = self.upper[variable as usize];
        upper == NO_UPPER || self.value(variable).0 < i128::from(upper)
    }

    fn can_shrink(&self, variable: u32) -> bool {
        let lower = self.lower[variable as usize];
        lower == NO_LOWER || self.value(variable).0 > i128::from(lower)
    }

    /// A variable of the row that can be moved so that the basic one moves as wanted.
    fn helper(&self, at: usize, larger: bool, careful: bool) -> Option<u32> {
        let row = &self.rows[at];
        let mut best: Option<(usize, u32)> = None;
        for &(variable, weight) in &row.entries {
            let fits = if (weight > 0) == larger { self.can_grow(variable) } else { self.can_shrink(variable) };
            if !fits {
                continue;
            }
            if careful {
                return Some(variable);
            }
            let length = self.column_length(variable);
            if best.is_none_or(|(least, _)| length < least) {
                best = Some((length, variable));
            }
        }
        best.map(|(_, variable)| variable)
    }

    /// The largest value of a variable, from a point within all bounds.
    pub fn maximise(&mut self, variable: u32, deadline: Instant) -> Result<Largest, Stop> {
        let mut still = 0;
        let mut before = self.value(variable);
        loop {
            let Some((entering, up)) = self.improving(variable, still > 20) else {
                let (numerator, denominator) = self.value(variable);
                return Ok(Largest::Value(numerator, denominator));
            };
            if !self.advance(entering, up, deadline)? {
                return Ok(Largest::Unbounded);
            }
            let now = self.value(variable);
            if compare(now, before)? == Ordering::Equal {
                still += 1;
            } else {
                (still, before) = (0, now);
            }
        }
    }

    /// A variable to move, and whether up, so that the wanted one grows.
    fn improving(&self, wanted: u32, careful: bool) -> Option<(u32, bool)> {
        let Some(row) = self.row(wanted) else { return self.can_grow(wanted).then_some((wanted, true)) };
        let mut best: Option<(u64, u32, bool)> = None;
        for &(variable, weight) in &row.entries {
            let up = weight > 0;
            if !(if up { self.can_grow(variable) } else { self.can_shrink(variable) }) {
                continue;
            }
            if careful {
                return Some((variable, up));
            }
            if best.is_none_or(|(most, _, _)| weight.unsigned_abs() > most) {
                best = Some((weight.unsigned_abs(), variable, up));
            }
        }
        best.map(|(_, variable, up)| (variable, up))
    }

    /// Moves a variable that is not basic as far as the bounds let it; `false` when nothing stops it.
    fn advance(&mut self, entering: u32, up: bool, deadline: Instant) -> Result<bool, Stop> {
        let own = if up { self.upper[entering as usize] } else { self.lower[entering as usize] };
        let own_step = (own != NO_UPPER && own != NO_LOWER).then(|| (i128::from(own) - self.value(entering).0).abs());
        // The shortest step as numerator and denominator, with the row that asks for it and where its variable stops.
        let mut least: Option<(i128, i64, usize, i64)> = None;
        for (at, weight) in self.column(entering) {
            let row = &self.rows[at as usize];
            let grows = (weight > 0) == up;
            let bound = if grows { self.upper[row.basic as usize] } else { self.lower[row.basic as usize] };
            if bound == NO_UPPER || bound == NO_LOWER {
                continue;
            }
            let room = (i128::from(bound) * i128::from(row.denominator)).checked_sub(row.numerator).ok_or(Stop)?.abs();
            let speed = weight.checked_abs().ok_or(Stop)?;
            let closer = match least {
                None => true,
                Some((n, d, other, _)) => match compare((room, speed), (n, d))? {
                    Ordering::Less => true,
                    Ordering::Equal => row.basic < self.rows[other].basic,
                    Ordering::Greater => false,
                },
            };
            if closer {
                least = Some((room, speed, at as usize, bound));
            }
        }
        match (own_step, least) {
            (None, None) => Ok(false),
            (Some(step), least) if least.is_none_or(|(n, d, _, _)| step <= floor(n, d.into())) => {
                self.move_to(entering, own).map(|()| true)
            }
            (_, Some((_, _, row, bound))) => self.pivot(row, entering, bound, deadline).map(|()| true),
            (Some(_), None) => Err(Stop),
        }
    }
}

fn compare(a: (i128, i64), b: (i128, i64)) -> Result<Ordering, Stop> {
    let left = a.0.checked_mul(b.1.into()).ok_or(Stop)?;
    let right = b.0.checked_mul(a.1.into()).ok_or(Stop)?;
    Ok(left.cmp(&right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_small_program_has_its_known_optimum() {
        let deadline = Instant::now() + Duration::from_secs(5);
        let mut t = Tableau::default();
        let (x, y) = (t.add_free(0, NO_UPPER), t.add_free(0, NO_UPPER));
        for (a, b, most) in [(1, 2, 14), (-3, 1, 0), (1, -1, 2)] {
            let row = t.add_sum(&[(x, a), (y, b)]).unwrap();
            t.upper[row as usize] = most;
        }
        let goal = t.add_sum(&[(x, 3), (y, 4)]).unwrap();
        assert_eq!(t.make_feasible(deadline), Ok(Feasible::Yes));
        assert_eq!(t.maximise(goal, deadline), Ok(Largest::Value(102, 3)));
        t.lower[goal as usize] = 35;
        assert!(matches!(t.make_feasible(deadline), Ok(Feasible::No { .. })));
        t.lower[goal as usize] = 34;
        assert_eq!(t.make_feasible(deadline), Ok(Feasible::Yes));
        let (numerator, denominator) = t.value(x);
        assert_eq!(numerator, 6 * i128::from(denominator));
    }

    #[test]
    fn nothing_may_stop_a_variable() {
        let deadline = Instant::now() + Duration::from_secs(5);
        let mut t = Tableau::default();
        let (x, y) = (t.add_free(0, NO_UPPER), t.add_free(0, NO_UPPER));
        let row = t.add_sum(&[(x, 1), (y, -1)]).unwrap();
        t.upper[row as usize] = 3;
        assert_eq!(t.maximise(x, deadline), Ok(Largest::Unbounded));
    }
}
