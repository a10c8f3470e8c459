//! Models that turn out to be too small are made larger, and the work begins again: for whatever grows, here and only here.

use scrimp_lang::LoadError;
use scrimp_native::{BuildError, NativeModel};
use scrimp_system::System;
use std::sync::Arc;

/// What a model is made from, and can be made from once more with more room.
pub trait Grows {
    /// The system, with the room that there is now.
    fn system(&self) -> Result<Arc<System>, LoadError>;

    /// Makes room for what was missing when this model of the system ran. `false` when nothing was, or no more is to be had.
    fn grow(&mut self, model: &NativeModel) -> Result<bool, LoadError>;

    /// What there is more of than a first look has shown.
    fn missing(&self) -> &'static str;
}

/// Works with a model, and once more with a larger one as long as it turns out to be too small. `model` is one that was made
/// before, for the same system. Answers the model that was large enough, and what came of the work.
pub fn with_room<G: Grows, T, E: From<LoadError> + From<BuildError>>(
    source: &mut G,
    model: Option<Arc<NativeModel>>,
    make: &dyn Fn(Arc<System>) -> Result<NativeModel, BuildError>,
    begins_again: &mut dyn FnMut(&'static str),
    mut work: impl FnMut(&mut G, &Arc<NativeModel>) -> Result<T, E>,
) -> Result<(Arc<NativeModel>, T), E> {
    let mut at_hand = model;
    loop {
        let system = source.system()?;
        let model = match at_hand.take().filter(|model| Arc::ptr_eq(model.system(), &system)) {
            Some(model) => model,
            None => Arc::new(make(system)?),
        };
        let result = work(source, &model);
        if !source.grow(&model)? {
            return result.map(|found| (model, found));
        }
        begins_again(source.missing());
    }
}
