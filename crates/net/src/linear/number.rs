//! Exact numbers: divisors, rounding, and sparse integer vectors that are added without ever overflowing silently.

/// The greatest common divisor, zero only of zeros.
pub(super) fn common_divisor(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    // Almost all numbers here fit in a word, where division is much faster.
    while b != 0 {
        if let (Ok(x), Ok(y)) = (u64::try_from(a), u64::try_from(b)) {
            let (mut x, mut y) = (x, y);
            while y != 0 {
                (x, y) = (y, x % y);
            }
            return x.into();
        }
        (a, b) = (b, a % b);
    }
    a
}

/// A sparse vector, sorted by index, without zeros.
pub(super) type Sparse = Vec<(u32, i64)>;

/// `a` times `x` plus `b` times `y`, or nothing when a number does not fit. `divisor` starts as a number that has to be
/// divided too, and the vector comes divided by the greatest common divisor of all, which is given back.
pub(super) fn combine(a: i64, x: &[(u32, i64)], b: i64, y: &[(u32, i64)], divisor: u128) -> Option<(Sparse, u128)> {
    let mut sum: Vec<(u32, i128)> = Vec::with_capacity(x.len() + y.len());
    let (mut i, mut j) = (0, 0);
    let (a, b) = (a as i128, b as i128);
    let mut divisor = divisor;
    while i < x.len() || j < y.len() {
        let in_x = j == y.len() || (i < x.len() && x[i].0 <= y[j].0);
        let in_y = i == x.len() || (j < y.len() && y[j].0 <= x[i].0);
        let index = if in_x { x[i].0 } else { y[j].0 };
        let mut value = 0i128;
        if in_x {
            value = a * x[i].1 as i128;
            i += 1;
        }
        if in_y {
            value = value.checked_add(b * y[j].1 as i128)?;
            j += 1;
        }
        if value != 0 {
            if divisor != 1 {
                divisor = common_divisor(divisor, value.unsigned_abs());
            }
            sum.push((index, value));
        }
    }
    let divisor = divisor.max(1);
    let by = i128::try_from(divisor).ok()?;
    let small =
        |(index, value): (u32, i128)| Some((index, i64::try_from(if by == 1 { value } else { value / by }).ok()?));
    Some((sum.into_iter().map(small).collect::<Option<Sparse>>()?, divisor))
}

/// The entry of a sorted sparse vector, zero where there is none.
pub(super) fn entry(vector: &[(u32, i64)], index: u32) -> i64 {
    vector.binary_search_by_key(&index, |e| e.0).map_or(0, |at| vector[at].1)
}

/// The greatest integer that is not above `a / b`, for `b` above zero.
pub(super) fn floor(a: i128, b: i128) -> i128 {
    a.div_euclid(b)
}

/// Multiplied out and summed up, or nothing on overflow.
pub(super) fn dot(weights: &[(u32, i64)], tokens: impl Fn(u32) -> i128) -> Option<i128> {
    weights.iter().try_fold(0i128, |sum, &(p, w)| sum.checked_add((w as i128).checked_mul(tokens(p))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_combined_and_divided() {
        let x = vec![(0, 2), (3, 4)];
        let y = vec![(0, 1), (2, 6)];
        assert_eq!(combine(1, &x, -2, &y, 0), Some((vec![(2, -3), (3, 1)], 4)));
        assert_eq!(combine(1, &x, -2, &y, 1), Some((vec![(2, -12), (3, 4)], 1)));
        assert_eq!(combine(1, &x, -1, &x, 0), Some((vec![], 1)));
        assert_eq!(combine(i64::MAX, &x, 1, &y, 1), None);
    }

    #[test]
    fn rounding_goes_down() {
        assert_eq!(floor(7, 2), 3);
        assert_eq!(floor(-7, 2), -4);
    }
}
