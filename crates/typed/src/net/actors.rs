//! Actors, and what may happen to them.

use super::network::{Network, Order};
use crate::model::TypedModel;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;

/// The number of an actor.
pub type Id = usize;

/// What a process does.
pub trait Actor: Send + Sync + 'static {
    /// What it keeps.
    type State: Clone + Debug + Eq + Hash + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What it sends and receives.
    type Message: Clone + Debug + Ord + Hash + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What it waits for besides; `()` where there is only one timer, or none.
    type Timer: Clone + Debug + Ord + Hash + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// It starts.
    fn start(&self, me: Id, out: &mut Out<Self::Message, Self::Timer>) -> Self::State;

    /// A message comes.
    fn receive(
        &self,
        me: Id,
        state: &mut Self::State,
        from: Id,
        message: &Self::Message,
        out: &mut Out<Self::Message, Self::Timer>,
    ) {
        let _ = (me, state, from, message, out);
    }

    /// A timer goes off. It is not set any more.
    fn timeout(&self, me: Id, state: &mut Self::State, timer: &Self::Timer, out: &mut Out<Self::Message, Self::Timer>) {
        let _ = (me, state, timer, out);
    }

    /// It starts again after a crash, with what it has kept on disk: all of its state, unless this says otherwise. No timer is
    /// set.
    fn restart(&self, me: Id, before: &Self::State, out: &mut Out<Self::Message, Self::Timer>) -> Self::State {
        let _ = (me, out);
        before.clone()
    }
}

/// What an actor wants done.
#[derive(Debug)]
pub struct Out<M, T> {
    sent: Vec<(Id, M)>,
    set: Vec<T>,
    cancelled: Vec<T>,
}

impl<M, T> Out<M, T> {
    fn new() -> Out<M, T> {
        Out { sent: Vec::new(), set: Vec::new(), cancelled: Vec::new() }
    }

    /// Sends a message.
    pub fn send(&mut self, to: Id, message: M) {
        self.sent.push((to, message));
    }

    /// Sends a message to each of these.
    pub fn broadcast(&mut self, to: impl IntoIterator<Item = Id>, message: &M)
    where
        M: Clone,
    {
        to.into_iter().for_each(|to| self.send(to, message.clone()));
    }

    /// From now on this timer may go off.
    pub fn set(&mut self, timer: T) {
        self.set.push(timer);
    }

    /// This timer does not go off any more.
    pub fn cancel(&mut self, timer: T) {
        self.cancelled.push(timer);
    }
}

/// Actors with a network between them.
pub struct Actors<A> {
    actors: Vec<A>,
    order: Order,
    lossy: bool,
    duplicating: bool,
    crashes: u32,
    restarts: bool,
}

/// A state of all.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound(
    serialize = "S: Serialize, M: Serialize + Ord, T: Serialize + Ord",
    deserialize = "S: Deserialize<'de>, M: Deserialize<'de> + Ord, T: Deserialize<'de> + Ord"
))]
pub struct World<S, M, T> {
    /// The state of each actor; of one that is down, the one that it had.
    pub actors: Vec<S>,
    /// Messages on their way.
    pub network: Network<M>,
    /// The timers that may go off, for each actor.
    pub timers: Vec<BTreeSet<T>>,
    /// Those that are down.
    pub down: BTreeSet<Id>,
    /// How many have crashed so far.
    pub crashed: u32,
}

/// What can happen.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Event<M, T> {
    /// A message comes.
    Deliver {
        /// Who has sent it.
        from: Id,
        /// Whom it comes to.
        to: Id,
        /// What it says.
        message: M,
    },
    /// A message comes, and will come again.
    Duplicate {
        /// Who has sent it.
        from: Id,
        /// Whom it comes to.
        to: Id,
        /// What it says.
        message: M,
    },
    /// A message is lost.
    Lose {
        /// Who has sent it.
        from: Id,
        /// Whom it would have come to.
        to: Id,
        /// What it says.
        message: M,
    },
    /// A timer goes off.
    Timeout {
        /// Whose timer it is.
        actor: Id,
        /// Which of his timers.
        timer: T,
    },
    /// An actor goes down, and forgets what it does not keep.
    Crash {
        /// Who goes down.
        actor: Id,
    },
    /// An actor that is down begins again.
    Restart {
        /// Who begins again.
        actor: Id,
    },
}

impl<A: Actor> Actors<A> {
    /// These, by their numbers from 0 on. Messages come in any order, none is lost, and nobody crashes.
    pub fn new(actors: impl IntoIterator<Item = A>) -> Actors<A> {
        let actors = actors.into_iter().collect();
        Actors { actors, order: Order::Any, lossy: false, duplicating: false, crashes: 0, restarts: true }
    }

    /// Messages from one actor to another come as they were sent.
    pub fn ordered(mut self) -> Actors<A> {
        self.order = Order::Sent;
        self
    }

    /// Messages may be lost.
    pub fn lossy(mut self) -> Actors<A> {
        self.lossy = true;
        self
    }

    /// Messages may come more than once.
    pub fn duplicating(mut self) -> Actors<A> {
        self.duplicating = true;
        self
    }

    /// So many times an actor may crash; it may start again.
    pub fn crashes(mut self, most: u32) -> Actors<A> {
        self.crashes = most;
        self
    }

    /// Who has crashed stays away.
    pub fn without_restarts(mut self) -> Actors<A> {
        self.restarts = false;
        self
    }

    /// The actor with this number.
    pub fn actor(&self, id: Id) -> &A {
        &self.actors[id]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.actors.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.actors.is_empty()
    }

    /// Does what an actor wants done.
    fn carry_out(&self, world: &mut WorldOf<A>, actor: Id, out: Out<A::Message, A::Timer>) {
        for (to, message) in out.sent {
            // What nobody is there to receive is not sent.
            if to < self.actors.len() {
                world.network.put(self.order, actor, to, message);
            }
        }
        out.cancelled.iter().for_each(|timer| {
            world.timers[actor].remove(timer);
        });
        world.timers[actor].extend(out.set);
    }
}

type WorldOf<A> = World<<A as Actor>::State, <A as Actor>::Message, <A as Actor>::Timer>;

impl<A: Actor> TypedModel for Actors<A> {
    type State = WorldOf<A>;
    type Action = Event<A::Message, A::Timer>;

    fn initial(&self) -> Vec<WorldOf<A>> {
        let timers = vec![BTreeSet::new(); self.actors.len()];
        let (network, down) = (Network::default(), BTreeSet::new());
        let mut world = World { actors: Vec::new(), network, timers, down, crashed: 0 };
        for (id, actor) in self.actors.iter().enumerate() {
            let mut out = Out::new();
            world.actors.push(actor.start(id, &mut out));
            self.carry_out(&mut world, id, out);
        }
        vec![world]
    }

    fn actions(&self, world: &WorldOf<A>, events: &mut Vec<Self::Action>) {
        for (from, to, message) in world.network.next() {
            let message = || message.clone();
            if !world.down.contains(&to) {
                events.push(Event::Deliver { from, to, message: message() });
                if self.duplicating {
                    events.push(Event::Duplicate { from, to, message: message() });
                }
            }
            if self.lossy || world.down.contains(&to) {
                events.push(Event::Lose { from, to, message: message() });
            }
        }
        for actor in (0..self.actors.len()).filter(|actor| !world.down.contains(actor)) {
            let timeout = |timer: &A::Timer| Event::Timeout { actor, timer: timer.clone() };
            events.extend(world.timers[actor].iter().map(timeout));
            if world.crashed < self.crashes {
                events.push(Event::Crash { actor });
            }
        }
        if self.restarts {
            events.extend(world.down.iter().map(|actor| Event::Restart { actor: *actor }));
        }
    }

    fn next(&self, world: &WorldOf<A>, event: &Self::Action) -> Option<WorldOf<A>> {
        let mut next = world.clone();
        let mut out = Out::new();
        let actor = match event {
            Event::Deliver { from, to, message } | Event::Duplicate { from, to, message } => {
                if !matches!(event, Event::Duplicate { .. }) && !next.network.take(*from, *to, message) {
                    return None;
                }
                self.actors[*to].receive(*to, &mut next.actors[*to], *from, message, &mut out);
                *to
            }
            Event::Lose { from, to, message } => {
                return next.network.take(*from, *to, message).then_some(next);
            }
            Event::Timeout { actor, timer } => {
                next.timers[*actor].remove(timer);
                self.actors[*actor].timeout(*actor, &mut next.actors[*actor], timer, &mut out);
                *actor
            }
            Event::Crash { actor } => {
                next.timers[*actor].clear();
                next.down.insert(*actor);
                next.crashed += 1;
                return Some(next);
            }
            Event::Restart { actor } => {
                next.down.remove(actor);
                next.actors[*actor] = self.actors[*actor].restart(*actor, &world.actors[*actor], &mut out);
                *actor
            }
        };
        self.carry_out(&mut next, actor, out);
        Some(next)
    }

    /// Who receives or acts; the network has the number after all actors.
    fn process(&self, event: &Self::Action) -> usize {
        match event {
            Event::Deliver { to, .. } | Event::Duplicate { to, .. } => *to,
            Event::Lose { .. } | Event::Crash { .. } => self.actors.len(),
            Event::Timeout { actor, .. } | Event::Restart { actor } => *actor,
        }
    }
}
