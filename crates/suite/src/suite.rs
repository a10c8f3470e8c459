//! A suite: tasks, each of them models × configurations, read whole and checked before anything runs.

use crate::case::{Case, Kind, Limits, Maker};
use crate::collection;
use crate::document::{self, Node, Read, Value, Wrong, known};
use crate::expect::{expectations, published};
use crate::expression::{evaluate, is_name};
use crate::matrix::Matrix;
use crate::models::{self, Model, Places, Variable};
use crate::scope::{Scope, Settings, combinations};
use crate::search::Search;
use scrimp_report::number::{parse_duration, parse_size};
use std::path::Path;

#[derive(Debug)]
pub struct Suite {
    pub title: String,
    pub about: Option<String>,
    pub tasks: Vec<Task>,
    /// The task that the others are held against.
    pub base: Option<String>,
}

#[derive(Debug)]
pub struct Task {
    pub name: String,
    pub about: Option<String>,
    pub cases: Vec<Case>,
    /// The configuration that the others are held against.
    pub base: Option<String>,
    /// It tries every combination, and refusals are part of the answer.
    pub matrix: Option<Matrix>,
}

/// What the user adds to the file.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Values of variables.
    pub set: Vec<(String, String)>,
    pub skip_missing: bool,
}

const TASK: [&str; 15] = [
    "name",
    "about",
    "command",
    "models",
    "flags",
    "sweep",
    "limits",
    "expect",
    "paper",
    "percent-of",
    "try",
    "search",
    "matrix",
    "base",
    "measures",
];

/// Reads a suite file; the error is ready to be shown.
pub fn load(path: &Path, given: &Given) -> Result<Suite, String> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => format!("{name}: error: there is no such file"),
        _ => format!("{name}: error: {e}"),
    })?;
    read(path, &text, given).map_err(|wrong| wrong.show(&name, &text))
}

/// Reads a suite that is in no file.
pub fn of_text(text: &str, given: &Given) -> Result<Suite, String> {
    read(Path::new(""), text, given).map_err(|wrong| wrong.show("the suite", text))
}

fn read(path: &Path, text: &str, given: &Given) -> Read<Suite> {
    let document = document::parse(text)?;
    let top = document.table(&[
        "title",
        "about",
        "base",
        "variables",
        "collection",
        "limits",
        "models",
        "defaults",
        "task",
    ])?;
    let (scope, variables) = variables(top.get("variables"), given)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let collections = collection::read(top.get("collection"), &scope, folder)?;
    let places = Places { folder, skip_missing: given.skip_missing, variables: &variables, collections: &collections };
    let reader = Reader {
        scope: &scope,
        places,
        tables: top.get("models"),
        limits: limits(top.get("limits"), &Limits::default())?,
    };
    if let Some(defaults) = top.get("defaults") {
        defaults.table(&TASK)?;
    }
    let mut tasks: Vec<Task> = Vec::new();
    for node in top.get("task").ok_or_else(|| Wrong::whole("the suite has no [[task]]"))?.list()? {
        let mut node = node.clone();
        top.get("defaults").into_iter().for_each(|defaults| node.fill_up(defaults));
        let task = reader.task(&node)?;
        if tasks.iter().any(|t| t.name == task.name) {
            return Err(Wrong::new(&node.table(&TASK)?.need("name")?.at, format!("there are two tasks {}", task.name)));
        }
        tasks.push(task);
    }
    let base =
        top.get("base").map(|node| named(node, tasks.iter().map(|task| task.name.as_str()), "task")).transpose()?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let title = top.text("title")?.unwrap_or(&stem).to_string();
    Ok(Suite { title, about: top.text("about")?.map(str::to_string), tasks, base })
}

/// Variables with their values, and the environment variable of each.
fn variables(node: Option<&Node>, given: &Given) -> Read<(Scope, Vec<Variable>)> {
    let (mut scope, mut known) = (Scope::default(), Vec::new());
    for (key, node) in node.map_or(Ok(&[][..]), Node::entries)? {
        if !is_name(&key.name) {
            return Err(Wrong::new(&key.at, "a variable's name is letters, digits, dots and underscores"));
        }
        let (default, env) = match &node.value {
            Value::Table(_) => {
                let table = node.table(&["default", "env"])?;
                (table.need("default")?.scalar()?, table.text("env")?.map(str::to_string))
            }
            _ => (node.scalar()?, None),
        };
        let set = given.set.iter().rev().find(|(name, _)| *name == key.name).map(|(_, value)| value.clone());
        let from_env = || env.as_ref().and_then(|env| std::env::var(env).ok()).filter(|value| !value.is_empty());
        scope.set(&key.name, Some(set.or_else(from_env).unwrap_or(default)));
        known.push(Variable { name: key.name.clone(), env });
    }
    if let Some((name, _)) = given.set.iter().find(|(name, _)| known.iter().all(|known| known.name != *name)) {
        let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
        let help = match (scrimp_core::nearest(name, names.iter().copied()), &names[..]) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => "the suite has no variables".into(),
            (None, names) => format!("known variables: {}", names.join(", ")),
        };
        return Err(Wrong::whole(format!("the suite has no variable `{name}`")).help(help));
    }
    Ok((scope, known))
}

fn limits(node: Option<&Node>, outer: &Limits) -> Read<Limits> {
    let Some(node) = node else { return Ok(outer.clone()) };
    let table = node.table(&["time", "memory"])?;
    let mut limits = outer.clone();
    if let Some(node) = table.get("time") {
        let text = node.scalar()?;
        limits.time = Some((text.clone(), parse_duration(&text).map_err(|e| Wrong::said(&node.at, &e))?));
    }
    if let Some(node) = table.get("memory") {
        let text = node.scalar()?;
        limits.memory = Some((text.clone(), parse_size(&text).map_err(|e| Wrong::said(&node.at, &e))? as u64));
    }
    Ok(limits)
}

/// One of several by its name.
fn named<'n>(node: &Node, names: impl Iterator<Item = &'n str>, kind: &str) -> Read<String> {
    let (wanted, mut names) = (node.text()?, names.collect::<Vec<&str>>());
    names.dedup();
    match names.contains(&wanted) {
        true => Ok(wanted.to_string()),
        false => Err(Wrong::new(&node.at, format!("no {kind} is called `{wanted}`")).help(known(wanted, &names))),
    }
}

struct Reader<'a> {
    scope: &'a Scope,
    places: Places<'a>,
    tables: Option<&'a Node>,
    limits: Limits,
}

impl Reader<'_> {
    fn task(&self, node: &Node) -> Read<Task> {
        let table = node.table(&TASK)?;
        let name = table.need("name")?.text()?.to_string();
        let models = models::of_task(table.need("models")?, self.tables, self.scope, &self.places)?;
        let sweep = combinations(table.get("sweep"))?;
        let mut cases = Vec::new();
        for model in &models {
            for settings in &sweep {
                cases.push(self.case(node, &name, model, settings, &sweep)?);
            }
        }
        let matrix = table.get("matrix").map(Matrix::read).transpose()?;
        if let (Some(matrix), Some(node)) = (&matrix, table.get("matrix")) {
            let is_swept = |name: &&String| sweep.iter().all(|settings| settings.iter().all(|(n, _)| n != *name));
            if let Some(name) = matrix.rows.iter().chain(&matrix.columns).find(is_swept) {
                return Err(Wrong::new(&node.at, format!("`{name}` is not swept over")));
            }
        }
        let labels = || cases.iter().map(|case| if case.label.is_empty() { "all" } else { &case.label });
        let base = table.get("base").map(|node| named(node, labels(), "configuration")).transpose()?;
        Ok(Task { name, about: table.text("about")?.map(str::to_string), cases, base, matrix })
    }

    fn case(&self, node: &Node, task: &str, model: &Model, settings: &Settings, sweep: &[Settings]) -> Read<Case> {
        let table = node.table(&TASK)?;
        let mut scope = self.scope.clone();
        scope.set("model", Some(model.name.clone()));
        model.cells.iter().for_each(|(name, value)| scope.set(name, value.clone()));
        let scope = scope.with(settings);
        let command = match table.get("command") {
            None => "count".to_string(),
            Some(node) => match node.text()? {
                "count" | "check" => node.text()?.to_string(),
                other => return Err(Wrong::new(&node.at, format!("expected count or check, found {other}"))),
            },
        };
        let maker = Maker {
            task: task.to_string(),
            model: model.clone(),
            command,
            flags: table.get("flags").map_or(Ok(&[][..]), Node::one_or_more)?.to_vec(),
            limits: limits(table.get("limits"), &self.limits)?,
            scope: scope.clone(),
            settings: settings.clone(),
        };
        let kind = match table.get("search") {
            None => {
                if let Some(node) = table.get("try") {
                    return Err(Wrong::new(&node.at, "`try` is for tasks with a `search`").help("use `sweep` here"));
                }
                Kind::Once(maker.run(&[])?)
            }
            Some(node) => match Search::read(node, table.get("try"), maker)? {
                Some(search) => Kind::Search(Box::new(search)),
                None => return Err(Wrong::new(&node.at, format!("the base of {} is an open cell", model.name))),
            },
        };
        let differing =
            |name: &str, value: &str| sweep.iter().any(|other| !other.iter().any(|(n, v)| n == name && v == value));
        let shown = settings.iter().filter(|(name, value)| differing(name, value) && !value.is_empty());
        Ok(Case {
            model: model.clone(),
            task: task.to_string(),
            label: shown.map(|(_, value)| value.clone()).collect::<Vec<_>>().join(" "),
            settings: settings.clone(),
            kind,
            expect: expectations(table.get("expect"), &scope)?,
            paper: published(table.get("paper"), &scope)?,
            measures: table.get("measures").map_or(Ok(Vec::new()), |node| {
                node.one_or_more()?.iter().map(|field| field.text().map(str::to_string)).collect()
            })?,
            in_matrix: table.get("matrix").is_some(),
            percent_of: table.get("percent-of").map(|node| scope.number(node)).transpose()?.flatten(),
        })
    }
}

/// A number, or a percentage of a base.
pub fn of_base(node: &Node, scope: &Scope, base: f64) -> Read<Option<f64>> {
    let Some(text) = scope.text(node)? else { return Ok(None) };
    let Some(percent) = text.trim_end().strip_suffix('%') else { return scope.number(node) };
    let open = |e| match e {
        crate::expression::NoValue::Open => Ok(None),
        crate::expression::NoValue::Because(message) => Err(Wrong::said(&node.at, &message)),
    };
    evaluate(percent, &|name| scope.get(name)).map(|p| Some(p / 100.0 * base)).or_else(open)
}
