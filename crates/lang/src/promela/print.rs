use super::syntax::{Expression, Reference, StepKind};
pub(crate) fn statement(_: &StepKind) -> String {
    String::new()
}
pub(crate) fn expression(_: &Expression) -> String {
    String::new()
}
pub(crate) fn reference(_: &Reference) -> String {
    String::new()
}
