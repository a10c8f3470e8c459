//! The facts that each file of `models/` states about itself in its first lines.

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub states: u64,
    pub transitions: u64,
    pub levels: u64,
    pub deadlocks: u64,
    pub faults: u64,
    /// States in which an assertion is violated, where the model has assertions.
    pub violations: Option<u64>,
    /// Bytes of a state.
    pub vector: u64,
    /// Of a net: the most tokens in one place, and in all places of one marking.
    pub tokens: Option<(u64, u64)>,
    pub properties: Vec<Expected>,
}

/// A property with its outcome.
#[derive(Debug, PartialEq, Eq)]
pub struct Expected {
    pub text: String,
    pub holds: bool,
    /// Events on a shortest run to the state that decides it, where one state does.
    pub at: Option<usize>,
}

/// Reads the header. A line that means nothing is an error: a misspelt fact must not pass for a checked one.
pub fn parse(text: &str) -> Result<Facts, String> {
    let mut facts = Facts::default();
    let mut seen = Vec::new();
    for line in lines(text) {
        let (key, value) = line.split_once(": ").ok_or_else(|| format!("no fact: {line}"))?;
        seen.push(key);
        if key == "property" {
            facts.properties.push(expected(value).ok_or_else(|| format!("no outcome: {line}"))?);
            continue;
        }
        let number: u64 = value.parse().map_err(|_| format!("no number: {line}"))?;
        match key {
            "states" => facts.states = number,
            "transitions" => facts.transitions = number,
            "levels" => facts.levels = number,
            "deadlocks" => facts.deadlocks = number,
            "faults" => facts.faults = number,
            "assertion violations" => facts.violations = Some(number),
            "vector" => facts.vector = number,
            "most tokens in a place" => facts.tokens = Some((number, 0)),
            "most tokens in all" => facts.tokens.get_or_insert_default().1 = number,
            _ => return Err(format!("unknown fact: {line}")),
        }
    }
    match ["states", "transitions", "levels", "deadlocks", "vector"].iter().find(|key| !seen.contains(key)) {
        Some(key) => Err(format!("no {key}")),
        None => Ok(facts),
    }
}

/// The lines after the one that says what the model is; those of a net are comments below the first line of XML.
fn lines(text: &str) -> Vec<&str> {
    match text.starts_with("<?xml") {
        true => text
            .lines()
            .skip(2)
            .map_while(|line| line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")))
            .collect(),
        false => text.lines().skip(1).map_while(|line| line.strip_prefix("// ")).collect(),
    }
}

/// `TEXT -> holds`, `TEXT -> fails at 7`
fn expected(line: &str) -> Option<Expected> {
    let (text, outcome) = line.rsplit_once(" -> ")?;
    let (verdict, at) = match outcome.split_once(" at ") {
        Some((verdict, at)) => (verdict, Some(at.parse().ok()?)),
        None => (outcome, None),
    };
    let holds = match verdict {
        "holds" => true,
        "fails" => false,
        _ => return None,
    };
    Some(Expected { text: text.to_string(), holds, at })
}
