//! From the text of a network to what it says.

use super::lts::is_invisible;
use super::read::unescaped;
use super::syntax::{Change, Component, LabelSet, Program, Rule, Tree, Vector, Word};
use super::tokens::{Token, tokens};
use crate::diagnostic::{Place, Problem};
use crate::symbols::{Map, suggestion, suggestion_or_all};

/// How deep a behaviour may nest.
const DEEPEST: usize = 100;
/// Components that a network may have.
pub(super) const MOST_COMPONENTS: usize = 4096;

const ITEMS: [&str; 9] = ["component", "set", "behaviour", "sync", "alone", "hide", "cut", "rename", "forbid"];

pub(super) fn parse(text: &str) -> Result<Program, Problem> {
    let parser = Parser { text, tokens: tokens(text)?, at: 0, depth: 0, names: Map::default(), sets: Map::default() };
    parser.program()
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, Place)>,
    at: usize,
    depth: usize,
    names: Map<String, usize>,
    sets: Map<&'t str, LabelSet>,
}

/// The lines that say how the components are composed, when there is no `behaviour`.
#[derive(Default)]
struct Flat {
    vectors: Vec<Vector>,
    alone: LabelSet,
    changes: Vec<Change>,
    first: Option<Place>,
}

impl<'t> Parser<'t> {
    fn program(mut self) -> Result<Program, Problem> {
        let mut program = Program::default();
        let mut flat = Flat::default();
        while self.token() != Token::End {
            let start = self.place();
            let word = self.word_here();
            self.at += 1;
            if matches!(word, "sync" | "alone" | "hide" | "cut" | "rename") {
                flat.first.get_or_insert(start);
            }
            match word {
                "component" => self.components(&mut program)?,
                "set" => self.set()?,
                "sync" => flat.vectors.push(self.vector()?),
                "alone" => merge(&mut flat.alone, self.labels()?, start)?,
                "hide" | "cut" | "rename" => flat.changes.push(self.change(word)?),
                "forbid" => merge(&mut program.forbidden, self.labels()?, start)?,
                "behaviour" | "behavior" if program.behaviour.is_some() => {
                    return Err(Problem::new(start, "a network has one `behaviour`"));
                }
                "behaviour" | "behavior" => program.behaviour = Some(self.tree(&mut program.components)?),
                _ => {
                    self.at -= 1;
                    let help = suggestion(word, ITEMS);
                    return Err(self.unexpected("`component`, `behaviour`, `sync` or the like").maybe_help(help));
                }
            }
        }
        match (&program.behaviour, flat.first) {
            (Some(_), Some(place)) => Err(Problem::new(place, "the network has a `behaviour` already")
                .help("put this into the behaviour: `par using … in … end par`, `hide … in … end hide`")),
            (Some(_), None) => Ok(program),
            (None, _) => self.flat(program, flat),
        }
    }

    /// All components side by side, ruled by vectors.
    fn flat(&self, mut program: Program, flat: Flat) -> Result<Program, Problem> {
        let place = flat.first.unwrap_or(self.place());
        let operands: Vec<Tree> = (0..program.components.len()).map(Tree::Component).collect();
        if operands.is_empty() {
            return Err(Problem::new(self.place(), "the network has no component")
                .help("add for instance `component Sender = \"sender.aut\"`"));
        }
        let nothing = flat.vectors.is_empty() && flat.alone == LabelSet::default();
        let mut tree = match <[Tree; 1]>::try_from(operands) {
            Ok([only]) if nothing => only,
            Err(operands) if nothing => {
                let message = format!("the network does not say how its {} components are composed", operands.len());
                return Err(Problem::new(place, message)
                    .help("add `behaviour A ||| B`, or vectors: `sync \"send\" * \"receive\" -> \"transfer\"`"));
            }
            operands => {
                let operands = operands.map_or_else(|many| many, Vec::from);
                check_widths(&flat.vectors, operands.len())?;
                Tree::Parallel { rule: Rule::Using(flat.vectors, flat.alone), operands, place }
            }
        };
        for change in flat.changes {
            tree = Tree::Changed { change, inner: Box::new(tree) };
        }
        program.behaviour = Some(tree);
        Ok(program)
    }

    /// `component A, B = "file.aut"`
    fn components(&mut self, program: &mut Program) -> Result<(), Problem> {
        let mut names = Vec::new();
        loop {
            names.push((self.place(), self.expect(Token::Word, "the name of a component")?));
            if !self.accept(Token::Comma) {
                break;
            }
        }
        self.expect(Token::Equals, "`=` and a file")?;
        let place = self.place();
        let file = self.expect(Token::Text, "the name of a file, within quotation marks")?;
        for (at, name) in names {
            let first = name.chars().next().is_some_and(char::is_numeric);
            if first || KEYWORDS.contains(&name) {
                return Err(Problem::new(at, format!("`{name}` is a keyword and cannot name a component")));
            }
            self.add(&mut program.components, name.to_string(), file, place, at)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        to: &mut Vec<Component>,
        name: String,
        file: &str,
        place: Place,
        at: Place,
    ) -> Result<usize, Problem> {
        if to.len() >= MOST_COMPONENTS {
            return Err(Problem::new(at, format!("more than {MOST_COMPONENTS} components are not supported")));
        }
        if self.names.insert(name.clone(), to.len()).is_some() {
            return Err(Problem::new(at, format!("there is already a component `{name}`")));
        }
        to.push(Component { name, file: unescaped(&file[1..file.len() - 1]), place });
        Ok(to.len() - 1)
    }

    /// `set ports = { send, "receive !1" }`
    fn set(&mut self) -> Result<(), Problem> {
        let place = self.place();
        let name = self.expect(Token::Word, "the name of a set")?;
        self.expect(Token::Equals, "`=`")?;
        self.expect(Token::LeftBrace, "`{`")?;
        let labels = if self.token() == Token::RightBrace { LabelSet::default() } else { self.labels()? };
        self.expect(Token::RightBrace, "`,` or `}`")?;
        match self.sets.insert(name, labels) {
            None => Ok(()),
            Some(_) => Err(Problem::new(place, format!("there is already a set `{name}`"))),
        }
    }

    /// Labels, gates and sets, or `all`, or `all but` some.
    fn labels(&mut self) -> Result<LabelSet, Problem> {
        let mut set = LabelSet::default();
        if self.accept_word("all") {
            set.all_but = true;
            if !self.accept_word("but") {
                return Ok(set);
            }
        }
        loop {
            let place = self.place();
            match self.token() {
                Token::Word if self.sets.contains_key(self.word_here()) => {
                    let other = &self.sets[self.word_here()];
                    if other.all_but {
                        return Err(Problem::new(place, "a set of all but some labels cannot be part of another"));
                    }
                    set.join(other);
                    self.at += 1;
                }
                _ => match self.label()? {
                    // Everything but this is everything that can be seen.
                    Word::Label(text) | Word::Gate(text) if is_invisible(&text) && set.all_but => {}
                    word => match self.visible(word, place)? {
                        Word::Label(label) => drop(set.labels.insert(label)),
                        Word::Gate(gate) => drop(set.gates.insert(gate)),
                    },
                },
            }
            if !self.accept(Token::Comma) {
                return Ok(set);
            }
        }
    }

    fn label(&mut self) -> Result<Word, Problem> {
        let word = self.word_here();
        match self.token() {
            Token::Text => {
                self.at += 1;
                Ok(Word::Label(unescaped(&word[1..word.len() - 1])))
            }
            Token::Word if !KEYWORDS.contains(&word) => {
                self.at += 1;
                Ok(Word::Gate(word.to_string()))
            }
            _ => Err(self.unexpected("a label within quotation marks, or a gate")),
        }
    }

    /// The word, unless it is the label that nobody sees.
    fn visible(&self, word: Word, place: Place) -> Result<Word, Problem> {
        match &word {
            Word::Label(text) | Word::Gate(text) if is_invisible(text) => {
                Err(Problem::new(place, "the invisible label always belongs to one component and cannot be changed"))
            }
            _ => Ok(word),
        }
    }

    /// `"send" * _ * "receive" -> "transfer"`
    fn vector(&mut self) -> Result<Vector, Problem> {
        let start = self.place();
        let mut parts = Vec::new();
        loop {
            parts.push(if self.accept(Token::Nobody) { None } else { Some(self.label()?) });
            if !self.accept(Token::Star) {
                break;
            }
        }
        self.expect(Token::Arrow, "`*` and another label, or `->` and the resulting label")?;
        let result = self.label()?;
        let place = start.to(self.tokens[self.at - 1].1);
        if parts.iter().all(Option::is_none) {
            return Err(Problem::new(place, "no component takes part in this"));
        }
        if matches!(result, Word::Gate(_)) && !parts.iter().flatten().any(|part| matches!(part, Word::Gate(_))) {
            // Without gates there are no offers that could follow the result's gate.
            let Word::Gate(label) = result else { return Err(Problem::new(place, "a label is missing")) };
            return Ok(Vector { parts, result: Word::Label(label), place });
        }
        Ok(Vector { parts, result, place })
    }

    fn change(&mut self, word: &str) -> Result<Change, Problem> {
        match word {
            "hide" => Ok(Change::Hide(self.labels()?)),
            "cut" => Ok(Change::Cut(self.labels()?)),
            _ => {
                let mut pairs = Vec::new();
                loop {
                    let place = self.place();
                    let from = self.label()?;
                    let from = self.visible(from, place)?;
                    self.expect(Token::Arrow, "`->` and another label")?;
                    let to = self.label()?;
                    if pairs.iter().any(|(known, _)| *known == from) {
                        return Err(Problem::new(place, "this is renamed already"));
                    }
                    pairs.push((from, to));
                    if !self.accept(Token::Comma) {
                        return Ok(Change::Rename(pairs));
                    }
                }
            }
        }
    }

    /// Operands with one operator between them, any number of times.
    fn tree(&mut self, components: &mut Vec<Component>) -> Result<Tree, Problem> {
        let start = self.place();
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Problem::new(
                start,
                format!("more than {DEEPEST} behaviours within each other are not supported"),
            ));
        }
        let first = self.operand(components)?;
        let mut operands = vec![first];
        let mut known: Option<LabelSet> = None;
        loop {
            let place = self.place();
            let set = match self.token() {
                Token::Interleave => LabelSet::default(),
                Token::Together => LabelSet { all_but: true, ..LabelSet::default() },
                Token::LeftBar => {
                    self.at += 1;
                    let set = if self.token() == Token::RightBar { LabelSet::default() } else { self.labels()? };
                    self.at = self.check(Token::RightBar, "`,` or `]|`")?;
                    set
                }
                _ => break,
            };
            self.at += 1;
            if known.as_ref().is_some_and(|known| *known != set) {
                return Err(Problem::new(place, "parentheses are needed between different operators")
                    .help("write `(A |[x]| B) ||| C` or `A |[x]| (B ||| C)`"));
            }
            known = Some(set);
            operands.push(self.operand(components)?);
        }
        self.depth -= 1;
        let place = start.to(self.tokens[self.at - 1].1);
        match (known, operands.pop()) {
            (None, Some(only)) => Ok(only),
            (set, last) => {
                operands.extend(last);
                Ok(Tree::Parallel { rule: Rule::On(set.unwrap_or_default()), operands, place })
            }
        }
    }

    fn operand(&mut self, components: &mut Vec<Component>) -> Result<Tree, Problem> {
        let place = self.place();
        let word = self.word_here();
        match self.token() {
            Token::LeftParen => {
                self.at += 1;
                let tree = self.tree(components)?;
                self.expect(Token::RightParen, "an operator or `)`")?;
                Ok(tree)
            }
            Token::Text => {
                self.at += 1;
                let name = self.fresh_name(&word[1..word.len() - 1]);
                Ok(Tree::Component(self.add(components, name, word, place, place)?))
            }
            Token::Word if word == "par" => {
                self.at += 1;
                self.par(components, place)
            }
            Token::Word if matches!(word, "hide" | "cut" | "rename") => {
                self.at += 1;
                let change = self.change(word)?;
                self.expect_word("in")?;
                let inner = Box::new(self.tree(components)?);
                self.expect_word("end")?;
                self.expect_word(word)?;
                Ok(Tree::Changed { change, inner })
            }
            Token::Word => match self.names.get(word) {
                Some(component) => {
                    self.at += 1;
                    Ok(Tree::Component(*component))
                }
                None => {
                    let help = suggestion_or_all(
                        "known components",
                        word,
                        components.iter().map(|component| component.name.as_str()),
                    );
                    Err(Problem::new(place, format!("unknown component `{word}`")).maybe_help(help))
                }
            },
            _ => Err(self.unexpected("a component, a file, `par`, `hide` or `(`")),
        }
    }

    /// `par using VECTORS in A || B end par`, `par LABELS in A || B end par`, `par A || B end par`
    fn par(&mut self, components: &mut Vec<Component>, start: Place) -> Result<Tree, Problem> {
        let rule = if self.accept_word("using") {
            let mut vectors = vec![self.vector()?];
            while self.accept(Token::Comma) {
                vectors.push(self.vector()?);
            }
            let alone = if self.accept_word("alone") { self.labels()? } else { LabelSet::default() };
            self.expect_word("in")?;
            Rule::Using(vectors, alone)
        } else if self.accept_word("in") {
            Rule::On(LabelSet::default())
        } else {
            let set = self.labels()?;
            self.expect_word("in")?;
            Rule::On(set)
        };
        let mut operands = vec![self.operand(components)?];
        while self.accept(Token::Together) {
            operands.push(self.operand(components)?);
        }
        self.expect_word("end")?;
        self.expect_word("par")?;
        if let Rule::Using(vectors, _) = &rule {
            check_widths(vectors, operands.len())?;
        }
        Ok(Tree::Parallel { rule, operands, place: start.to(self.tokens[self.at - 1].1) })
    }

    /// A name that no component has yet, made of the name of its file.
    fn fresh_name(&self, file: &str) -> String {
        let stem = file.rsplit(['/', '\\']).next().unwrap_or(file).split('.').next().unwrap_or(file);
        let mut name: String = stem.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        if name.chars().next().is_none_or(char::is_numeric) || KEYWORDS.contains(&name.as_str()) {
            name.insert(0, '_');
        }
        let taken = |name: &String| self.names.contains_key(name);
        match taken(&name) {
            false => name,
            true => (2..).map(|number: u64| format!("{name}_{number}")).find(|name| !taken(name)).unwrap_or(name),
        }
    }

    fn token(&self) -> Token {
        self.tokens[self.at].0
    }

    fn place(&self) -> Place {
        self.tokens[self.at].1
    }

    fn word_here(&self) -> &'t str {
        let place = self.place();
        &self.text[place.start as usize..place.end as usize]
    }

    fn accept(&mut self, token: Token) -> bool {
        let found = self.token() == token && token != Token::End;
        self.at += found as usize;
        found
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.token() == Token::Word && self.word_here() == word;
        self.at += found as usize;
        found
    }

    fn check(&self, token: Token, what: &str) -> Result<usize, Problem> {
        if self.token() == token { Ok(self.at) } else { Err(self.unexpected(what)) }
    }

    fn expect(&mut self, token: Token, what: &str) -> Result<&'t str, Problem> {
        let word = self.word_here();
        self.at = self.check(token, what)? + 1;
        Ok(word)
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Problem> {
        if self.accept_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    fn unexpected(&self, what: &str) -> Problem {
        let found = match self.token() {
            Token::End => "the end of the text".to_string(),
            _ => format!("`{}`", self.word_here()),
        };
        Problem::new(self.place(), format!("expected {what}, found {found}"))
    }
}

const KEYWORDS: [&str; 16] = [
    "component",
    "set",
    "behaviour",
    "behavior",
    "sync",
    "alone",
    "hide",
    "cut",
    "rename",
    "forbid",
    "par",
    "using",
    "in",
    "end",
    "all",
    "but",
];

/// Sets of the same kind of line are one set.
fn merge(set: &mut LabelSet, more: LabelSet, place: Place) -> Result<(), Problem> {
    if *set == LabelSet::default() {
        *set = more;
        return Ok(());
    }
    if set.all_but || more.all_but {
        return Err(Problem::new(place, "`all` must stand alone"));
    }
    set.join(&more);
    Ok(())
}

fn check_widths(vectors: &[Vector], operands: usize) -> Result<(), Problem> {
    match vectors.iter().find(|vector| vector.parts.len() != operands) {
        None => Ok(()),
        Some(vector) => {
            let message = format!("this vector has {} parts for {operands} operands", vector.parts.len());
            Err(Problem::new(vector.place, message).help("write `_` for each that does not take part"))
        }
    }
}
