//! An answer beside the one before it, for people.

use super::answer::{Answer, Counts, Found};
use scrimp_report::Style;
use scrimp_report::number::{count_of, grouped, grouped_digits};
use serde_json::Value as Json;
use std::fmt::Write;

/// What a check has answered, and beside each line what it was the last time, where that was something else.
pub fn told(name: &str, now: &Answer, before: Option<&Answer>, style: Style) -> String {
    let seconds = format!("{:.2} s", now.seconds);
    let verdict = coloured(&now.verdict, &shown(&now.verdict), style);
    let mut out = String::new();
    if let Some(before) = before.filter(|before| before.is_like(now)) {
        let counts = now.counts.as_ref().map_or(String::new(), |counts| format!(", {}", counted(counts, None)));
        let _ = writeln!(out, "{name}: unchanged: {verdict}{counts}; {seconds}");
        remarks(now, Some(before), &mut out);
        return out;
    }
    let was = before.filter(|before| before.verdict != now.verdict);
    let was = was.map_or(String::new(), |before| format!("  (was {})", shown(&before.verdict)));
    let _ = writeln!(out, "{name}: {verdict}{was}");
    for found in &now.found {
        let then = before.map(|before| before.found.iter().find(|other| other.name == found.name));
        let was = match then {
            Some(Some(other)) if other != found => format!("  (was {})", in_words(other)),
            Some(None) => "  (new)".to_string(),
            _ => String::new(),
        };
        let word = coloured(&found.verdict, &format!("{:<9}", shown(&found.verdict)), style);
        let _ = writeln!(out, "  {word}  {}{}{was}", found.name, beside(found));
    }
    for gone in before.map_or(&[][..], |before| &before.found[..]) {
        if !now.found.iter().any(|found| found.name == gone.name) {
            let _ = writeln!(out, "  {:<9}  {}  (was {})", "gone", gone.name, in_words(gone));
        }
    }
    let counts = match (&now.counts, before.map(|before| &before.counts)) {
        (Some(counts), then) => counted(counts, then.and_then(Option::as_ref)),
        (None, then) => {
            let seen = now.seen.as_deref().map_or(String::new(), |seen| format!(" after {}", many(seen, "state")));
            let why = match &now.limit {
                Some(limit) => format!("ended by the limit of {limit}"),
                None => "ended".to_string(),
            };
            let states = then.and_then(Option::as_ref).and_then(|then| then.0.first());
            format!(
                "{why}{seen}{}",
                states.map_or(String::new(), |(_, all)| format!(" (were {})", grouped_digits(all)))
            )
        }
    };
    let _ = writeln!(out, "  {counts}; {seconds}");
    for (kind, never, of) in &now.never {
        let then = before.and_then(|before| before.never.iter().find(|(other, ..)| other == kind));
        let was = then.filter(|then| then.1 != *never).map(|then| format!(" (was {})", then.1));
        if *never > 0 || was.is_some() {
            let was = was.unwrap_or_default();
            let _ = writeln!(
                out,
                "  {never}{was} of {} never happen{}",
                count_of(*of, kind),
                if *never == 1 { "s" } else { "" }
            );
        }
    }
    remarks(now, before, &mut out);
    out
}

/// How far a check is, in a few words.
pub fn progress(told: &Json) -> String {
    let states = told["states"].as_u64().filter(|states| *states > 0);
    let states = states.map_or(String::new(), |states| format!(", {} states", grouped(states)));
    format!("checking: {:.0} s{states}", told["seconds"].as_f64().unwrap_or_default())
}

/// Warnings and remarks that were not made the last time.
fn remarks(now: &Answer, before: Option<&Answer>, out: &mut String) {
    if before.is_none_or(|before| before.remarks != now.remarks) {
        for remark in &now.remarks {
            let _ = writeln!(out, "  {remark}");
        }
    }
}

/// Figures, and beside each what it was.
fn counted(counts: &Counts, before: Option<&Counts>) -> String {
    let one = |(what, digits): &(&str, String)| {
        let then = before.and_then(|before| before.0.iter().find(|(other, _)| other == what));
        let was = then.filter(|(_, then)| then != digits);
        // What is not there at all is worth a word only where it was.
        let told = digits != "0" || was.is_some();
        let was = was.map_or(String::new(), |(_, then)| format!(" (was {})", grouped_digits(then)));
        told.then(|| many(digits, what) + &was)
    };
    counts.0.iter().filter_map(one).collect::<Vec<_>>().join(", ")
}

fn many(digits: &str, what: &str) -> String {
    format!("{} {what}{}", grouped_digits(digits), if digits == "1" { "" } else { "s" })
}

/// What shows a verdict.
fn beside(found: &Found) -> String {
    let answer = found.answer.as_ref().map_or(String::new(), |answer| format!("  {answer}"));
    let run = found.steps.map_or(String::new(), |steps| format!("  at {}", count_of(steps, "step")));
    answer + &run
}

fn in_words(found: &Found) -> String {
    shown(&found.verdict) + &beside(found).replace("  ", " ")
}

/// A verdict as people read it.
fn shown(verdict: &str) -> String {
    verdict.replace('-', " ")
}

fn coloured(verdict: &str, text: &str, style: Style) -> String {
    match verdict {
        "verified" => style.good(text),
        "violated" => style.bad(text),
        _ => style.warn(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(verdict: &str, deadlock: Json, states: u64, open: u64) -> Answer {
        let told = json!({
            "verdict": verdict, "states": states, "transitions": 2 * states, "deadlocks": 0, "open": open,
            "properties": [deadlock, { "name": "faults", "verdict": "verified", "trace": null }],
            "coverage": { "parts": [{ "kind": "statement", "total": 7, "reached": 6 }] },
            "limits": { "reached": null }, "seconds": 0.25,
        });
        Answer::of(&told, Vec::new())
    }

    fn verified(states: u64) -> Answer {
        answer("verified", json!({ "name": "deadlock", "verdict": "verified", "trace": null }), states, 0)
    }

    fn violated() -> Answer {
        let steps = json!([{ "event": null }, { "event": 3 }, { "event": 4 }]);
        let found = json!({ "name": "deadlock", "verdict": "violated", "trace": { "steps": steps, "loop": null } });
        answer("violated", found, 69, 16)
    }

    #[test]
    fn an_answer_stands_beside_the_one_before() {
        let told = |now: &Answer, before: Option<&Answer>| told("m", now, before, Style::PLAIN);
        assert_eq!(
            told(&violated(), None),
            "m: violated\n  violated   deadlock  at 2 steps\n  verified   faults\n  ended after 69 states; 0.25 s\n\
             \x20 1 of 7 statements never happens\n"
        );
        let fixed = told(&verified(1154), Some(&violated()));
        assert!(
            fixed.starts_with("m: verified  (was violated)\n  verified   deadlock  (was violated at 2 steps)\n"),
            "{fixed}"
        );
        assert!(fixed.contains("\n  verified   faults\n  1,154 states, 2,308 transitions; 0.25 s\n"), "{fixed}");
        let more = told(&verified(155), Some(&verified(154)));
        assert!(more.contains("  155 states (was 154), 310 transitions (was 308); 0.25 s\n"), "{more}");
        assert!(told(&violated(), Some(&verified(154))).contains("  ended after 69 states (were 154); 0.25 s\n"));
        let same = told(&verified(154), Some(&verified(154)));
        assert_eq!(same, "m: unchanged: verified, 154 states, 308 transitions; 0.25 s\n");
    }

    #[test]
    fn properties_come_and_go() {
        let mut other = verified(154);
        other.found[1].name = "assertions".into();
        let told = told("m", &other, Some(&verified(154)), Style::PLAIN);
        assert!(told.contains("  verified   assertions  (new)\n  gone       faults  (was verified)\n"), "{told}");
    }
}
