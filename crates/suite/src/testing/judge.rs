//! Holds what a model declares against what a run said.

use super::declared::Kind;
use scrimp_report::number::count_of;
use serde_json::Value as Json;

/// A step of a run: a line, and what happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The file of the line, where it may be another one than the model's own.
    pub file: Option<String>,
    pub line: usize,
    pub label: String,
}

/// What is so instead, if it differs, and the run that shows it.
type Judged = (Option<String>, Vec<Step>);

/// Holds a claim against an answer.
pub fn judge(kind: &Kind, answer: &Json) -> Judged {
    limited(held_against(kind, answer), answer)
}

fn held_against(kind: &Kind, answer: &Json) -> Judged {
    let verdict = |result: &Json| result["verdict"].as_str().unwrap_or("?").to_string();
    match kind {
        Kind::Count { field, number, at_most } => {
            let guarantee = answer["guarantee"].as_str().unwrap_or("none");
            let found = answer[*field].as_u64().filter(|_| answer["limits"]["reached"].is_null());
            let differs = match found {
                None => Some("it is not known".to_string()),
                // A search that may have left out states has counted some of them.
                Some(found) if guarantee != "exhaustive" => {
                    Some(format!("not confirmed: {found} were found, and states may have been left out ({guarantee})"))
                }
                Some(found) if found == *number || (*at_most && found < *number) => None,
                Some(found) => Some(format!("it is {found}")),
            };
            (differs, Vec::new())
        }
        // A run that has an answer has read the model.
        Kind::Readable => (None, Vec::new()),
        Kind::Property { holds, events, .. } => {
            let result = &answer["properties"][0];
            let wanted = if *holds { "verified" } else { "violated" };
            let differs = if verdict(result) == wanted { length(result, *events) } else { Some(told(result)) };
            (differs, run(result))
        }
        Kind::Assertions { violated } => {
            let all = answer["properties"].as_array().map_or(&[][..], Vec::as_slice);
            let found = all.iter().find(|result| verdict(result) == "violated");
            let differs = match (found, violated) {
                (Some(result), false) => Some(told(result)),
                (None, true) => Some(format!("no assertion is violated ({})", verdict(answer))),
                (None, false) if verdict(answer) != "verified" => Some(verdict(answer)),
                _ => None,
            };
            (differs, found.map(run).unwrap_or_default())
        }
        Kind::Whole { verdict: wanted, property, events } => {
            let all = answer["properties"].as_array().map_or(&[][..], Vec::as_slice);
            let violated: Vec<&Json> = all.iter().filter(|result| verdict(result) == "violated").collect();
            let meant = |result: &&&Json| {
                let name = result["name"].as_str().unwrap_or("");
                property.as_ref().is_none_or(|wanted| name.to_lowercase().starts_with(&wanted.to_lowercase()))
            };
            let shown = violated.first().map(|result| run(result)).unwrap_or_default();
            if verdict(answer) != *wanted {
                let told = violated.first().map_or_else(|| verdict(answer), |result| told(result));
                return (Some(told), shown);
            }
            match (wanted.as_str(), violated.iter().find(meant)) {
                ("violated", None) => (violated.first().map(|result| told(result)), shown),
                ("violated", Some(result)) => (length(result, *events), run(result)),
                _ => (None, Vec::new()),
            }
        }
    }
}

/// What differs, with the limit that ended the search too early.
fn limited((differs, run): Judged, answer: &Json) -> Judged {
    let limit = answer["limits"]["reached"].as_str();
    let with =
        |differs: String| limit.map_or(differs.clone(), |limit| format!("{differs} (ended early: limit of {limit})"));
    (differs.map(with), run)
}

/// A result in words.
fn told(result: &Json) -> String {
    let (name, verdict) = (result["name"].as_str().unwrap_or("?"), result["verdict"].as_str().unwrap_or("?"));
    match events(result) {
        None => format!("{name} is {verdict}"),
        Some(events) => format!("{name} is {verdict} at {}", count_of(events, "event")),
    }
}

/// Events of the run that was found: steps on the way to one are no events of their own.
fn events(result: &Json) -> Option<u64> {
    let steps = result["trace"]["steps"].as_array()?;
    Some(steps.iter().filter(|step| !step["event"].is_null()).count() as u64)
}

fn length(result: &Json, wanted: Option<u64>) -> Option<String> {
    let wanted = wanted?;
    match events(result) {
        None => Some("there is no run that shows it".to_string()),
        Some(found) => (found != wanted).then(|| format!("the run has {}", count_of(found, "event"))),
    }
}

fn run(result: &Json) -> Vec<Step> {
    let steps = result["trace"]["steps"].as_array().map_or(&[][..], Vec::as_slice);
    let step = |step: &Json| Step {
        file: step["file"].as_str().map(str::to_string),
        line: step["line"].as_u64().unwrap_or(0) as usize,
        label: step["label"].as_str().unwrap_or("").to_string(),
    };
    steps.iter().map(step).collect()
}
