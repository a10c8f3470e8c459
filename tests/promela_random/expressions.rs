//! Expressions without run-time errors: no division by zero, no index out of range, no overflow of `int`.

use super::features::Feature;
use super::{MTYPES, Maker, Place, Type};

impl Place {
    /// The variable that it is part of.
    pub(super) fn base(&self) -> &str {
        self.prefix.split(['.', '[']).next().unwrap_or_default()
    }
}

impl Type {
    /// Whether it can hold every value that a message can have in a field of the other type, which is a byte at least.
    pub(super) fn holds(self, field: Type) -> bool {
        let bits = |of| match of {
            Type::Bit | Type::Bool => 1,
            Type::Unsigned(bits) => bits,
            Type::Byte | Type::Mtype => 8,
            Type::Short => 16,
            Type::Int => 32,
        };
        (self == Type::Mtype) == (field == Type::Mtype) && bits(self) >= bits(field).max(8)
    }
}

impl Maker {
    /// Variables that can be read and written here.
    pub(super) fn places(&self) -> Vec<Place> {
        self.globals.iter().chain(&self.body.locals).cloned().collect()
    }

    pub(super) fn a_place(&mut self, fits: impl Fn(Type) -> bool) -> Option<Place> {
        let places: Vec<Place> = self.places().into_iter().filter(|place| fits(place.of)).collect();
        if places.is_empty() { None } else { Some(self.pick(&places)) }
    }

    /// The place as text, its index a constant.
    pub(super) fn fixed(&mut self, place: &Place) -> String {
        match place.length {
            1 => format!("{}{}", place.prefix, place.suffix),
            length => format!("{}[{}]{}", place.prefix, self.below(length), place.suffix),
        }
    }

    pub(super) fn text_of(&mut self, place: &Place) -> String {
        if place.length == 1 || self.chance(60) {
            return self.fixed(place);
        }
        // Where an assignment changes its own index, SPIN undoes it in the wrong place.
        let other = self.a_place(|of| of != Type::Mtype).filter(|other| other.base() != place.base());
        let index = match other {
            Some(other) if self.chance(60) => format!("{} & 1", self.fixed(&other)),
            _ if self.uses(Feature::Pid, 100) => "_pid & 1".to_string(),
            _ => "1".to_string(),
        };
        format!("{}[{index}]{}", place.prefix, place.suffix)
    }

    pub(super) fn constant(&mut self, of: Type) -> String {
        match of {
            Type::Mtype => self.pick(&MTYPES).to_string(),
            Type::Bool => self.pick(&["true", "false"]).to_string(),
            Type::Bit => self.below(2).to_string(),
            _ if self.macros.len() == 1 && self.chance(10) => "LIMIT".to_string(),
            _ => self.below(4).to_string(),
        }
    }

    /// What a variable of that type is given: one of a few values, whatever the state.
    pub(super) fn value(&mut self, of: Type) -> String {
        if of == Type::Mtype {
            let other = self.a_place(|of| of == Type::Mtype).filter(|_| self.chance(30));
            return match other {
                Some(place) => self.text_of(&place),
                None => self.constant(of),
            };
        }
        if self.chance(45) {
            return self.constant(of);
        }
        let few = self.few();
        if !self.uses(Feature::WideValues, 35) {
            return few;
        }
        let by = self.pick(&["1", "2", "100", "127", "128", "129", "200", "254", "255", "256", "32767", "65535"]);
        let shift = self.pick(&["1", "6", "7", "8", "9"]);
        match self.below(6) {
            0 => format!("({few}) + {by}"),
            1 => format!("({few}) - {by}"),
            2 => format!("{by} - ({few})"),
            3 => format!("({few}) * {by}"),
            4 => format!("({few}) << {shift}"),
            _ => format!("-({few})"),
        }
    }

    /// An expression with two or three values.
    fn few(&mut self) -> String {
        match self.below(5) {
            0 => {
                let condition = self.pure_condition();
                format!("({condition})")
            }
            1 if self.uses(Feature::Conditional, 100) => {
                let (condition, yes, no) = (self.pure_condition(), self.below(3), self.below(3));
                format!("(({condition}) -> {yes} : {no})")
            }
            2 => format!("({}) % 2", self.number(2)),
            _ => format!("({}) & 1", self.number(2)),
        }
    }

    /// Any number; far from the limits of `int`.
    pub(super) fn number(&mut self, depth: usize) -> String {
        if depth == 0 || self.chance(35) {
            return self.atom();
        }
        let (left, right) = (self.number(depth - 1), self.number(depth - 1));
        match self.below(13) {
            0 | 1 => format!("({left} + {right})"),
            2 | 3 => format!("({left} - {right})"),
            4 => format!("(({left} & 7) * ({right} % 5))"),
            5 => format!("({left} & {right})"),
            6 => format!("({left} | {right})"),
            7 => format!("({left} ^ {right})"),
            8 => format!("({left} / {})", 2 + self.below(3)),
            9 => format!("({left} % {})", 2 + self.below(3)),
            10 => format!("({left} >> {})", 1 + self.below(2)),
            11 => format!("(~{left})"),
            _ => format!("(-{left})"),
        }
    }

    fn atom(&mut self) -> String {
        match self.below(10) {
            0 => self.below(4).to_string(),
            1 if self.uses(Feature::Pid, 100) => "_pid".to_string(),
            2 if self.uses(Feature::ProcessCount, 100) => "_nr_pr".to_string(),
            3 if self.uses(Feature::ChannelSize, 100) => match self.a_channel(|_| true) {
                Some(channel) => format!("len({})", self.channel_text(&channel)),
                None => "1".to_string(),
            },
            _ => match self.a_place(|of| of != Type::Mtype) {
                Some(place) => self.text_of(&place),
                None => "1".to_string(),
            },
        }
    }

    /// A condition that asks no channel, so that `else` may stand beside it and `!` before it.
    pub(super) fn pure_condition(&mut self) -> String {
        match self.below(12) {
            0 => format!("{} && {}", self.comparison(), self.comparison()),
            1 => format!("{} || {}", self.comparison(), self.comparison()),
            2 => format!("!({})", self.comparison()),
            3 => match self.number(2) {
                // Alone, this makes SPIN write C that does not compile.
                length if length.starts_with("len") => format!("{length} > 0"),
                number => number,
            },
            4 if self.uses(Feature::Precedence, 100) => self.chain(),
            5 if self.uses(Feature::ProcessCount, 100) => {
                format!("_nr_pr {} {}", self.pick(&["<", "==", ">", "<="]), 1 + self.below(4))
            }
            6 if self.on.has(Feature::RemoteReference) && !self.body.no_remote => {
                self.remote().unwrap_or_else(|| self.comparison())
            }
            _ => self.comparison(),
        }
    }

    fn comparison(&mut self) -> String {
        let Some(place) = self.a_place(|_| true) else { return "true".to_string() };
        let (left, operator) =
            (self.text_of(&place), self.pick(&["==", "!=", "<", "<=", ">", ">=", "==", "!=", "<=", "<="]));
        match place.of {
            Type::Mtype => format!("{left} {} {}", self.pick(&["==", "!="]), self.constant(Type::Mtype)),
            of if self.chance(75) => format!("{left} {operator} {}", self.constant(of)),
            _ => format!("{left} {operator} {}", self.number(1)),
        }
    }

    /// Operators without parentheses, for the parser.
    fn chain(&mut self) -> String {
        let mut text = self.atom();
        for _ in 0..2 + self.below(3) {
            let operators =
                ["+", "-", "&", "|", "^", "==", "!=", "<", ">=", "&&", "||", "% 3 +", "/ 2 -", ">> 1 <", "* 2 +"];
            let (operator, sign) = (self.pick(&operators), self.pick(&["", "", "", "!", "~", "-"]));
            let next = self.atom();
            text = format!("{text} {operator} {sign}{next}");
        }
        text
    }

    /// Whether another process, of a type that was declared before, is at its label.
    fn remote(&mut self) -> Option<String> {
        let here = self.body.number;
        let others = self.kinds.iter().enumerate().filter(|&(number, kind)| kind.labelled && number < here);
        let names: Vec<String> = others.map(|(_, kind)| kind.name.clone()).collect();
        if names.is_empty() {
            return None;
        }
        self.note(Feature::RemoteReference);
        Some(format!("{}@here", self.pick(&names)))
    }

    /// A condition that may ask channels too.
    pub(super) fn condition(&mut self) -> String {
        if self.chance(75) {
            return self.pure_condition();
        }
        let Some(channel) = self.a_channel(|_| true) else { return self.pure_condition() };
        let text = self.channel_text(&channel);
        // To ask a rendezvous channel for a message is an error.
        let asked = if channel.capacity.is_some_and(|n| n > 0) && self.uses(Feature::Poll, 50) {
            self.poll(&channel, &text)
        } else if self.uses(Feature::ChannelSize, 100) {
            format!("{}({text})", self.pick(&["empty", "full", "nempty", "nfull"]))
        } else {
            return self.pure_condition();
        };
        match self.below(4) {
            0 => format!("{asked} && {}", self.comparison()),
            1 => format!("{asked} || {}", self.comparison()),
            _ => asked,
        }
    }
}
