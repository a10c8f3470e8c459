//! Wrong command lines: what is wrong, and what was probably meant. Flags of SPIN, LTSmin, TLC and NuSMV are answered with ours.

use super::failure::Failure;
use super::help::command;
use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use std::ffi::OsString;
use std::path::Path;

/// Flags of other tools, and what to write instead. What ends in `*` stands for all that begins so.
const ELSEWHERE: &[(&str, &str)] = &[
    // SPIN, and the programs it makes
    ("-a", "`-p accepting` looks for acceptance cycles; formulas and claims are checked without it"),
    ("-run", "leave it out: `scrimp check MODEL` needs no other step"),
    ("-search", "leave it out: `scrimp check MODEL` needs no other step"),
    ("-l", "`-p progress` looks for non-progress cycles"),
    ("-f*", "`-p 'ltl: FORMULA'` checks a formula, and `--fair weak` is SPIN's weak fairness"),
    ("-F*", "`-p 'ltl: FORMULA'` checks a formula; `--property-file FILE` reads several from a file"),
    ("-N*", "`-p 'ltl NAME'` checks the formula of that name"),
    ("-ltl*", "`-p 'ltl NAME'` checks the formula of that name"),
    ("-e", "`-k` goes on after the first violation"),
    ("-c*", "`-k` goes on after the first violation"),
    ("-i", "traces are shortest by themselves; `scrimp simulate MODEL -i` goes through a model by hand"),
    ("-I", "traces are shortest by themselves"),
    ("-w*", "the table grows by itself; `--memory SIZE` limits it"),
    ("-noclaim", "`-p deadlock -p assertions` checks without the claim"),
    ("-safety", "`-p deadlock -p faults -p assertions` checks safety alone"),
    ("-bfs*", "breadth-first is the default; `--order dfs` is depth-first"),
    ("-dfs*", "`--order dfs` is depth-first"),
    ("-biterate", "`--store bitstate` keeps a few bits a state"),
    ("-bitstate", "`--store bitstate` keeps a few bits a state"),
    ("-swarm*", "`scrimp simulate MODEL --walks N` looks for errors by random walks on all cores"),
    // LTSmin
    ("--por", "`--reduce por`"),
    ("--state", "`--store tree`, `table` or `dfa`"),
    ("--strategy", "`--order bfs` or `dfs`; `--cycles nested` looks for cycles by nested depth-first search"),
    ("-d", "`-p deadlock`"),
    ("--deadlock", "`-p deadlock`"),
    ("--invariant", "`-p 'invariant: EXPR'`"),
    ("--ltl", "`-p 'ltl: FORMULA'`"),
    ("--ctl", "`-p 'ctl: FORMULA'`"),
    ("--ctl-star", "`-p 'ctl: FORMULA'` or `-p 'ltl: FORMULA'`"),
    ("--mu", "the mu-calculus is not supported; `-p 'ctl: FORMULA'` or `-p 'ltl: FORMULA'`"),
    ("--vset", "`--engine symbolic`"),
    ("--saturation", "`--engine symbolic:saturation`"),
    ("--sat-granularity", "`--engine symbolic:saturation`"),
    ("--size", "the table grows by itself; `--memory SIZE` limits it"),
    ("-s", "the table grows by itself; `--memory SIZE` limits it"),
    ("--no-exit", "`-k` goes on after the first violation"),
    ("--procs", "`--threads N`"),
    ("--timeout", "`--time DURATION`, such as 10m"),
    // TLC
    ("-workers", "`--threads N`"),
    ("-deadlock", "`-p deadlock` checks deadlocks alone; name other properties to leave them out"),
    ("-simulate", "`scrimp simulate MODEL --walks N`"),
    ("-dump", "`--graph FILE.dot` writes the reachability graph"),
    ("-coverage", "leave it out: what is never executed is reported by itself"),
    ("-config", "properties are given with `-p TEXT` or `--property-file FILE`"),
    // NuSMV
    ("-bmc*", "`--engine bmc`, or `--engine bmc:K` for runs of up to K events"),
    ("-int", "`scrimp explore MODEL`, or `scrimp simulate MODEL -i`"),
    // what one might try
    ("--workers", "`--threads N`"),
    ("--cores", "`--threads N`"),
    ("--bfs", "breadth-first is the default; `--order dfs` is depth-first"),
    ("--dfs", "`--order dfs`"),
    ("--depth", "`--engine bmc:K` looks at runs of up to K events"),
    ("--bmc", "`--engine bmc`"),
    ("--symbolic", "`--engine symbolic`"),
    ("--gpu", "`--engine gpu`"),
    ("--explicit", "`--engine explicit`"),
    ("--tree", "`--store tree`"),
    ("--bitstate", "`--store bitstate`"),
    ("--symmetry", "`--reduce symmetry`"),
    ("--fairness", "`--fair weak` or `--fair strong`"),
    ("--output", "`--json > FILE`, or `--report FILE.html`"),
    ("-o", "`--json > FILE`, or `--report FILE.html`"),
    ("--color", "colours are used on a terminal only; the variable NO_COLOR=1 turns them off"),
    ("--colour", "colours are used on a terminal only; the variable NO_COLOR=1 turns them off"),
    ("--no-color", "the variable NO_COLOR=1 turns colours off"),
];

/// What is wrong with a command line, and what to do.
pub fn told(error: &Error, words: &[OsString]) -> Failure {
    let words: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let whole = command();
    let sub = words.iter().find_map(|word| whole.find_subcommand(word)).map(Command::get_name);
    let name = sub.map_or("scrimp".to_string(), |sub| format!("scrimp {sub}"));
    let see = format!("`{name} -h` lists the options");
    let text = |kind| error.get(kind).map(shown).unwrap_or_default();
    let flag = text(ContextKind::InvalidArg);
    let (what, help) = match error.kind() {
        ErrorKind::UnknownArgument => unknown_flag(error, &words, &flag, &see),
        ErrorKind::InvalidSubcommand => unknown_command(error, &words),
        ErrorKind::MissingSubcommand => ("no command is given".into(), "`scrimp -h` lists the commands".into()),
        ErrorKind::MissingRequiredArgument => missing(error, &words, &name, sub, &see),
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg);
            let what = match other.as_str() {
                "" => format!("{} cannot be combined with other options", bare(&flag)),
                other if bare(other) == bare(&flag) => format!("{} is given twice", bare(&flag)),
                other => format!("{} and {} cannot be combined", bare(&flag), bare(other)),
            };
            (what, format!("leave one of them out; {see}"))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => wrong_value(error, &flag, &see),
        ErrorKind::NoEquals => (format!("{} needs `=` before its value", bare(&flag)), see),
        ErrorKind::TooManyValues | ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues => {
            (format!("{} has a wrong number of values", bare(&flag)), see)
        }
        ErrorKind::InvalidUtf8 => ("an argument is not valid UTF-8".into(), see),
        _ => return Failure::because(error.to_string().trim_end()),
    };
    Failure::because(format!("{what}\nhelp: {help}"))
}

fn shown(value: &ContextValue) -> String {
    match value {
        ContextValue::Strings(all) => all.join(", "),
        ContextValue::StyledStrs(all) => all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// A flag without its value.
fn bare(flag: &str) -> &str {
    flag.split([' ', '=', '[']).next().unwrap_or(flag)
}

fn unknown_flag(error: &Error, words: &[String], flag: &str, see: &str) -> (String, String) {
    // Short flags are taken apart: of `-run`, the first letter is what is unknown.
    let is_short = flag.starts_with('-') && !flag.starts_with("--") && flag.chars().count() == 2;
    let word = words.iter().find(|word| if is_short { word.starts_with(flag) } else { bare(word) == bare(flag) });
    let word = word.map_or(flag, |word| bare(word));
    if !flag.starts_with('-') {
        let help = "put a property into quotes, with -p before it: -p 'invariant: x < 3'".to_string();
        return (format!("one argument too many: `{flag}`"), help);
    }
    let fits = |(theirs, _): &&(&str, &str)| match theirs.strip_suffix('*') {
        Some(begin) => word.starts_with(begin) && !word.starts_with("--"),
        None => *theirs == word,
    };
    let exact = ELSEWHERE.iter().find(|entry| entry.0 == word);
    let owner = owner(word, words);
    let help = match (exact.or_else(|| ELSEWHERE.iter().find(fits)), error.get(ContextKind::SuggestedArg)) {
        _ if SHOWN.contains(&word) && words.iter().any(|word| word == "simulate") => shown_anyway(words),
        (Some((_, ours)), _) => (*ours).to_string(),
        (None, _) if owner.is_some() => owner.unwrap_or_default(),
        (None, Some(near)) => format!("did you mean `{}`?", bare(&shown(near))),
        (None, None) => see.to_string(),
    };
    (format!("unknown option `{word}`"), help)
}

/// What SPIN's simulator shows only where it is told to.
const SHOWN: [&str; 6] = ["-p", "-g", "-l", "-r", "-s", "-v"];

fn shown_anyway(words: &[String]) -> String {
    let given: Vec<&str> = words.iter().map(String::as_str).filter(|word| SHOWN.contains(word)).collect();
    format!("leave out {}: this is always shown", given.join(" "))
}

/// The command that has this flag, where another one was given it.
fn owner(word: &str, words: &[String]) -> Option<String> {
    let whole = command();
    let has = |sub: &&Command| {
        sub.get_arguments().any(|arg| {
            arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long))
                || arg.get_short().is_some_and(|short| word.strip_prefix('-') == Some(short.encode_utf8(&mut [0; 4])))
        })
    };
    // `check` comes first.
    let sub = whole.get_subcommands().find(has)?.get_name();
    let given = words.iter().position(|word| whole.find_subcommand(word).is_some())?;
    let plain = |word: &String| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=,:+".contains(c));
    match words.iter().all(plain) {
        true => {
            let line: Vec<&str> =
                words.iter().enumerate().map(|(at, word)| if at == given { sub } else { word.as_str() }).collect();
            Some(format!("did you mean `scrimp {}`?", line.join(" ")))
        }
        false => Some(format!("`scrimp {sub}` has {word}")),
    }
}

fn unknown_command(error: &Error, words: &[String]) -> (String, String) {
    let word = error.get(ContextKind::InvalidSubcommand).map(shown).unwrap_or_default();
    let is_model = scrimp_lang::is_model_name(Path::new(&word)) || Path::new(&word).is_file();
    if is_model {
        let rest = words.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        return (format!("`{word}` is not a command"), format!("did you mean `scrimp check {rest}`?"));
    }
    let near = error.get(ContextKind::SuggestedSubcommand).map(shown).filter(|near| !near.is_empty());
    let also = match word.as_str() {
        "verify" | "run" | "mc" | "search" => Some("check"),
        "stats" | "states" | "reach" | "statespace" => Some("count"),
        "sim" | "walk" | "trace" | "replay" => Some("simulate"),
        "log" | "logs" | "conformance" | "monitor" => Some("conform"),
        "gui" | "web" | "ui" | "view" => Some("explore"),
        "convert" | "graph" => Some("count MODEL --graph FILE"),
        _ => None,
    };
    let help = match also.map(str::to_string).or(near) {
        Some(near) => format!("did you mean `scrimp {near}`?"),
        None => "`scrimp -h` lists the commands".into(),
    };
    (format!("unknown command `{word}`"), help)
}

fn missing(error: &Error, words: &[String], name: &str, sub: Option<&str>, see: &str) -> (String, String) {
    let wanted = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(all)) => all.clone(),
        other => other.map(shown).into_iter().collect(),
    };
    // Some flags are only for one way of using a command.
    let walks = wanted.iter().any(|arg| bare(arg) == "--walks");
    if let (Some("simulate"), true) = (sub, walks) {
        let flags = ["-p", "--property", "-j", "--threads", "-t", "--time", "-m", "--memory", "--json"];
        let behind = words.iter().skip_while(|word| *word != "-p").nth(1);
        if behind.is_some_and(|word| scrimp_lang::is_model_name(Path::new(word))) {
            return ("-p needs --walks N and a property".into(), shown_anyway(words));
        }
        let given = words.iter().find(|word| flags.contains(&bare(word))).map_or("this option", |word| bare(word));
        return (format!("{given} needs --walks N"), format!("without --walks, one run is shown; {see}"));
    }
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let what = match wanted[..] {
        ["<MODEL>"] => "no model is given".to_string(),
        _ => format!("{} is missing", wanted.join(" and ")),
    };
    let help = match wanted[..] {
        ["<MODEL>"] => format!("`{name} FILE`, with a .pml, .dve, .pnml, .aut or .network file"),
        _ => format!("`{name} {} …`; {see}", wanted.join(" ")),
    };
    (what, help)
}

fn wrong_value(error: &Error, flag: &str, see: &str) -> (String, String) {
    let value = error.get(ContextKind::InvalidValue).map(shown).unwrap_or_default();
    if value.is_empty() {
        return (format!("{flag} needs a value"), see.to_string());
    }
    let flag = bare(flag);
    let known = error.get(ContextKind::ValidValue).map(shown);
    if let Some(known) = known {
        let near = error.get(ContextKind::SuggestedValue).map(shown).filter(|near| !near.is_empty());
        let help = near.map_or(format!("choose from: {known}"), |near| format!("did you mean `{near}`?"));
        return (format!("{flag} {value}: unknown value"), help);
    }
    // What the readers of values say: the message, and after "; " or on a new line what to do.
    let why = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let why = match why.as_str() {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            format!("expected a positive integer, found `{value}`")
        }
        why if why.starts_with("number too large") => "this number is too large".to_string(),
        why if why.contains(" is not in ") => {
            let range = why.split(" is not in ").nth(1).unwrap_or_default();
            let (low, high) = range.split_once("..").unwrap_or((range, ""));
            match high.trim_start_matches('=') {
                "" | "18446744073709551615" => format!("expected a number from {low} on, found {value}"),
                high => format!("expected a number from {low} to {high}, found {value}"),
            }
        }
        why => why.to_string(),
    };
    let (what, help) = why.split_once("\nhelp: ").unwrap_or((&why, see));
    // SPIN's -t replays a trail.
    let help = match flag {
        "--time" if scrimp_lang::is_model_name(Path::new(&value)) || value.ends_with(".trail") => {
            "-t is --time; trails of SPIN are not read: `scrimp check MODEL --trace run.json` writes a run, and `scrimp simulate \
             MODEL --trace run.json` replays it"
        }
        _ => help,
    };
    let value = if what.contains(&value) { String::new() } else { format!(" {value}") };
    (format!("{flag}{value}: {what}"), help.to_string())
}
