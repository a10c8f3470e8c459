//! Which processes runs must be fair to: `weak`, `strong`, or chosen ones, as in `SF(P), WF(Q)`.

use std::fmt;

/// How fair a run is to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FairnessKind {
    /// A process that stays enabled moves again and again.
    Weak,
    /// A process that is enabled again and again moves again and again.
    Strong,
}

/// What is asked of the runs that count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FairnessChoice {
    /// Of every process.
    pub everyone: Option<FairnessKind>,
    /// Of those with a name.
    pub chosen: Vec<(FairnessKind, String)>,
}

impl FairnessChoice {
    pub fn weak() -> FairnessChoice {
        FairnessChoice { everyone: Some(FairnessKind::Weak), chosen: Vec::new() }
    }

    pub fn strong() -> FairnessChoice {
        FairnessChoice { everyone: Some(FairnessKind::Strong), chosen: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.everyone.is_none() && self.chosen.is_empty()
    }

    /// The strongest kind that is asked for.
    pub fn strongest(&self) -> Option<FairnessKind> {
        self.everyone.into_iter().chain(self.chosen.iter().map(|(kind, _)| *kind)).max()
    }

    /// Is a text about processes? Otherwise it is a condition.
    pub fn is_about_processes(text: &str) -> bool {
        let text = text.trim();
        let called = |name: &str| text.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('('));
        text == "weak" || text == "strong" || called("SF") || called("WF")
    }

    /// Asks for what a text says, too.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let everyone = match text.trim() {
            "weak" => Some(FairnessKind::Weak),
            "strong" => Some(FairnessKind::Strong),
            _ => None,
        };
        if everyone.is_some() {
            self.everyone = self.everyone.max(everyone);
            return Ok(());
        }
        let mut rest = text.trim();
        loop {
            let wrong = || format!("expected SF(PROCESS) or WF(PROCESS), separated by commas, found `{rest}`");
            let (kind, after) = match (rest.strip_prefix("SF"), rest.strip_prefix("WF")) {
                (Some(after), _) => (FairnessKind::Strong, after),
                (_, Some(after)) => (FairnessKind::Weak, after),
                _ => return Err(wrong()),
            };
            let inner = after.trim_start().strip_prefix('(').ok_or_else(wrong)?;
            let end = closing(inner).ok_or_else(wrong)?;
            let name = inner[..end].trim();
            if name.is_empty() {
                return Err(wrong());
            }
            self.chosen.push((kind, name.to_string()));
            let after = inner[end + 1..].trim_start();
            if after.is_empty() {
                return Ok(());
            }
            rest = match after.strip_prefix(',') {
                Some(more) => more.trim_start(),
                None => return Err(format!("expected a comma before `{after}`")),
            };
        }
    }
}

/// Where the parenthesis is closed that was opened before; names may have some.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (place, sign) in text.char_indices() {
        match sign {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(place),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

impl fmt::Display for FairnessChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let everyone = self.everyone.map(|kind| match kind {
            FairnessKind::Weak => "weak".to_string(),
            FairnessKind::Strong => "strong".to_string(),
        });
        let chosen = self.chosen.iter().map(|(kind, name)| match kind {
            FairnessKind::Weak => format!("WF({name})"),
            FairnessKind::Strong => format!("SF({name})"),
        });
        f.write_str(&everyone.into_iter().chain(chosen).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        let mut choice = FairnessChoice::default();
        choice.add(text).map(|()| choice.to_string())
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read("weak"), Ok("weak".into()));
        assert_eq!(read(" SF( P_0 ),WF(Q(1))"), Ok("SF(P_0), WF(Q(1))".into()));
        let mut both = FairnessChoice::weak();
        both.add("strong").unwrap();
        assert_eq!((both.to_string(), both.strongest()), ("strong".into(), Some(FairnessKind::Strong)));
        for wrong in ["SF(P", "SF()", "SF(P) WF(Q)", "SF(P),", "SF(P), x > 1"] {
            assert!(FairnessChoice::is_about_processes(wrong), "{wrong}");
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(!FairnessChoice::is_about_processes("x > 1") && !FairnessChoice::is_about_processes("SFX == 1"));
    }
}
