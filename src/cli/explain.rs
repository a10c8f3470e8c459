//! `explain`: a game about a formula of branching time, which shows why it holds or does not.

use super::failure::Failure;
use super::output::{print, remark, style};
use super::search::failed;
use clap::{Args, ValueEnum, ValueHint};
use scrimp::ctl::{Choice, CtlTask, Game, Inquiry, Side, Turn, examine};
use scrimp::report::trace::{Columns, beginning, changes, rows, state_lines};
use scrimp::temporal::Numbered;
use scrimp::{
    Control, Describe, Feature, Loaded, Mode, ModelFacts, NativeModel, Options, Plan, Question, parse_property,
};
use scrimp_core::{PropertyKind, Step};
use std::io::BufRead;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The model, as for `scrimp check`
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,

    /// The formula: `ctl: FORMULA`
    #[arg(short, long, value_name = "TEXT")]
    pub property: String,

    /// What you try: prove or refute
    ///
    /// [default: what cannot be done, so that the checker shows you why]
    #[arg(long, value_name = "SIDE", hide_possible_values = true)]
    pub side: Option<Try>,

    /// Define a macro of a Promela model; repeatable
    ///
    /// Before the model is read, as `spin -DN=3` does. Without a value it is 1.
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]", value_parser = super::args::definition)]
    pub define: Vec<(String, String)>,

    /// Use at most this much memory, such as 512M or 2G
    ///
    /// It counts for the whole process. [default: nine tenths of what is free]
    #[arg(long, value_name = "SIZE", value_parser = scrimp::report::number::parse_size)]
    pub memory: Option<usize>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Try {
    Prove,
    Refute,
}

/// Moves that the checker makes one after the other where it cannot win, before it gives up.
const IN_VAIN: usize = 10;

const HELP: &str = "\
Give the number of your choice, or
  hint   which choice is best
  why    who would win from here, and with which choice
  state  the state in which the game stands
  undo   take your last choice back
  quit   end the game
";

pub fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    let mut loaded = Loaded::open_with(&args.model, &args.define)?;
    loaded.system.warnings.iter().for_each(|warning| remark(warning));
    loaded.take_claim()?;
    let options = Options { memory: args.memory, ..Options::default() };
    let plan = Plan::of(&options, Question::about(Feature::Ctl), &ModelFacts::default())?;
    let played = loaded.with_model(Mode::Auto, |model| play(args, model, &plan)).map_err(failed)?;
    played.map(|()| 0)
}

/// Decides the formula and plays the game about it.
fn play(args: &ExplainArgs, model: &NativeModel, plan: &Plan) -> Result<(), Failure> {
    let property = parse_property(model.system(), &args.property)?;
    let PropertyKind::Ctl(written) = &property.kind else {
        let what = "expected a CTL formula, such as 'ctl: AG (x == 1 -> EF x == 0)'";
        return Err(Failure::because(format!(
            "{what}\nhelp: `scrimp check` shows why other properties hold or do not"
        )));
    };
    let numbered = Numbered::new(model, written);
    let Numbered { formula, names, .. } = &numbered;
    let (atoms, control) = (numbered.conditions(model), Control::new(None));
    let (control, atoms) = (&control, &atoms[..]);
    let task = CtlTask { model, formula, names, atoms, fairness: &[], plan, control, progress: None };
    let mut played = None;
    let mut act = |inquiry: Inquiry| {
        let verdict = inquiry.verdict;
        let user = match (args.side, verdict) {
            (Some(Try::Prove), _) | (None, false) => Side::Prove,
            (Some(Try::Refute), _) | (None, true) => Side::Refute,
        };
        let game = Game::new(&task, inquiry, user);
        played = Some(game.ok_or_else(too_much).and_then(|game| Play::new(model, game, user).run(verdict)));
    };
    examine(&task, &mut act).map_err(Failure::because)?;
    played.unwrap_or_else(|| Err(too_much()))
}

fn too_much() -> Failure {
    Failure::because("there is not enough memory to decide the formula\nhelp: allow more with --memory")
}

/// A game in progress.
struct Play<'p, 'r, 'a> {
    model: &'p NativeModel,
    game: Game<'r, 'a>,
    user: Side,
    /// How many choices were made before each one of the user's, and how many steps.
    turns: Vec<(usize, usize)>,
    steps: usize,
    columns: Columns,
    /// The first choice that lost what was won, in words, and what would have won; by the number of choices before it.
    mistakes: Vec<(usize, String)>,
}

/// What the user wants.
enum Request {
    Choose(usize),
    Undo,
    Quit,
}

impl<'p, 'r, 'a> Play<'p, 'r, 'a> {
    fn new(model: &'p NativeModel, game: Game<'r, 'a>, user: Side) -> Play<'p, 'r, 'a> {
        Play { model, game, user, turns: Vec::new(), steps: 0, columns: Columns::new(style()), mistakes: Vec::new() }
    }

    fn run(mut self, verdict: bool) -> Result<(), Failure> {
        let (_, formula) = self.game.claim();
        let (holds, aim) = (if verdict { "holds" } else { "does not hold" }, word(self.user));
        print(&format!(
            "{formula}\nThis {holds}. You try to {aim} it; the checker answers. `help` says what you can do.\n"
        ))?;
        print(&beginning(self.model, self.game.state(), &self.columns))?;
        let mut in_vain = 0;
        loop {
            let (side, choices) = match self.game.turn().ok_or_else(too_much)? {
                Turn::Won(side, reason) => return self.end(side, &reason),
                Turn::Of(side, choices) => (side, choices),
            };
            if side != self.user {
                let (best, wins) = self.game.best(side, &choices).ok_or_else(too_much)?;
                in_vain = if wins { 0 } else { in_vain + 1 };
                if in_vain > IN_VAIN {
                    return self.end(self.user, "the checker could go on, but not win, and gives up");
                }
                self.take("The checker", &choices[best])?;
                continue;
            }
            in_vain = 0;
            self.show(&choices)?;
            match self.ask(&choices)? {
                Request::Choose(choice) => {
                    self.note_mistake(&choices, choice)?;
                    self.turns.push((self.game.made(), self.steps));
                    self.take("You", &choices[choice])?;
                }
                Request::Undo => match self.turns.pop() {
                    Some((made, steps)) => {
                        self.game.undo(made);
                        self.steps = steps;
                        self.mistakes.retain(|(at, _)| *at < made);
                        print("Your last choice is taken back.\n")?;
                    }
                    None => print("There is nothing to take back.\n")?,
                },
                Request::Quit => return print("The game is over.\n"),
            }
        }
    }

    /// Says what a player does, and does it.
    fn take(&mut self, who: &str, choice: &Choice) -> Result<(), Failure> {
        let Some(event) = choice.event else {
            print(&format!("{who}: {}\n", choice.text))?;
            self.game.play(choice);
            return Ok(());
        };
        print(&format!("{who} let{} the run go on:\n", if who == "You" { "" } else { "s" }))?;
        let before = self.game.state();
        let singles = self.model.steps(before, event, &choice.state).into_iter();
        let singles: Vec<Step> = singles.map(|(event, state)| Step { event, state, edge: None }).collect();
        self.steps += 1;
        print(&self.columns.lines(&rows(self.model, self.steps, before, &singles)))?;
        self.game.play(choice);
        Ok(())
    }

    /// What can be done.
    fn show(&self, choices: &[Choice]) -> Result<(), Failure> {
        let (claimant, claim) = self.game.claim();
        let says = if claimant == self.user { "You say" } else { "The checker says" };
        print(&format!("{says}: {claim}\n"))?;
        for (i, choice) in choices.iter().enumerate() {
            print(&format!("  {i:>3}: {}\n", self.words(choice)))?;
        }
        Ok(())
    }

    /// A choice in words.
    fn words(&self, choice: &Choice) -> String {
        let Some(event) = choice.event else { return choice.text.clone() };
        let label = self.model.event(event).label;
        let changed = changes(self.model, self.game.state(), &choice.state);
        let changed: Vec<String> = changed.iter().map(|(name, old, new)| format!("{name}: {old} -> {new}")).collect();
        let remark = if choice.text.is_empty() { String::new() } else { format!("  ({})", choice.text) };
        format!("{label}  {}{remark}", changed.join(", "))
    }

    /// What the user wants next; the end of the input ends the game.
    fn ask(&mut self, choices: &[Choice]) -> Result<Request, Failure> {
        loop {
            print(&format!("your choice 0-{}, or hint, why, state, undo, quit: ", choices.len() - 1))?;
            let mut line = String::new();
            if std::io::stdin().lock().read_line(&mut line)? == 0 {
                print("\n")?;
                return Ok(Request::Quit);
            }
            match line.trim() {
                "q" | "quit" => return Ok(Request::Quit),
                "undo" => return Ok(Request::Undo),
                "help" => print(HELP)?,
                "state" => print(&state_lines(self.model, self.game.state(), style()))?,
                "hint" => {
                    let (best, wins) = self.game.best(self.user, choices).ok_or_else(too_much)?;
                    let what = if wins { "wins" } else { "keeps the game going, but no choice wins" };
                    print(&format!("{best} {what}.\n"))?;
                }
                "why" => self.tell_why(choices)?,
                answer => match answer.parse::<usize>() {
                    Ok(choice) if choice < choices.len() => return Ok(Request::Choose(choice)),
                    _ => print("Please give one of the numbers above, or `help`.\n")?,
                },
            }
        }
    }

    fn tell_why(&mut self, choices: &[Choice]) -> Result<(), Failure> {
        let winner = self.game.should_win().ok_or_else(too_much)?;
        let who = if winner == self.user { "You" } else { "The checker" };
        print(&format!("{who} can win from here, whatever the other side does.\n"))?;
        for (i, choice) in choices.iter().enumerate() {
            let wins = self.game.after(choice).ok_or_else(too_much)? == self.user;
            print(&format!("  {i:>3}: {}\n", if wins { "wins" } else { "loses" }))?;
        }
        match self.mistakes.first() {
            Some((_, mistake)) => print(mistake),
            None => Ok(()),
        }
    }

    /// Remembers a choice that gives away what could have been won.
    fn note_mistake(&mut self, choices: &[Choice], choice: usize) -> Result<(), Failure> {
        let could = self.game.should_win().ok_or_else(too_much)? == self.user;
        if could && self.game.after(&choices[choice]).ok_or_else(too_much)? != self.user {
            let (best, _) = self.game.best(self.user, choices).ok_or_else(too_much)?;
            let (made, chosen, better) = (self.game.made(), self.words(&choices[choice]), self.words(&choices[best]));
            self.mistakes
                .push((made, format!("Your choice \"{chosen}\" was a mistake: \"{better}\" would have won.\n")));
        }
        Ok(())
    }

    fn end(&self, winner: Side, reason: &str) -> Result<(), Failure> {
        let who = if winner == self.user { "You win" } else { "The checker wins" };
        print(&format!("{}: {reason}.\n", style().bold(who)))?;
        match self.mistakes.first() {
            Some((_, mistake)) if winner != self.user => print(mistake),
            _ if winner != self.user => print("No other choice of yours would have won.\n"),
            _ => Ok(()),
        }
    }
}

fn word(side: Side) -> &'static str {
    match side {
        Side::Prove => "prove",
        Side::Refute => "refute",
    }
}
