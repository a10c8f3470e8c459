//! The grammar of DVE: declarations, processes, transitions.
//!
//! Keywords are words that stand where a keyword can stand, so `commited` or a state called `wait` are names. What real
//! models get away with is accepted: no `;` after the last transition, a comma too many, sections in any order.

use super::syntax::*;
use crate::diagnostic::{Place, Problem};
use crate::expression::parser::Parser;
use crate::expression::syntax::{ExprId, Name};
use crate::lexer::Token;
use crate::symbols::suggestion;

const TOP_LEVEL: [&str; 10] =
    ["byte", "int", "const", "input", "channel", "process", "property", "expression", "for", "system"];
const IN_PROCESS: [&str; 9] = ["byte", "int", "const", "state", "init", "commit", "accept", "assert", "trans"];
const IN_TRANSITION: [&str; 3] = ["guard", "sync", "effect"];

pub(crate) fn model(p: &mut Parser<'_>) -> Result<Model, Problem> {
    let mut model = Model::default();
    if p.at(Token::End) {
        return Err(Problem::new(p.current.place(), "the model is empty")
            .help("a model has at least one process and the line `system async;`"));
    }
    loop {
        let start = p.current.start;
        match if p.at(Token::Word) { p.word() } else { "" } {
            "byte" | "int" => variables(p, Kind::Variable, &mut model.variables)?,
            "const" => {
                p.advance()?;
                variables(p, Kind::Constant, &mut model.variables)?;
            }
            "input" => {
                p.advance()?;
                variables(p, Kind::Input, &mut model.variables)?;
            }
            "channel" => {
                p.advance()?;
                channels(p, &mut model.channels)?;
            }
            "process" | "for" => {
                let item = item(p, &mut model)?;
                model.items.push(item);
            }
            "property" => property(p, &mut model)?,
            "expression" => {
                p.advance()?;
                named_expression(p, &mut model)?;
            }
            "system" => {
                p.advance()?;
                system(p, &mut model, start)?;
                break;
            }
            _ if p.at(Token::End) => {
                return Err(
                    Problem::new(p.last_place(), "the model has no `system` line").help("end it with `system async;`")
                );
            }
            _ => {
                let problem = unknown_word(p, "a declaration, a process or the `system` line", &TOP_LEVEL);
                return Err(match p.word() {
                    "bool" | "short" | "long" | "unsigned" | "bit" => problem.help("the types are `byte` and `int`"),
                    "define" | "include" => problem.help("an m4 template must be expanded first: m4 a.mdve > a.dve"),
                    ";" => problem.help("processes are not followed by `;`"),
                    _ => problem,
                });
            }
        }
    }
    Ok(model)
}

/// "expected ...", with the keyword that may have been meant.
fn unknown_word(p: &Parser<'_>, wanted: &str, keywords: &[&str]) -> Problem {
    p.unexpected(wanted).maybe_help(suggestion(p.word(), keywords.iter().copied()))
}

fn system(p: &mut Parser<'_>, model: &mut Model, start: u32) -> Result<(), Problem> {
    if p.at_word("sync") {
        let place = Place { start, end: p.current.end };
        return Err(Problem::new(place, "synchronous systems are not supported").help("write `system async;`"));
    }
    if !p.accept_word("async")? {
        return Err(p.unexpected("`async`"));
    }
    if p.accept_word("property")? {
        model.property = Some(p.name("the name of the property process")?);
    }
    p.expect(Token::Semicolon, "`;`")?;
    match p.at(Token::End) {
        true => Ok(()),
        false => Err(Problem::new(p.current.place(), "nothing may follow the `system` line")),
    }
}

fn ty(p: &mut Parser<'_>) -> Result<Type, Problem> {
    if p.accept_word("byte")? {
        Ok(Type::Byte)
    } else if p.accept_word("int")? {
        Ok(Type::Int)
    } else {
        Err(unknown_word(p, "a type, `byte` or `int`", &["byte", "int"]))
    }
}

fn variables(p: &mut Parser<'_>, kind: Kind, out: &mut Vec<VariableDeclaration>) -> Result<(), Problem> {
    let ty = ty(p)?;
    loop {
        let name = p.name("the name of a variable")?;
        let size = match p.accept(Token::LeftBracket)? {
            true => {
                let size = p.expression()?;
                p.expect(Token::RightBracket, "`]`")?;
                Some(size)
            }
            false => None,
        };
        let initial = match p.accept(Token::Assign)? {
            true if p.at(Token::LeftBrace) => InitialValue::List(braces(p)?),
            true => InitialValue::Single(p.expression()?),
            false => InitialValue::None,
        };
        out.push(VariableDeclaration { name, kind, ty, size, initial });
        if !p.accept(Token::Comma)? {
            break;
        }
    }
    p.expect(Token::Semicolon, "`,` or `;`")?;
    Ok(())
}

/// `{a, b, ...}`
fn braces(p: &mut Parser<'_>) -> Result<Vec<ExprId>, Problem> {
    p.expect(Token::LeftBrace, "`{`")?;
    let mut values = vec![p.expression()?];
    while p.accept(Token::Comma)? {
        values.push(p.expression()?);
    }
    p.expect(Token::RightBrace, "`,` or `}`")?;
    Ok(values)
}

fn channels(p: &mut Parser<'_>, out: &mut Vec<ChannelDeclaration>) -> Result<(), Problem> {
    let mut types = None;
    if p.accept(Token::LeftBrace)? {
        let mut list = vec![ty(p)?];
        while p.accept(Token::Comma)? {
            list.push(ty(p)?);
        }
        p.expect(Token::RightBrace, "`,` or `}`")?;
        types = Some(list);
    }
    loop {
        let name = p.name("the name of a channel")?;
        let mut capacity = None;
        if p.accept(Token::LeftBracket)? {
            capacity = Some(p.expression()?);
            p.expect(Token::RightBracket, "`]`")?;
        }
        out.push(ChannelDeclaration { name, types: types.clone(), capacity });
        if !p.accept(Token::Comma)? {
            break;
        }
    }
    p.expect(Token::Semicolon, "`,` or `;`")?;
    Ok(())
}

/// A process, an instance of a template, or a loop over such.
fn item(p: &mut Parser<'_>, model: &mut Model) -> Result<Item, Problem> {
    if p.accept_word("for")? {
        p.expect(Token::LeftParen, "`(`")?;
        let variable = p.name("the name of the loop's variable")?;
        p.expect(Token::Colon, "`:`")?;
        let low = p.expression()?;
        p.expect(Token::DotDot, "`..`")?;
        let high = p.expression()?;
        p.expect(Token::RightParen, "`)`")?;
        p.expect(Token::LeftBrace, "`{`")?;
        let mut items = Vec::new();
        while !p.accept(Token::RightBrace)? {
            items.push(p.nested(|p| item(p, model))?);
        }
        return Ok(Item::For { variable, low, high, items });
    }
    let start = p.current.start;
    if !p.accept_word("process")? {
        return Err(p.unexpected("`process`, `for` or `}`"));
    }
    let name = p.name("the name of a process")?;
    if !p.at(Token::LeftParen) {
        let body = body(p, name, None, false, start)?;
        model.bodies.push(body);
        return Ok(Item::Process(model.bodies.len() - 1));
    }
    if p.parenthesis_followed_by(Token::LeftBrace) {
        let parameters = parameters(p)?;
        let body = body(p, name, Some(parameters), false, start)?;
        model.bodies.push(body);
        return Ok(Item::Process(model.bodies.len() - 1));
    }
    let arguments = p.arguments()?;
    p.expect(Token::Semicolon, "`;` after an instance, or `{` after a template")?;
    Ok(Item::Instance { template: name, arguments })
}

fn parameters(p: &mut Parser<'_>) -> Result<Vec<Parameter>, Problem> {
    p.expect(Token::LeftParen, "`(`")?;
    let mut parameters = Vec::new();
    loop {
        let first = p.name("the name of a parameter")?;
        let is_key = p.symbols.name(first.symbol) == "key" && p.at(Token::Word);
        let name = if is_key { p.name("the name of a parameter")? } else { first };
        parameters.push(Parameter { name, is_key });
        if !p.accept(Token::Comma)? {
            break;
        }
    }
    p.expect(Token::RightParen, "`,` or `)`")?;
    Ok(parameters)
}

/// `property process P {...}`, or `property ltl name "formula"`, which is read and left to the command line.
fn property(p: &mut Parser<'_>, model: &mut Model) -> Result<(), Problem> {
    p.advance()?;
    let start = p.current.start;
    if p.accept_word("process")? {
        let name = p.name("the name of a process")?;
        let body = body(p, name, None, true, start)?;
        model.bodies.push(body);
        model.items.push(Item::Process(model.bodies.len() - 1));
        return Ok(());
    }
    if !p.accept_word("ltl")? {
        return Err(p.unexpected("`process` or `ltl`"));
    }
    p.name("the name of the property")?;
    p.expect(Token::Text, "a formula in double quotes")?;
    p.accept(Token::Semicolon)?;
    Ok(())
}

fn named_expression(p: &mut Parser<'_>, model: &mut Model) -> Result<(), Problem> {
    let name = p.name("the name of the expression")?;
    p.expect(Token::LeftParen, "`()`")?;
    p.expect(Token::RightParen, "`)`")?;
    p.expect(Token::LeftBrace, "`{`")?;
    let expression = p.expression()?;
    p.expect(Token::RightBrace, "`}`")?;
    p.accept(Token::Semicolon)?;
    model.expressions.push((name, expression));
    Ok(())
}

fn body(
    p: &mut Parser<'_>,
    name: Name,
    parameters: Option<Vec<Parameter>>,
    is_property: bool,
    start: u32,
) -> Result<Body, Problem> {
    let mut body = Body {
        name,
        parameters,
        is_property,
        variables: Vec::new(),
        states: Vec::new(),
        initial: None,
        accepting: Vec::new(),
        committed: Vec::new(),
        assertions: Vec::new(),
        transitions: Vec::new(),
        span: p.span_from(start),
    };
    p.expect(Token::LeftBrace, "`{`")?;
    while !p.accept(Token::RightBrace)? {
        match if p.at(Token::Word) { p.word() } else { "" } {
            "byte" | "int" => variables(p, Kind::Variable, &mut body.variables)?,
            "const" => {
                p.advance()?;
                variables(p, Kind::Constant, &mut body.variables)?;
            }
            "state" => names(p, &mut body.states)?,
            "accept" => names(p, &mut body.accepting)?,
            "commit" => names(p, &mut body.committed)?,
            "init" => {
                let keyword = p.current;
                p.advance()?;
                let initial = p.name("the name of a state")?;
                p.expect(Token::Semicolon, "`;`: there is one initial state")?;
                if let Some(earlier) = body.initial.replace(initial) {
                    return Err(
                        Problem::new(keyword.place(), "the initial state is already given").on_line_of(earlier.place)
                    );
                }
            }
            "assert" => assertions(p, &mut body.assertions)?,
            "trans" => transitions(p, &mut body.transitions)?,
            "process" | "system" | "channel" | "property" => {
                let message = format!("process `{}` is not closed by `}}`; it begins", p.symbols.name(name.symbol));
                return Err(Problem::new(p.current.place(), message).on_line_of(name.place));
            }
            _ => {
                let problem = unknown_word(p, "a section of the process or `}`", &IN_PROCESS);
                return Err(match p.at(Token::Word) && !body.transitions.is_empty() {
                    true => problem.or_help("transitions are separated by `,`; the `;` ends all of them"),
                    false => problem,
                });
            }
        }
    }
    Ok(body)
}

/// A keyword, then names with commas between them.
fn names(p: &mut Parser<'_>, out: &mut Vec<Name>) -> Result<(), Problem> {
    p.advance()?;
    loop {
        out.push(p.name("the name of a state")?);
        if !p.accept(Token::Comma)? {
            break;
        }
    }
    p.expect(Token::Semicolon, "`,` or `;`")?;
    Ok(())
}

fn assertions(p: &mut Parser<'_>, out: &mut Vec<AssertionLine>) -> Result<(), Problem> {
    p.advance()?;
    loop {
        let start = p.current.start;
        let state = p.name("the name of a state")?;
        p.expect(Token::Colon, "`:`")?;
        let condition = p.expression()?;
        out.push(AssertionLine { state, condition, span: p.span_from(start) });
        if !p.accept(Token::Comma)? {
            break;
        }
    }
    p.expect(Token::Semicolon, "`,` or `;`")?;
    Ok(())
}

fn transitions(p: &mut Parser<'_>, out: &mut Vec<Transition>) -> Result<(), Problem> {
    p.advance()?;
    let mut source: Option<Name> = None;
    loop {
        if p.accept(Token::Semicolon)? || p.at(Token::RightBrace) {
            return Ok(());
        }
        let start = p.current.start;
        let from = match (p.at(Token::Arrow), source) {
            (true, Some(source)) => source,
            (true, None) => {
                return Err(p.unexpected("the name of a state").help("the first transition must say where it starts"));
            }
            (false, _) => p.name("a transition, or `;` after the last one")?,
        };
        p.expect(Token::Arrow, "`->`")?;
        source = Some(from);
        let to = p.name("the name of a state")?;
        out.push(transition(p, from, to, start)?);
        p.accept(Token::Comma)?;
    }
}

fn transition(p: &mut Parser<'_>, from: Name, to: Name, start: u32) -> Result<Transition, Problem> {
    let mut guards = Vec::new();
    let mut sync: Option<Sync> = None;
    let mut effects = Vec::new();
    p.expect(Token::LeftBrace, "`{`")?;
    while !p.accept(Token::RightBrace)? {
        match if p.at(Token::Word) { p.word() } else { "" } {
            "guard" => {
                p.advance()?;
                guards.push(p.expression()?);
                if p.at(Token::Comma) {
                    return Err(p.unexpected("`;`").help("join conditions with `and`"));
                }
            }
            "sync" => {
                let keyword = p.current;
                p.advance()?;
                let new = synchronisation(p)?;
                if let Some(earlier) = sync.replace(new) {
                    return Err(
                        Problem::new(keyword.place(), "this transition already synchronises").on_line_of(earlier.place)
                    );
                }
            }
            "effect" => {
                p.advance()?;
                loop {
                    let target = p.target()?;
                    if !p.accept(Token::Assign)? {
                        let problem = p.unexpected("`=`");
                        return Err(match p.current.token {
                            Token::Equal => problem.help("`=` assigns, `==` compares"),
                            Token::Plus | Token::Minus => problem.help("write `x = x + 1`"),
                            _ => problem,
                        });
                    }
                    effects.push((target, p.expression()?));
                    if !p.accept(Token::Comma)? {
                        break;
                    }
                }
            }
            _ => {
                let problem = unknown_word(p, "`guard`, `sync`, `effect` or `}`", &IN_TRANSITION);
                return Err(match p.at(Token::Word) && !effects.is_empty() {
                    true => problem.or_help("effects are separated by `,`; the `;` ends all of them"),
                    false => problem,
                });
            }
        }
        p.expect(Token::Semicolon, "`;`")?;
    }
    Ok(Transition { from, to, guards, sync, effects, span: p.span_from(start) })
}

fn synchronisation(p: &mut Parser<'_>) -> Result<Sync, Problem> {
    let channel = p.name("the name of a channel")?;
    let direction = match p.current.token {
        Token::Bang => Direction::Send,
        Token::Question => Direction::Receive,
        _ => return Err(p.unexpected("`!` to send or `?` to receive")),
    };
    p.advance()?;
    let values = match p.current.token {
        Token::Semicolon => Vec::new(),
        Token::LeftBrace => braces(p)?,
        _ => vec![p.expression()?],
    };
    let end = p.last_end;
    let place = Place { start: channel.place.start, end };
    Ok(Sync { channel, direction, values, place })
}
