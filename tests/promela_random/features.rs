//! The parts of Promela that a random program may use, so that one can be made without some of them.

use std::fmt;

macro_rules! features {
    ($($name:ident),* $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Feature { $($name),* }

        impl Feature {
            pub const ALL: &[Feature] = &[$(Feature::$name),*];
        }
    };
}

features! {
    Arrays, Records, Mtype, Unsigned, Initialisers, LocalScopes, WideValues,
    SeveralInstances, Init, Run, RunInExpression, RunAtomically, Parameters, ChannelParameters, Provided,
    Rendezvous, Buffered, ChannelArrays, ChannelsInMessages, LocalChannels, ChannelVariables,
    SortedSend, RandomReceive, Peek, Poll, Eval, ConstantInReceive, Underscore, ChannelSize,
    If, Else, Do, Goto, EndLabels, Timeout, For, Select, Unless, UnlessInput, NestedUnless,
    Atomic, BlockingAtomic, RendezvousInAtomic, ChoiceInAtomic, GotoOutOfAtomic, GotoIntoAtomic,
    DStep, DStepChoice, DStepOverlap, DStepLoop, DStepChannel,
    Assert, Printf, Conditional, Precedence, Pid, ProcessCount, RemoteReference, Inline, Macro,
}

/// A set of features.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Features(pub u64);

impl Features {
    pub const NONE: Features = Features(0);
    pub const ALL: Features = Features((1 << Feature::ALL.len()) - 1);

    pub fn has(self, feature: Feature) -> bool {
        self.0 >> feature as u64 & 1 == 1
    }

    pub fn with(self, feature: Feature) -> Features {
        Features(self.0 | 1 << feature as u64)
    }

    pub fn without(self, feature: Feature) -> Features {
        Features(self.0 & !(1 << feature as u64))
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(Feature::ALL.iter().filter(|&&feature| self.has(feature))).finish()
    }
}
