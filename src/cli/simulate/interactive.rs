//! `simulate --interactive`: each event is chosen by the user, who can also go back, jump and look ahead.

use super::{Shown, failed};
use crate::cli::failure::Failure;
use crate::cli::output::{print, style};
use scrimp::chart::Drawing;
use scrimp::report::number::{count_of, grouped};
use scrimp::report::trace::state_lines;
use scrimp::walk::{Node, Sight, Sought};
use scrimp_system::Random;
use std::io::{BufRead, Write};

/// States that are looked at in search of something.
const MOST_STATES: usize = 100_000;

const HELP: &str = "  N         the event with this number
  u [N]     undo: back by one event, or by N
  g N       go to step N of this run, back or forth
  f WORD    find: the nearest event whose text has WORD in it happens
  w EXPR    run until EXPR holds, by a shortest way; EXPR is as in `invariant: EXPR`
  r [N]     one event by chance, or N
  s         show the state
  q         quit
";

/// What the user wants.
enum Wish<'l> {
    Choose(usize),
    Undo(usize),
    Go(usize),
    Seek(Sought<'l>),
    Random(usize),
    State,
    Help,
    Quit,
}

impl Wish<'_> {
    /// `None` where it cannot be understood.
    fn of(line: &str) -> Option<Wish<'_>> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()));
        let number = || rest.parse::<usize>().ok();
        let one_or_more = || if rest.is_empty() { Some(1) } else { number().filter(|number| *number > 0) };
        match word {
            "q" | "quit" if rest.is_empty() => Some(Wish::Quit),
            "?" | "h" | "help" if rest.is_empty() => Some(Wish::Help),
            "s" | "state" if rest.is_empty() => Some(Wish::State),
            "u" | "undo" => one_or_more().map(Wish::Undo),
            "r" | "random" => one_or_more().map(Wish::Random),
            "g" | "go" => number().map(Wish::Go),
            "f" | "find" if !rest.is_empty() => Some(Wish::Seek(Sought::Event(rest))),
            "w" | "until" if !rest.is_empty() => Some(Wish::Seek(Sought::Condition(rest))),
            _ => line.parse().ok().map(Wish::Choose),
        }
    }
}

/// A line from the user; `None` at the end of the input.
fn line(prompt: &str) -> Result<Option<String>, Failure> {
    print(prompt)?;
    std::io::stdout().flush()?;
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line)? == 0 {
        print("\n")?;
        return Ok(None);
    }
    Ok(Some(line))
}

impl Shown {
    pub(super) fn interactive(&mut self, seed: u64) -> Result<(), Failure> {
        let mut random = Random(seed);
        let Some(mut node) = self.first()? else { return Ok(()) };
        // The end of the run that was gone last, so that one can go back and forth on it.
        let mut tip = node;
        let mut list = true;
        loop {
            let enabled = self.enabled(node)?;
            if std::mem::replace(&mut list, false) {
                self.list(node)?;
            }
            self.transcript.flush()?;
            let prompt = match enabled {
                0 => "u to undo, ? for help, or q: ".to_string(),
                _ => format!("event 0-{}, ? for help, or q: ", enabled - 1),
            };
            let Some(line) = line(&prompt)? else { break };
            let before = node;
            match Wish::of(&line) {
                Some(Wish::Quit) => break,
                Some(Wish::Help) => print(HELP)?,
                Some(Wish::State) => print(&state_lines(self.walk.model(), self.walk.state(node), style()))?,
                Some(Wish::Choose(choice)) if choice < enabled => node = self.step(node, choice)?,
                Some(Wish::Random(count)) => {
                    for _ in 0..count {
                        match self.enabled(node)? {
                            0 => break,
                            enabled => node = self.step(node, random.below(enabled))?,
                        }
                        if self.is_bad(node)? {
                            break;
                        }
                    }
                }
                Some(Wish::Undo(count)) => {
                    let path = self.walk.path(node);
                    let to = path[(path.len() - 1).saturating_sub(count)];
                    match to == node {
                        true => print("this is the beginning\n")?,
                        false => self.arrive(to)?,
                    }
                    node = to;
                }
                Some(Wish::Go(step)) => match self.at_step(tip, step) {
                    Some(to) => {
                        self.arrive(to)?;
                        node = to;
                    }
                    None => print(&format!("this run has {}\n", count_of(self.count(tip) as u64, "step")))?,
                },
                Some(Wish::Seek(sought)) => node = self.seek(node, sought)?,
                Some(Wish::Choose(_)) | None => print("please give one of the numbers above, or ? for help\n")?,
            }
            list = node != before;
            // A step that was gone before and is gone again leaves the rest of that run where it was.
            if list && !self.walk.path(tip).contains(&node) {
                tip = node;
            }
        }
        self.draw(node);
        Ok(())
    }

    /// The initial state, chosen by the user where there are several.
    fn first(&mut self) -> Result<Option<Node>, Failure> {
        let starts = self.walk.starts();
        if starts.len() == 1 {
            return self.start(0).map(Some);
        }
        let model = self.walk.model();
        let list =
            (0..starts.len()).map(|i| format!("  {i}: {}", one_line(&state_lines(model, starts.state(i), style()))));
        print(&format!("initial states:\n{}\n", list.collect::<Vec<_>>().join("\n")))?;
        let count = starts.len();
        while let Some(line) = line(&format!("state 0-{}, or q: ", count.saturating_sub(1)))? {
            match Wish::of(&line) {
                Some(Wish::Quit) => break,
                Some(Wish::Choose(choice)) if choice < count => return self.start(choice).map(Some),
                _ => print("please give one of the numbers above\n")?,
            }
        }
        Ok(None)
    }

    /// Prints what can happen in a state, or why nothing can.
    fn list(&mut self, node: Node) -> Result<(), Failure> {
        let events = self.walk.choices(node).map_err(failed)?.batch.events().to_vec();
        if events.is_empty() {
            return self.end(node);
        }
        self.tell_faults(node)?;
        self.transcript.flush()?;
        for (i, event) in events.iter().enumerate() {
            let text = self.walk.model().event(*event);
            let place = match text.steps.first() {
                Some(step) => format!("proc {} ({}) {}:{}", step.process, step.name, step.file, step.line),
                None => format!("line {}", text.line),
            };
            print(&format!("    {i:>3}: {}  [{place}]\n", text.label))?;
        }
        Ok(())
    }

    /// The state after a step of the run to a state.
    fn at_step(&self, tip: Node, step: usize) -> Option<Node> {
        self.walk.path(tip).get(step).copied()
    }

    /// Says where one is on a run that was gone before.
    fn arrive(&mut self, node: Node) -> Result<(), Failure> {
        if self.walk.parent(node).is_none() {
            return self.tell_start(node);
        }
        self.transcript.flush()?;
        let (step, lines) = (self.count(node), state_lines(self.walk.model(), self.walk.state(node), style()));
        print(&format!("at step {step}\n{lines}"))
    }

    /// Goes to the nearest place where something happens or holds.
    fn seek(&mut self, node: Node, sought: Sought) -> Result<Node, Failure> {
        let mut node = node;
        match self.walk.seek(node, sought, MOST_STATES) {
            Ok(Sight::Way(choices)) => {
                for choice in choices {
                    node = self.step(node, choice)?;
                }
            }
            Ok(Sight::Nowhere) => print("no run from here leads there\n")?,
            Ok(Sight::TooFar) => {
                print(&format!("not found among the {} states nearest to this one\n", grouped(MOST_STATES as u64)))?;
            }
            Err(error) => print(&format!("{}\n", Failure::because(error).message()))?,
        }
        Ok(node)
    }

    /// The chart of the run to a state: what was undone is no part of it.
    fn draw(&mut self, node: Node) {
        self.drawing = Drawing::default();
        for node in self.walk.path(node) {
            for step in self.walk.steps(node) {
                self.drawing.step(self.walk.model(), &step.before, step.event);
            }
        }
    }
}

fn one_line(lines: &str) -> String {
    lines.split_whitespace().collect::<Vec<_>>().join(" ")
}
