//! What one check has answered: as much as is held against the next.

use serde_json::Value as Json;

/// The answer of a check.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub verdict: String,
    pub found: Vec<Found>,
    /// What was counted, where all states were.
    pub counts: Option<Counts>,
    /// How many states were seen, where that were not all.
    pub seen: Option<String>,
    /// The limit that was reached.
    pub limit: Option<String>,
    /// Of each kind of what a model can do, how much never happens, of how much; nothing where that is not known.
    pub never: Vec<(String, u64, u64)>,
    /// Warnings and remarks.
    pub remarks: Vec<String>,
    pub seconds: f64,
}

/// What was found out about a property.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    pub name: String,
    pub verdict: String,
    /// An answer that is more than a verdict, such as a bound.
    pub answer: Option<String>,
    /// Steps of the run that shows it; of one that goes on for ever, nothing.
    pub steps: Option<u64>,
}

/// Figures of a state space, as they are called and in digits: sets of states may have very many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts(pub Vec<(&'static str, String)>);

/// What is counted, and what one of them is called.
const COUNTED: [(&str, &str); 5] = [
    ("states", "state"),
    ("transitions", "transition"),
    ("deadlocks", "deadlock"),
    ("faults", "run-time error"),
    ("levels", "level"),
];

impl Answer {
    /// From the object that `check --json` prints.
    pub fn of(told: &Json, remarks: Vec<String>) -> Answer {
        let word = |value: &Json| value.as_str().map(str::to_string);
        let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
        let verdict = word(&told["verdict"]).unwrap_or_default();
        let limit = word(&told["limits"]["reached"]);
        // A violation may end a search anywhere; sets of states do not say where they stood.
        let open = told["open"].as_u64();
        let whole = limit.is_none() && (open == Some(0) || open.is_none() && verdict == "verified");
        let digits = |name: &str| Some(&told[name]).filter(|value| value.is_number()).map(Json::to_string);
        let counted = COUNTED.iter().filter_map(|(name, one)| Some((*one, digits(name)?))).collect();
        let never = list(&told["coverage"]["parts"]).into_iter().filter_map(|part| {
            let (total, reached) = (part["total"].as_u64()?, part["reached"].as_u64()?);
            Some((word(&part["kind"])?, total.saturating_sub(reached), total))
        });
        Answer {
            found: list(&told["properties"]).iter().map(Found::of).collect(),
            counts: (whole && told["states"].is_number()).then_some(Counts(counted)),
            seen: digits("states").or_else(|| digits("visits")).filter(|_| !whole),
            limit,
            never: never.collect(),
            remarks,
            seconds: told["seconds"].as_f64().unwrap_or_default(),
            verdict,
        }
    }

    /// Does this say the same of the model?
    pub fn is_like(&self, other: &Answer) -> bool {
        let essence = |answer: &Answer| {
            let Answer { verdict, found, counts, limit, never, .. } = answer.clone();
            (verdict, found, counts, limit, never)
        };
        essence(self) == essence(other)
    }
}

impl Found {
    fn of(told: &Json) -> Found {
        let word = |value: &Json| value.as_str().map(str::to_string);
        let steps = told["trace"]["steps"].as_array().filter(|_| told["trace"]["loop"].is_null());
        let edges = |steps: &Vec<Json>| steps.iter().filter(|step| !step["event"].is_null()).count() as u64;
        Found {
            name: word(&told["name"]).unwrap_or_default(),
            // What is not known of a property that was not searched for.
            verdict: word(&told["verdict"]).unwrap_or_default().replace("incomplete", "undecided"),
            answer: Some(&told["answer"]).filter(|answer| !answer.is_null()).map(|answer| match answer {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            }),
            steps: steps.map(edges),
        }
    }
}
