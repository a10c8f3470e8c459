//! Where answers go: out at once, or together with those to the rest of a batch.

use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// The place of an answer that is owed.
#[derive(Debug, Clone)]
pub enum Reply {
    Alone,
    Batch(Arc<Batch>),
}

/// Answers that go out together, and how many are still owed.
#[derive(Debug)]
pub struct Batch(Mutex<(usize, Vec<Value>)>);

impl Reply {
    /// The place of so many answers.
    pub fn together(owed: usize) -> Reply {
        Reply::Batch(Arc::new(Batch(Mutex::new((owed, Vec::new())))))
    }

    /// What goes out now that this answer is there, or will not come.
    pub fn with(&self, answer: Option<Value>) -> Option<Value> {
        let Reply::Batch(batch) = self else { return answer };
        let mut batch = batch.0.lock().unwrap_or_else(PoisonError::into_inner);
        batch.0 = batch.0.saturating_sub(1);
        batch.1.extend(answer);
        match batch.0 == 0 && !batch.1.is_empty() {
            true => Some(std::mem::take(&mut batch.1).into()),
            false => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_batch_is_answered_at_once() {
        assert_eq!(Reply::Alone.with(Some(json!(1))), Some(json!(1)));
        let batch = Reply::together(3);
        assert_eq!(batch.with(Some(json!(1))), None);
        assert_eq!(batch.with(None), None);
        assert_eq!(batch.with(Some(json!(2))), Some(json!([1, 2])));
        assert_eq!(Reply::together(1).with(None), None);
    }
}
