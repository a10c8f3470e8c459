//! What does the searching, as the command line has it.

use crate::plan::Refusal;
use std::fmt;
use std::str::FromStr;

/// What does the searching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineChoice {
    /// State by state.
    Explicit,
    /// Sets of states, as decision diagrams.
    Symbolic(StrategyChoice),
    /// Runs up to a length, as formulas.
    Bounded(BoundChoice),
    /// Level by level on a graphics card.
    Gpu(CardChoice),
    /// State by state, by so many processes.
    Cluster(u32),
}

/// What the kernels of a search on a graphics card run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardChoice {
    /// The card with this number.
    Number(usize),
    /// The threads of the processor: the same kernels, compiled as C++.
    Processor,
}

/// How the symbolic engine comes to its fixpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StrategyChoice {
    /// The one that suits what is asked.
    #[default]
    Automatic,
    BreadthFirst,
    /// What one event leads to, the next one starts from.
    Chaining,
    /// From the last variable upwards, each to its own fixpoint.
    Saturation,
}

/// How long runs may be: without one, as long as it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BoundChoice(pub Option<u32>);

/// The order of the variables in decision diagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VariableChoice {
    /// Those that events touch together stand together.
    #[default]
    Force,
    /// As the model declares them.
    Given,
}

/// Processes of a cluster, at most.
const MOST_PROCESSES: u32 = 4096;

const ENGINES: &str = "explicit, symbolic, symbolic:bfs, symbolic:chaining, symbolic:saturation, bmc, bmc:STEPS, gpu, gpu:NUMBER, gpu:cpu, cluster:PROCESSES";

impl EngineChoice {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            EngineChoice::Explicit => "state by state, with successors from machine code",
            EngineChoice::Symbolic(StrategyChoice::Automatic) => "sets of states at once, as decision diagrams",
            EngineChoice::Symbolic(StrategyChoice::BreadthFirst) => {
                "sets of states at once, as decision diagrams, level by level"
            }
            EngineChoice::Symbolic(StrategyChoice::Chaining) => {
                "sets of states at once, as decision diagrams, event after event"
            }
            EngineChoice::Symbolic(StrategyChoice::Saturation) => {
                "sets of states at once, as decision diagrams, variable by variable"
            }
            EngineChoice::Bounded(_) => "runs of growing length, as formulas for a SAT solver",
            EngineChoice::Gpu(CardChoice::Number(_)) => {
                "level by level on a graphics card, by kernels made from the model"
            }
            EngineChoice::Gpu(CardChoice::Processor) => {
                "the kernels for a graphics card, compiled as C++, on the threads of the processor"
            }
            EngineChoice::Cluster(_) => {
                "state by state, by several processes, each of which owns a share of the states"
            }
        }
    }
}

impl fmt::Display for EngineChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineChoice::Explicit => f.write_str("explicit"),
            EngineChoice::Symbolic(StrategyChoice::Automatic) => f.write_str("symbolic"),
            EngineChoice::Symbolic(StrategyChoice::BreadthFirst) => f.write_str("symbolic:bfs"),
            EngineChoice::Symbolic(StrategyChoice::Chaining) => f.write_str("symbolic:chaining"),
            EngineChoice::Symbolic(StrategyChoice::Saturation) => f.write_str("symbolic:saturation"),
            EngineChoice::Bounded(BoundChoice(None)) => f.write_str("bmc"),
            EngineChoice::Bounded(BoundChoice(Some(steps))) => write!(f, "bmc:{steps}"),
            EngineChoice::Gpu(CardChoice::Number(0)) => f.write_str("gpu"),
            EngineChoice::Gpu(CardChoice::Number(number)) => write!(f, "gpu:{number}"),
            EngineChoice::Gpu(CardChoice::Processor) => f.write_str("gpu:cpu"),
            EngineChoice::Cluster(processes) => write!(f, "cluster:{processes}"),
        }
    }
}

impl FromStr for EngineChoice {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<EngineChoice, Refusal> {
        let refuse = |reason: String| Err(Refusal::new(reason, format!("choose from: {ENGINES}")));
        Ok(match text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest))) {
            ("explicit", None) => EngineChoice::Explicit,
            ("symbolic", None) => EngineChoice::Symbolic(StrategyChoice::Automatic),
            ("symbolic", Some("bfs")) => EngineChoice::Symbolic(StrategyChoice::BreadthFirst),
            ("symbolic", Some("chaining")) => EngineChoice::Symbolic(StrategyChoice::Chaining),
            ("symbolic", Some("saturation")) => EngineChoice::Symbolic(StrategyChoice::Saturation),
            ("bmc", None) => EngineChoice::Bounded(BoundChoice(None)),
            ("bmc", Some(steps)) => match steps.parse() {
                Ok(steps) => EngineChoice::Bounded(BoundChoice(Some(steps))),
                Err(_) => return refuse(format!("expected a number of steps, found `{steps}`")),
            },
            ("gpu", None) => EngineChoice::Gpu(CardChoice::Number(0)),
            ("gpu", Some("cpu")) => EngineChoice::Gpu(CardChoice::Processor),
            ("gpu", Some(number)) => match number.parse() {
                Ok(number) => EngineChoice::Gpu(CardChoice::Number(number)),
                Err(_) => return refuse(format!("expected the number of a graphics card, or cpu, found `{number}`")),
            },
            ("cluster", Some(number)) => match number.parse() {
                Ok(processes @ 1..=MOST_PROCESSES) => EngineChoice::Cluster(processes),
                _ => {
                    return refuse(format!(
                        "expected a number of processes from 1 to {MOST_PROCESSES}, found `{number}`"
                    ));
                }
            },
            _ => return Err(Refusal::unknown("engine", text, ENGINES)),
        })
    }
}

impl fmt::Display for VariableChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VariableChoice::Force => "force",
            VariableChoice::Given => "given",
        })
    }
}

impl FromStr for VariableChoice {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<VariableChoice, Refusal> {
        match text {
            "force" => Ok(VariableChoice::Force),
            "given" => Ok(VariableChoice::Given),
            _ => Err(Refusal::unknown("order of variables", text, "force, given")),
        }
    }
}
