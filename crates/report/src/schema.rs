//! What the objects for scripts are called: a name and a version, the first field of each. `docs/schema/scrimp.schema.json`
//! describes them. A version changes when a field goes or changes its meaning, not when one is added.

/// The answer of `check` and of `count`.
pub const REPORT: &str = "scrimp/report/1";
/// The answer of `simulate` with walks.
pub const SIMULATION: &str = "scrimp/simulation/1";
/// The answer of `conform`.
pub const CONFORMANCE: &str = "scrimp/conformance/1";
/// A run by itself.
pub const TRACE: &str = "scrimp/trace/1";
/// The runs of `generate`.
pub const RUNS: &str = "scrimp/runs/1";
/// The answer of `plan`.
pub const PLAN: &str = "scrimp/plan/1";
/// The answer of `compare`.
pub const COMPARISON: &str = "scrimp/comparison/1";
/// Why a command could not begin.
pub const ERROR: &str = "scrimp/error/1";
/// A search while it runs.
pub const PROGRESS: &str = "scrimp/progress/1";
