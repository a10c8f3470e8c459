//! Which parts of a net's structure are used: each can be switched off, to see what it is good for or to do without.

use std::fmt;
use std::str::FromStr;

/// What is used of a net's structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Structure {
    /// Bounds of places from invariants and the state equation, which decide how many bits a place takes.
    pub bounds: bool,
    /// Places of which at most one is marked share one number.
    pub groups: bool,
    /// Places that follow from others are not stored.
    pub implied: bool,
    /// The state equation, traps and siphons answer what they can.
    pub equation: bool,
    /// Questions are asked of smaller nets: transitions and places that do not matter go, others are fused.
    pub reduction: bool,
    /// Random walks look for what may be there.
    pub walks: bool,
}

const NAMES: [&str; 6] = ["bounds", "groups", "implied", "equation", "reduction", "walks"];

impl Structure {
    pub const ALL: Structure =
        Structure { bounds: true, groups: true, implied: true, equation: true, reduction: true, walks: true };
    pub const NONE: Structure =
        Structure { bounds: false, groups: false, implied: false, equation: false, reduction: false, walks: false };

    fn part(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "bounds" => &mut self.bounds,
            "groups" => &mut self.groups,
            "implied" => &mut self.implied,
            "equation" => &mut self.equation,
            "reduction" => &mut self.reduction,
            "walks" => &mut self.walks,
            _ => return None,
        })
    }
}

impl FromStr for Structure {
    type Err = String;

    /// `all`, `none`, or a list of parts; a minus sign before a part takes it away.
    fn from_str(text: &str) -> Result<Structure, String> {
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        let takes_away = words.first().is_some_and(|word| word.starts_with('-'));
        let mut structure = if takes_away { Structure::ALL } else { Structure::NONE };
        for word in words {
            let (name, on) = word.strip_prefix('-').map_or((word, true), |name| (name, false));
            match (name, structure.part(name)) {
                (_, Some(part)) => *part = on,
                ("all", None) => structure = Structure::ALL,
                ("none", None) => structure = Structure::NONE,
                _ => return Err(format!("unknown part `{name}`\nhelp: choose from: all, none, {}", NAMES.join(", "))),
            }
        }
        Ok(structure)
    }
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Structure::ALL => f.write_str("all"),
            Structure::NONE => f.write_str("none"),
            mut some => {
                let used: Vec<&str> = NAMES.into_iter().filter(|name| some.part(name).is_some_and(|on| *on)).collect();
                f.write_str(&used.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_taken_and_taken_away() {
        assert_eq!("all".parse(), Ok(Structure::ALL));
        assert_eq!("none".parse(), Ok(Structure::NONE));
        assert_eq!("-walks".parse(), Ok(Structure { walks: false, ..Structure::ALL }));
        assert_eq!("all,-walks,-groups".parse(), Ok(Structure { walks: false, groups: false, ..Structure::ALL }));
        assert_eq!("bounds,groups".parse(), Ok(Structure { bounds: true, groups: true, ..Structure::NONE }));
        assert!("nonsense".parse::<Structure>().unwrap_err().contains("reduction"));
        assert_eq!("bounds,groups".parse::<Structure>().unwrap().to_string(), "bounds,groups");
    }
}
