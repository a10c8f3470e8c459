//! Expressions. Without run-time errors, but in models that may have some: no division by zero, no index out of range, no
//! overflow of `int`.

use super::{MTYPES, Maker, NAMED, Type, Variable};

/// So many expressions may stand one inside the other.
const DEEPEST: usize = 4;

impl Variable {
    /// The variable that it is part of.
    pub(super) fn base(&self) -> &str {
        self.prefix.split(['.', '[']).next().unwrap_or_default()
    }

    /// Can it be named where only whole variables can?
    pub(super) fn is_plain(&self) -> bool {
        self.length == 1 && self.suffix.is_empty() && !self.prefix.contains(['.', '['])
    }

    fn production(&self) -> &'static str {
        match () {
            _ if self.prefix.contains('.') || !self.suffix.is_empty() => "field",
            _ if self.length > 1 => "element",
            _ => "variable",
        }
    }
}

impl Type {
    /// Whether it can hold every value that a message can have in a field of the other type, which is a byte at least.
    pub(super) fn holds(self, field: Type) -> bool {
        let bits = |of| match of {
            Type::Bit | Type::Bool => 1,
            Type::Unsigned(bits) => bits,
            Type::Byte | Type::Pid | Type::Mtype | Type::Named => 8,
            Type::Short => 16,
            Type::Int => 32,
        };
        let kind = |of: Type| (of == Type::Mtype, of == Type::Named);
        kind(self) == kind(field) && bits(self) >= bits(field).max(8)
    }
}

impl Maker<'_> {
    /// Variables that can be read and written here.
    pub(super) fn variables(&self) -> Vec<Variable> {
        self.globals.iter().chain(&self.body.locals).cloned().collect()
    }

    pub(super) fn a_variable(&mut self, fits: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let all = self.variables();
        self.pick_where(&all, fits)
    }

    pub(super) fn a_number(&mut self) -> Option<Variable> {
        self.a_variable(|variable| !variable.of.is_word())
    }

    /// The variable as text, its index a constant.
    pub(super) fn fixed(&mut self, variable: &Variable) -> String {
        self.written.leaf(variable.production());
        self.fixed_text(variable)
    }

    /// The same where it is not noted.
    pub(super) fn fixed_text(&mut self, variable: &Variable) -> String {
        match variable.length {
            1 => format!("{}{}", variable.prefix, variable.suffix),
            length => format!("{}[{}]{}", variable.prefix, self.below(length), variable.suffix),
        }
    }

    pub(super) fn text_of(&mut self, variable: &Variable) -> String {
        if variable.length == 1 || self.deep >= DEEPEST || self.chance(50) {
            return self.fixed(variable);
        }
        self.written.enter(variable.production());
        self.written.enter("index");
        // Where an assignment changes its own index, SPIN undoes it in the wrong place.
        let base = variable.base().to_string();
        let before = std::mem::replace(&mut self.body.no_remote, true);
        let index = match () {
            _ if self.on.risky && self.chance(50) => self.variable_but(&base),
            _ => self.masked(&base),
        };
        self.body.no_remote = before;
        self.written.leave();
        self.written.leave();
        format!("{}[{index}]{}", variable.prefix, variable.suffix)
    }

    /// Zero or one, whatever the state; without reading a variable.
    fn masked(&mut self, base: &str) -> String {
        let asks = std::mem::replace(&mut self.asks, false);
        let mark = self.written.mark();
        let text = match self.below(6) {
            0 => self.pure_condition(),
            1 => self.comparison(),
            2 => self.inside("conditional", |maker| {
                let condition = maker.comparison();
                maker.written.leaf("number");
                format!("({condition} -> 1 : 0)")
            }),
            3 => {
                self.written.leaf("number");
                "1".into()
            }
            _ => self.low_bit(base),
        };
        self.asks = asks;
        // A condition may be any number by itself.
        let sure =
            text == "1" || text.starts_with("(") && text.ends_with(")") && self.written.top(mark).is_some_and(is_truth);
        let sure = sure || text.starts_with('\u{1}') || text.starts_with("!(") || text.ends_with("& 1");
        if sure && !text.contains(base) {
            return text;
        }
        self.written.back_to(mark);
        self.low_bit(base)
    }

    fn low_bit(&mut self, base: &str) -> String {
        self.written.enter("&");
        let number = self.number_without(1, base);
        self.written.leaf("number");
        self.written.leave();
        format!("({number}) & 1")
    }

    /// A variable that is not part of another.
    fn variable_but(&mut self, base: &str) -> String {
        match self.a_variable(|variable| !variable.of.is_word() && variable.base() != base) {
            Some(variable) => self.fixed(&variable),
            None => self.masked(base),
        }
    }

    /// A number that does not depend on a variable.
    fn number_without(&mut self, depth: usize, base: &str) -> String {
        for _ in 0..4 {
            let mark = self.written.mark();
            let text = self.number(depth);
            if !text.contains(base) {
                return text;
            }
            self.written.back_to(mark);
        }
        self.written.leaf("number");
        "1".into()
    }

    pub(super) fn constant(&mut self, of: Type) -> String {
        match of {
            Type::Mtype => self.pick(&MTYPES).to_string(),
            Type::Named => self.pick(&NAMED).to_string(),
            Type::Bool => self.pick(&["true", "false"]).to_string(),
            Type::Bit => self.below(2).to_string(),
            _ if self.macros && self.chance(10) => "LIMIT".to_string(),
            _ => self.below(4).to_string(),
        }
    }

    /// A constant, noted as what it is.
    fn noted_constant(&mut self, of: Type) -> String {
        let production = match of {
            Type::Mtype | Type::Named => "mtype constant",
            Type::Bool => "true or false",
            _ => "number",
        };
        self.written.leaf(production);
        self.constant(of)
    }

    /// What a variable of that type is given: one of a few values, whatever the state.
    pub(super) fn value(&mut self, of: Type) -> String {
        if of.is_word() {
            let other = self.a_variable(|variable| variable.of == of).filter(|_| self.chance(30));
            return match other {
                Some(variable) => self.text_of(&variable),
                None => self.noted_constant(of),
            };
        }
        match self.below(100) {
            _ if self.in_eval && self.deep == 0 && self.chance(30) => return self.number(1),
            0..20 => return self.noted_constant(of),
            20..35 => return self.atom(),
            _ => {}
        }
        if !self.on.wide || !self.chance(35) {
            return self.few();
        }
        let by = self.pick(&["1", "2", "100", "127", "128", "129", "200", "254", "255", "256", "32767", "65535"]);
        let shift = self.pick(&["1", "6", "7", "8", "9"]);
        let (production, form) = match self.below(6) {
            0 => ("+", format!("(@) + {by}")),
            1 => ("-", format!("(@) - {by}")),
            2 => ("-", format!("{by} - (@)")),
            3 => ("*", format!("(@) * {by}")),
            4 => ("<<", format!("(@) << {shift}")),
            _ => ("minus", "-(@)".to_string()),
        };
        let few = self.inside(production, |maker| {
            if production != "minus" {
                maker.written.leaf("number");
            }
            maker.few()
        });
        form.replace('@', &few)
    }

    /// What a variable gets once and for all: any number will do.
    pub(super) fn given(&mut self, of: Type) -> String {
        if of.is_word() || self.chance(60) { self.value(of) } else { self.number(2) }
    }

    /// An expression with two or three values.
    fn few(&mut self) -> String {
        if self.deep >= DEEPEST {
            return self.noted_constant(Type::Bit);
        }
        self.deep += 1;
        let text = self.any_few();
        self.deep -= 1;
        text
    }

    fn any_few(&mut self) -> String {
        match self.below(6) {
            0 => format!("({})", self.pure_condition()),
            1 => self.inside("conditional", |maker| {
                let condition = maker.pure_condition();
                let (yes, no) = (maker.small(), maker.small());
                format!("(({condition}) -> {yes} : {no})")
            }),
            2 => self.inside("%", |maker| {
                let number = maker.number(2);
                maker.written.leaf("number");
                format!("({number}) % 2")
            }),
            3 => self.inside("!", |maker| format!("(!{})", maker.number(2))),
            _ => self.inside("&", |maker| {
                let number = maker.number(2);
                maker.written.leaf("number");
                format!("({number}) & 1")
            }),
        }
    }

    fn small(&mut self) -> String {
        match self.below(3) {
            0 => self.few(),
            _ => {
                self.written.leaf("number");
                self.below(3).to_string()
            }
        }
    }

    /// Any number; far from the limits of `int`.
    pub(super) fn number(&mut self, depth: usize) -> String {
        if self.deep >= DEEPEST {
            return self.noted_constant(Type::Byte);
        }
        self.deep += 1;
        let text = if depth == 0 || self.chance(30) { self.atom() } else { self.operation(depth) };
        self.deep -= 1;
        text
    }

    fn operation(&mut self, depth: usize) -> String {
        let choice = self.below(19);
        let operator = ["+", "+", "-", "-", "*", "&", "|", "^", "/", "%", ">>", "<<", "~", "minus", "conditional"];
        let compares = ["<", "<=", ">", ">=", "==", "!="];
        match choice {
            15 => {
                let operator = self.pick(&compares);
                self.binary(operator, depth)
            }
            16 => {
                let operator = self.pick(&["&&", "||"]);
                self.binary(operator, depth)
            }
            17 => self.inside("!", |maker| format!("(!{})", maker.number(depth - 1))),
            18 => self.few(),
            _ => match operator[choice] {
                "conditional" => self.inside("conditional", |maker| {
                    let (a, b, c) = (maker.number(depth - 1), maker.number(depth - 1), maker.number(depth - 1));
                    format!("({a} -> {b} : {c})")
                }),
                "~" => self.inside("~", |maker| format!("(~{})", maker.number(depth - 1))),
                "minus" => self.inside("minus", |maker| format!("(-{})", maker.number(depth - 1))),
                operator => self.binary(operator, depth),
            },
        }
    }

    fn binary(&mut self, operator: &'static str, depth: usize) -> String {
        self.inside(operator, |maker| {
            let left = maker.number(depth - 1);
            match operator {
                // Products stay small, and divisors are not zero, but where anything may happen.
                "*" => {
                    let right = maker.number(depth - 1);
                    format!("(({left} & 7) * ({right} % 5))")
                }
                "/" | "%" => match maker.on.risky && maker.chance(40) {
                    true => format!("({left} {operator} {})", maker.number(depth - 1)),
                    // Never zero.
                    false => format!("({left} {operator} (({} & 3) + 1))", maker.number(depth - 1)),
                },
                "<<" | ">>" => format!("(({left} & 255) {operator} ({} & 3))", maker.number(depth - 1)),
                _ => format!("({left} {operator} {})", maker.number(depth - 1)),
            }
        })
    }

    /// An operand.
    fn atom(&mut self) -> String {
        match self.below(14) {
            0 => self.noted_constant(Type::Byte),
            1 => self.noted_constant(Type::Bool),
            2 if self.on.pids => {
                self.written.leaf("_pid");
                "_pid".to_string()
            }
            3 if self.on.counts_processes => {
                self.written.leaf("_nr_pr");
                "_nr_pr".to_string()
            }
            4 if self.on.last => {
                self.written.leaf("_last");
                "_last".to_string()
            }
            5 if self.asks && self.chance(50) => match self.a_channel(|c| c.capacity.is_some_and(|n| n > 0)) {
                Some(channel) => {
                    let text = self.channel_text(&channel);
                    self.poll(&channel, &text)
                }
                None => self.variable_text(),
            },
            5 if !self.in_eval => match self.a_channel(|_| true) {
                Some(channel) => {
                    self.written.leaf("len");
                    format!("len({})", self.channel_text(&channel))
                }
                None => self.noted_constant(Type::Byte),
            },
            6 | 13 if !self.body.no_remote => self.remote().unwrap_or_else(|| self.variable_text()),
            7 if self.on.priorities => {
                self.written.leaf("get_priority");
                "get_priority(_pid)".to_string()
            }
            _ => self.variable_text(),
        }
    }

    fn variable_text(&mut self) -> String {
        match self.a_number() {
            Some(variable) => self.text_of(&variable),
            None => self.noted_constant(Type::Byte),
        }
    }

    /// A condition that asks no channel, so that `else` may stand beside it and `!` before it.
    pub(super) fn pure_condition(&mut self) -> String {
        if self.deep >= DEEPEST {
            return self.comparison();
        }
        self.deep += 1;
        let text = self.any_condition();
        self.deep -= 1;
        text
    }

    fn any_condition(&mut self) -> String {
        match self.below(12) {
            0 => self.inside("&&", |maker| {
                let (a, b) = (maker.pure_condition(), maker.pure_condition());
                // Between marks, for a twin that says it otherwise; where an operand is one by precedence, it is not this.
                match a.contains("||") || b.contains("||") {
                    true => format!("({a} && {b})"),
                    false => format!("\u{1}{a}\u{2}{b}\u{3}"),
                }
            }),
            1 => self.inside("||", |maker| {
                let (a, b) = (maker.pure_condition(), maker.pure_condition());
                format!("({a} || {b})")
            }),
            2 => self.inside("!", |maker| format!("!({})", maker.comparison())),
            3 => match self.number(2) {
                // Alone, this makes SPIN write C that does not compile.
                length if length.starts_with("len") => format!("({length} > 0)"),
                number => number,
            },
            4 => self.chain(),
            _ => self.comparison(),
        }
    }

    fn comparison(&mut self) -> String {
        let Some(variable) = self.a_variable(|_| true) else {
            self.written.leaf("true or false");
            return "true".to_string();
        };
        if variable.of.is_word() {
            let operator = self.pick(&["==", "!="]);
            return self.inside(operator, |maker| {
                let left = maker.text_of(&variable);
                format!("({left} {operator} {})", maker.noted_constant(variable.of))
            });
        }
        let operator = self.pick(&["==", "!=", "<", "<=", ">", ">=", "==", "!=", "<="]);
        self.inside(operator, |maker| {
            let left = maker.text_of(&variable);
            let right = match maker.chance(70) {
                true => maker.noted_constant(variable.of),
                false => maker.number(1),
            };
            format!("({left} {operator} {right})")
        })
    }

    /// Operators without parentheses, for the parser.
    fn chain(&mut self) -> String {
        let mark = self.written.mark();
        let mut text = self.atom();
        for _ in 0..2 + self.below(3) {
            let operators =
                ["+", "-", "&", "|", "^", "==", "!=", "<", ">=", "&&", "||", "% 3 +", "/ 2 -", ">> 1 <", "* 2 +"];
            let (operator, sign) = (self.pick(&operators), self.pick(&["", "", "", "!", "~", "-"]));
            let next = self.atom();
            text = format!("{text} {operator} {sign}{next}");
        }
        // What stands inside what is the parser's business.
        self.written.back_to(mark);
        text
    }

    /// Something that is true or not of another process, of a type that was declared before.
    fn remote(&mut self) -> Option<String> {
        if !self.on.remote {
            return None;
        }
        let here = self.body.number;
        let kinds = self.kinds.clone();
        let others: Vec<_> = kinds.into_iter().take(here).filter(|kind| kind.active == 1).collect();
        if others.is_empty() {
            return None;
        }
        let kind = self.pick(&others);
        if self.chance(50) {
            self.written.leaf("remote variable");
            return Some(format!("{}:seen", kind.name));
        }
        self.written.leaf("remote label");
        Some(format!("{}@here", kind.name))
    }

    /// A condition that may ask channels too.
    pub(super) fn condition(&mut self) -> String {
        if self.on.timeouts && self.chance(10) {
            let operator = ["", "&&", "||"][self.below(3)];
            if operator.is_empty() {
                self.written.leaf("timeout");
                return "timeout".to_string();
            }
            return self.inside(operator, |maker| {
                maker.written.leaf("timeout");
                format!("timeout {operator} {}", maker.comparison())
            });
        }
        if self.chance(70) {
            return self.pure_condition();
        }
        let Some(channel) = self.a_channel(|_| true) else { return self.pure_condition() };
        let text = self.channel_text(&channel);
        let (a, b) = (self.below(3), self.chance(50));
        let operator = ["", "&&", "||"][a];
        if operator.is_empty() {
            return self.asked(&channel, &text);
        }
        self.inside(operator, |maker| {
            let asked = maker.asked(&channel, &text);
            let other = maker.comparison();
            if b { format!("{asked} {operator} {other}") } else { format!("{other} {operator} {asked}") }
        })
    }

    fn asked(&mut self, channel: &super::Channel, text: &str) -> String {
        // To ask a rendezvous channel for a message is an error.
        if channel.capacity.is_some_and(|n| n > 0) && self.chance(50) {
            return self.poll(channel, text);
        }
        self.written.leaf("probe");
        format!("{}({text})", self.pick(&["empty", "full", "nempty", "nfull"]))
    }
}

/// Is it zero or one?
fn is_truth(production: &str) -> bool {
    ["<", "<=", ">", ">=", "==", "!=", "&&", "||", "!", "conditional"].contains(&production)
}
