//! Messages on their way.

use super::Id;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// In which order messages come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// Any one may be next.
    Any,
    /// From one actor to another they come as they were sent.
    Sent,
}

/// Messages on their way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound(serialize = "M: Serialize + Ord", deserialize = "M: Deserialize<'de> + Ord"))]
pub struct Network<M> {
    /// How often each is on its way, by who sent it to whom; where they come in any order.
    any: BTreeMap<(Id, Id, M), usize>,
    /// Those from one to another, the next one first; where they come as they were sent.
    sent: BTreeMap<(Id, Id), VecDeque<M>>,
}

impl<M: Ord> Default for Network<M> {
    fn default() -> Network<M> {
        Network { any: BTreeMap::new(), sent: BTreeMap::new() }
    }
}

impl<M: Clone + Ord> Network<M> {
    /// A message is sent.
    pub(super) fn put(&mut self, order: Order, from: Id, to: Id, message: M) {
        match order {
            Order::Any => *self.any.entry((from, to, message)).or_insert(0) += 1,
            Order::Sent => self.sent.entry((from, to)).or_default().push_back(message),
        }
    }

    /// A message that may come next has come, or is lost.
    pub(super) fn take(&mut self, from: Id, to: Id, message: &M) -> bool {
        let key = (from, to, message.clone());
        if let Some(count) = self.any.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.any.remove(&key);
            }
            return true;
        }
        let Some(queue) = self.sent.get_mut(&(from, to)) else { return false };
        if queue.front() != Some(message) {
            return false;
        }
        queue.pop_front();
        if queue.is_empty() {
            self.sent.remove(&(from, to));
        }
        true
    }

    /// The messages that may come next, each once, with who sent them to whom.
    pub fn next(&self) -> impl Iterator<Item = (Id, Id, &M)> {
        let any = self.any.keys().map(|(from, to, message)| (*from, *to, message));
        let sent = self.sent.iter().filter_map(|((from, to), queue)| Some((*from, *to, queue.front()?)));
        any.chain(sent)
    }

    /// All messages on their way, with who sent them to whom.
    pub fn all(&self) -> impl Iterator<Item = (Id, Id, &M)> {
        let any =
            self.any.iter().flat_map(|((from, to, message), count)| std::iter::repeat_n((*from, *to, message), *count));
        let sent = self.sent.iter().flat_map(|((from, to), queue)| queue.iter().map(|m| (*from, *to, m)));
        any.chain(sent)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all().count()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.any.is_empty() && self.sent.is_empty()
    }

    /// Is this one of them?
    pub fn contains(&self, message: &M) -> bool {
        self.all().any(|(_, _, other)| other == message)
    }
}
