//! Memory that a store asks for and does not get.

use super::Ground;
use crate::shim::{Fault, How};

pub fn attempt(ground: &mut Ground) -> Result<(), String> {
    let case = ground.case(|_| true);
    let (expected, _) = ground.expected(case)?;
    let calls = ground.pick(&["reserve", "commit", "reserve,commit"]);
    let fault =
        Fault { calls, path: String::new(), at: ground.early(60), on: ground.pick(&[0, 1, 20]), how: How::NoMemory };
    let words = case.words.clone();
    let ended = ground.run(&words, Some(fault))?;
    // Any end is right that is no wrong answer.
    expected.judge(&ended).map(drop)
}
