//! How far a call is, in the words of the protocol: numbers that only grow, and not too many of them.

use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two words of how far a search is.
const PAUSE: Duration = Duration::from_millis(500);
/// After so much silence it is told that the work goes on.
const SILENCE: Duration = Duration::from_secs(2);

/// What one client hears of one call; nothing where it has not asked.
#[derive(Debug)]
pub struct Progress {
    token: Value,
    /// The last number that was told, and when.
    last: Mutex<(Option<u64>, Instant)>,
}

impl Progress {
    pub fn new(token: &Value) -> Progress {
        Progress { token: token.clone(), last: Mutex::new((None, Instant::now())) }
    }

    /// Others are served before.
    pub fn waits(&self, before: usize) -> Option<Value> {
        let message = format!("waits for its turn; {before} before it");
        self.told(|last, since| (last.is_none() || since > SILENCE).then(|| (next(last), message, None)))
    }

    /// A sample of a search.
    pub fn sample(&self, sample: &Value) -> Option<Value> {
        let visits = sample["visits"].as_u64()?;
        self.told(|last, since| {
            let wanted = last.is_none_or(|last| visits > last) && (last.is_none() || since > PAUSE);
            let message = || format!("{visits} states visited, {} open", sample["open"]);
            wanted.then(|| (visits, message(), sample["expected"].as_u64().filter(|expected| *expected >= visits)))
        })
    }

    /// There is nothing to say but that the work goes on.
    pub fn sign_of_life(&self) -> Option<Value> {
        self.told(|last, since| (since > SILENCE).then(|| (next(last), "still at work".into(), None)))
    }

    fn told(&self, tell: impl FnOnce(Option<u64>, Duration) -> Option<(u64, String, Option<u64>)>) -> Option<Value> {
        if self.token.is_null() {
            return None;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (progress, message, total) = tell(last.0, last.1.elapsed())?;
        *last = (Some(progress), Instant::now());
        let mut params = json!({ "progressToken": self.token, "progress": progress, "message": message });
        if let Some(total) = total {
            params["total"] = total.into();
        }
        Some(params)
    }
}

fn next(last: Option<u64>) -> u64 {
    last.unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_only_grow() {
        let progress = Progress::new(&json!("t"));
        assert_eq!(progress.waits(3).unwrap()["progress"], 1);
        assert!(progress.waits(2).is_none() && progress.sign_of_life().is_none(), "so soon");
        let long_ago = Instant::now().checked_sub(Duration::from_secs(9)).unwrap();
        let pass = || progress.last.lock().unwrap().1 = long_ago;
        pass();
        assert_eq!(progress.waits(2).unwrap()["progress"], 2);
        pass();
        let told = progress.sample(&json!({ "visits": 50, "open": 3, "expected": 90 })).unwrap();
        assert_eq!((&told["progress"], &told["total"], &told["progressToken"]), (&json!(50), &json!(90), &json!("t")));
        pass();
        assert!(progress.sample(&json!({ "visits": 50, "open": 2 })).is_none());
        assert_eq!(progress.sign_of_life().unwrap()["progress"], 51);
        assert!(Progress::new(&Value::Null).waits(1).is_none());
    }
}
