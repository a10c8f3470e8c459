//! Small arithmetic over the values of a row: `5 * states`, `(S + 5) % of states`.
//!
//! ```text
//! sum     = product { (+ | -) product }
//! product = factor { (* | / | of) factor }
//! factor  = (number | name | "(" sum ")" | - factor) [%]
//! ```
//! A percent sign divides by a hundred, and `of` multiplies, so that percentages read as they are spoken.

/// Why an expression has no value.
#[derive(Debug, PartialEq, Eq)]
pub enum NoValue {
    /// It uses a cell that the table leaves open (`-`).
    Open,
    Because(String),
}

/// What names stand for. A cell that is left open is `Err(NoValue::Open)`.
pub type Names<'a> = &'a dyn Fn(&str) -> Result<String, NoValue>;

pub fn evaluate(text: &str, names: Names) -> Result<f64, NoValue> {
    let mut reader = Reader { text, rest: text, names, depth: 0 };
    let value = reader.sum()?;
    match reader.rest.trim_start() {
        "" if value.is_finite() => Ok(value),
        "" => Err(NoValue::Because(format!("the value of `{text}` is not finite"))),
        rest => Err(NoValue::Because(format!("unexpected `{rest}` in the expression `{text}`"))),
    }
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    names: Names<'a>,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The word `of`, and not the start of a name.
    fn take_of(&mut self) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix("of") {
            Some(rest) if !rest.starts_with(continues_name) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn sum(&mut self) -> Result<f64, NoValue> {
        let mut value = self.product()?;
        loop {
            if self.take("+") {
                value += self.product()?;
            } else if self.take("-") {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, NoValue> {
        let mut value = self.factor()?;
        loop {
            if self.take("*") || self.take_of() {
                value *= self.factor()?;
            } else if self.take("/") {
                value /= self.factor()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn factor(&mut self) -> Result<f64, NoValue> {
        self.depth += 1;
        if self.depth > 50 {
            return Err(NoValue::Because(format!("`{}` nests too deeply", self.text)));
        }
        let mut value = self.bare()?;
        self.depth -= 1;
        while self.take("%") {
            value /= 100.0;
        }
        Ok(value)
    }

    fn bare(&mut self) -> Result<f64, NoValue> {
        if self.take("-") {
            return Ok(-self.factor()?);
        }
        if self.take("(") {
            let value = self.sum()?;
            return if self.take(")") { Ok(value) } else { self.wrong("a closing parenthesis") };
        }
        let word = |kind: fn(char) -> bool| self.rest.find(|c| !kind(c)).unwrap_or(self.rest.len());
        let (length, number) = match self.rest.chars().next() {
            Some(c) if c.is_ascii_digit() => (word(|c| c.is_ascii_digit() || c == '.' || c == '_'), true),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => (word(continues_name), false),
            _ => return self.wrong("a number or a name"),
        };
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        let text = if number { word.replace('_', "") } else { (self.names)(word)? };
        text.parse()
            .map_err(|_| NoValue::Because(format!("`{word}` is not a number in the expression `{}`", self.text)))
    }

    fn wrong(&self, what: &str) -> Result<f64, NoValue> {
        Err(NoValue::Because(format!("the expression `{}` needs {what}", self.text)))
    }
}

pub fn continues_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// What may name a variable, a column or a parameter.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(continues_name) && text != "of"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, NoValue> {
        evaluate(text, &|name| match name {
            "states" => Ok("200".into()),
            "dfs.S" => Ok("35".into()),
            "open" => Err(NoValue::Open),
            "word" => Ok("bfs".into()),
            _ => Err(NoValue::Because(format!("no {name}"))),
        })
    }

    #[test]
    fn values() {
        for (text, expected) in [
            ("5 * states", 1000.0),
            ("dfs.S % of states", 70.0),
            ("(dfs.S + 5)% of states", 80.0),
            ("2 + 3 * 4 - 1", 13.0),
            ("-2 * -3", 6.0),
            ("1_000 / 8", 125.0),
            ("5 %", 0.05),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
        assert_eq!(value("5 * open"), Err(NoValue::Open));
        for wrong in ["", "5 *", "states states", "offer", "(1", "1 / 0", "word", "1..2", &"(".repeat(100_000)] {
            assert!(matches!(value(wrong), Err(NoValue::Because(_))), "{wrong}");
        }
    }
}
