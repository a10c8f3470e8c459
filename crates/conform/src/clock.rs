//! Vector clocks: what each process knew of all of them when it wrote a record. They say which record came before which.
//!
//! Lamport, "Time, clocks, and the ordering of events in a distributed system" (1978); Mattern, "Virtual time and global
//! states of distributed systems" (1989).

use serde_json::Value;
use std::collections::BTreeMap;

/// A time for each process; 0 for those that are not named.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Clock {
    times: BTreeMap<String, u64>,
    /// Its processes are called by their numbers in a list, whatever else they are called.
    is_list: bool,
}

/// The clocks of records whose order is known, and how the clocks may call who wrote them.
pub(crate) struct Chain {
    pub names: Vec<String>,
    pub clocks: Vec<Clock>,
}

/// The records that have to come before one: so many of each of some sequences.
pub(crate) type Behind = Box<[(u32, u32)]>;

/// A record whose clock cannot be right, and why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bad {
    pub sequence: usize,
    pub at: usize,
    pub why: String,
    /// Another record that contradicts it.
    pub other: Option<(usize, usize)>,
}

impl Clock {
    /// Reads `{"a": 1, "b": 4}` or `[1, 4]`.
    pub fn of(value: &Value) -> Option<Clock> {
        let entry = |(name, time): (String, &Value)| Some((name, time.as_u64()?));
        let entries: Option<BTreeMap<String, u64>> = match value {
            Value::Object(object) => object.iter().map(|(name, time)| entry((name.clone(), time))).collect(),
            Value::Array(list) => list.iter().enumerate().map(|(i, time)| entry((i.to_string(), time))).collect(),
            _ => None,
        };
        let times = entries?.into_iter().filter(|(_, time)| *time > 0).collect();
        Some(Clock { times, is_list: value.is_array() })
    }

    fn time(&self, name: &str) -> u64 {
        self.times.get(name).copied().unwrap_or(0)
    }

    /// Did it happen before the other, so that the other may know of it?
    fn is_before(&self, other: &Clock) -> bool {
        self.times != other.times && self.times.iter().all(|(name, time)| other.time(name) >= *time)
    }
}

/// Which records have to come before each. A clock knows of another record where it knows the time that its writer had then;
/// and then it has to know all that the other knew.
pub(crate) fn behind(chains: &[Chain]) -> Result<Vec<Vec<Behind>>, Bad> {
    let own = own(chains)?;
    let of = |number: usize, clock: &Clock| -> Behind {
        let others = (0..chains.len()).filter(|other| *other != number);
        let known = others.map(|other| (other as u32, known(&chains[other], own[other], clock) as u32));
        known.filter(|(_, count)| *count > 0).collect()
    };
    let all = chains.iter().enumerate();
    Ok(all.map(|(number, chain)| chain.clocks.iter().map(|clock| of(number, clock)).collect()).collect())
}

/// How many records of a sequence a clock knows of.
fn known(chain: &Chain, own: &str, clock: &Clock) -> usize {
    let time = clock.time(own);
    chain.clocks.partition_point(|other| other.time(own) <= time)
}

/// What the clocks call the writer of each sequence: its name, or, where clocks have no such name, whatever fits, for each
/// something else. Nothing else than what the clocks themselves imply comes of what is taken then.
fn own(chains: &[Chain]) -> Result<Vec<&str>, Bad> {
    let is_there = |name: &str| {
        let mut clocks = chains.iter().flat_map(|chain| &chain.clocks);
        clocks.any(|clock| !clock.is_list && clock.time(name) > 0)
    };
    let named = |chain: &'_ Chain| chain.names.iter().position(|name| is_there(name));
    let names: Vec<Option<&str>> =
        chains.iter().map(|chain| named(chain).map(|name| chain.names[name].as_str())).collect();
    let mut may: Vec<Vec<&str>> = Vec::new();
    for (number, chain) in chains.iter().enumerate() {
        if let Some(name) = names[number] {
            is_own(chains, number, name)?;
            may.push(vec![name]);
            continue;
        }
        let free = |name: &&String| !names.contains(&Some(name.as_str()));
        let (mut fitting, mut bad) = (Vec::new(), None);
        for name in chain.clocks.first().into_iter().flat_map(|clock| clock.times.keys()).filter(free) {
            match is_own(chains, number, name) {
                Ok(()) => fitting.push(name.as_str()),
                Err(why) => bad = bad.or(Some(why)),
            }
        }
        if fitting.is_empty() && !chain.clocks.is_empty() {
            return Err(bad.unwrap_or_else(|| nameless(number)));
        }
        may.push(fitting);
    }
    let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
    for number in (0..chains.len()).filter(|number| !may[*number].is_empty()) {
        if !take(number, &may, &mut Vec::new(), &mut taken) {
            return Err(nameless(number));
        }
    }
    let mut own = vec![""; chains.len()];
    taken.into_iter().for_each(|(name, number)| own[number] = name);
    Ok(own)
}

fn nameless(sequence: usize) -> Bad {
    let why = "no entry of the vector clock can be that of who wrote the record".to_string();
    Bad { sequence, at: 0, why, other: None }
}

/// Gives a sequence one of the names that it may have, where need be one that another has, which takes a different one.
fn take<'n>(
    number: usize,
    may: &[Vec<&'n str>],
    tried: &mut Vec<&'n str>,
    taken: &mut BTreeMap<&'n str, usize>,
) -> bool {
    for name in &may[number] {
        if tried.contains(name) {
            continue;
        }
        tried.push(name);
        let before = taken.get(name).copied();
        if before.is_none_or(|other| take(other, may, tried, taken)) {
            taken.insert(name, number);
            return true;
        }
    }
    false
}

/// Can this be the name of a sequence's writer? Its time grows with each record, and who knows it knows all of the record.
fn is_own(chains: &[Chain], number: usize, name: &str) -> Result<(), Bad> {
    let mut last: Option<&Clock> = None;
    for (at, clock) in chains[number].clocks.iter().enumerate() {
        let bad = |why: String, other| Bad { sequence: number, at, why, other };
        if clock.time(name) == 0 {
            return Err(bad(format!("the vector clock has no entry `{name}`, that of who wrote the record"), None));
        }
        if let Some(last) = last.filter(|last| last.time(name) >= clock.time(name) || !last.is_before(clock)) {
            let (old, new) = (last.time(name), clock.time(name));
            let why = match old < new {
                true => "the vector clock has forgotten what the last one of the same process knew".to_string(),
                false => format!("the entry `{name}` of the vector clock has not grown: it is {new} after {old}"),
            };
            return Err(bad(why, Some((number, at - 1))));
        }
        last = Some(clock);
    }
    for (sequence, other) in chains.iter().enumerate().filter(|(other, _)| *other != number) {
        for (at, clock) in other.clocks.iter().enumerate() {
            let Some(latest) = known(&chains[number], name, clock).checked_sub(1) else { continue };
            if !chains[number].clocks[latest].is_before(clock) {
                let why = format!(
                    "the vector clock knows `{name}` at {}, but not all that a record from then knows",
                    clock.time(name)
                );
                return Err(Bad { sequence, at, why, other: Some((number, latest)) });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chain(names: &[&str], clocks: &[Value]) -> Chain {
        let clock = |value: &Value| Clock::of(value).unwrap();
        Chain { names: names.iter().map(|name| name.to_string()).collect(), clocks: clocks.iter().map(clock).collect() }
    }

    #[test]
    fn what_knows_of_another_came_later() {
        let b_knows = behind(&[chain(&["a"], &[json!({"a": 1})]), chain(&["b"], &[json!({"a": 1, "b": 1})])]).unwrap();
        assert_eq!(b_knows, [vec![Box::from([])], vec![Behind::from([(0, 1)])]]);
        let lists = behind(&[chain(&[], &[json!([1, 0]), json!([2, 1])]), chain(&[], &[json!([0, 1])])]).unwrap();
        assert_eq!(lists, [vec![Box::from([]), Behind::from([(1, 1)])], vec![Box::from([])]]);
        // What happened without a record is known too.
        let a = chain(&["a"], &[json!({"a": 1}), json!({"a": 3, "b": 2})]);
        let b = chain(&["b"], &[json!({"b": 1}), json!({"b": 2, "z": 0}), json!({"a": 4, "b": 5})]);
        assert_eq!(behind(&[a, b]).unwrap()[1][2], Behind::from([(0, 2)]));
    }

    #[test]
    fn clocks_that_cannot_be_are_refused() {
        let bad = |a: &[Value], b: &[Value]| behind(&[chain(&["a"], a), chain(&["b"], b)]).unwrap_err().why;
        for (a, b, told) in [
            (json!({"b": 1}), json!({"b": 1}), "no entry"),
            (json!({}), json!({"b": 1}), "no entry"),
            // Each knows of the other.
            (json!({"a": 1, "b": 1}), json!({"a": 1, "b": 1}), "not all that"),
            (json!({"a": 1, "b": 1}), json!({"a": 2, "b": 1}), "not all that"),
            // What the other knew is not known.
            (json!({"a": 1, "b": 2}), json!({"b": 2, "z": 1}), "not all that"),
        ] {
            let why = bad(std::slice::from_ref(&a), std::slice::from_ref(&b));
            assert!(why.contains(told), "{a} {b} {why}");
        }
        let first = json!({"a": 1, "c": 5});
        assert!(bad(&[first.clone(), json!({"a": 1, "c": 6})], &[]).contains("has not grown: it is 1 after 1"));
        assert!(bad(&[first, json!({"a": 2, "c": 4})], &[]).contains("has forgotten"));
        let unnamed = |a: Value, b: Value| behind(&[chain(&[], &[a]), chain(&[], &[b])]).is_ok();
        assert!(unnamed(json!([1, 0]), json!([1, 1])) && !unnamed(json!([1, 1]), json!([1, 1])));
        assert!(!unnamed(json!({}), json!({"b": 1})) && !unnamed(json!({"x": 1}), json!({"x": 2})));
        // The first may be called either, the second not.
        assert!(unnamed(json!({"x": 1, "y": 1}), json!({"x": 2, "y": 1})));
        // What is another's entry is not one's own.
        assert!(bad(&[json!({"b": 1})], &[json!({"b": 2})]).contains("no entry"));
        assert_eq!((Clock::of(&json!("1")), Clock::of(&json!({"a": -1}))), (None, None));
    }
}
