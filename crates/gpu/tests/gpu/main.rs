//! The kernels, on the threads that stand for a card or on a card.

mod accepted;
mod agreement;
