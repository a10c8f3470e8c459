//! `${name}` and `${5 * states}` in texts, and texts taken apart into the words of a command.

use crate::expression::{Names, NoValue, evaluate, is_name};

/// Puts values in place of `${…}`: the text of a name, or the value of an expression, rounded up to a whole number.
pub fn fill(template: &str, names: Names) -> Result<String, NoValue> {
    let mut out = String::new();
    let mut rest = template;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else {
            return Err(NoValue::Because(format!("`{}` has no closing brace", &rest[start..])));
        };
        out.push_str(&rest[..start]);
        let inner = rest[start + 2..start + length].trim();
        match is_name(inner) {
            true => out.push_str(&names(inner)?),
            false => out.push_str(&format!("{}", evaluate(inner, names)?.ceil() as i64)),
        }
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The names that a template asks for by themselves.
pub fn names_in(template: &str) -> impl Iterator<Item = &str> {
    template.split("${").skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name.trim())
}

/// Takes a text apart at spaces, except within single or double quotes.
pub fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    match quote {
        Some(q) => Err(format!("a quote {q} is not closed")),
        None => {
            words.extend(word);
            Ok(words)
        }
    }
}

/// Words as a shell would take them.
pub fn command_line(words: &[String]) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_./:,+=%@".contains(c);
    let quoted = words.iter().map(|word| match !word.is_empty() && word.chars().all(safe) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filled() {
        let names = |name: &str| match name {
            "order" => Ok("bfs".to_string()),
            "states" => Ok("33".to_string()),
            other => Err(NoValue::Because(format!("no {other}"))),
        };
        assert_eq!(fill("--order ${order} --n ${ 5 % of states }.", &names).unwrap(), "--order bfs --n 2.");
        assert_eq!(fill("plain $x {y}", &names).unwrap(), "plain $x {y}");
        assert!(fill("${ordr}", &names).is_err());
        assert!(fill("${order", &names).is_err());
    }

    #[test]
    fn taken_apart() {
        assert_eq!(words(" --a  b '' -p 'reach: \"x y\"' ").unwrap(), ["--a", "b", "", "-p", "reach: \"x y\""]);
        assert!(words("'a").is_err());
        assert_eq!(command_line(&words("a 'b c' d").unwrap()), "a 'b c' d");
    }
}
