//! Which models a task runs on: files by name or pattern, or a table with one row of values for each model.

use crate::case::digest;
use crate::collection::Collection;
use crate::document::{Node, Read, Value, Wrong};
use crate::expression::is_name;
use crate::pattern;
use crate::scope::Scope;
use crate::template::names_in;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A model with the values of its row.
#[derive(Debug, Clone)]
pub struct Model {
    pub name: String,
    /// The path as the suite has it, with variables filled in.
    pub written: String,
    /// The file; `None` where it is missing and may be.
    pub file: Option<PathBuf>,
    pub cells: Vec<(String, Option<String>)>,
    /// Of the file's text, so that results of another text are not taken for this one's.
    pub digest: String,
}

impl Model {
    fn new(name: String, written: String, file: Option<PathBuf>, cells: Vec<(String, Option<String>)>) -> Model {
        let text = file.as_ref().map(|file| std::fs::read(file).map(|text| format!("{:016x}", digest(&text))));
        let digest = match text {
            Some(Ok(digest)) => digest,
            Some(Err(_)) => "unreadable".to_string(),
            None => "missing".to_string(),
        };
        Model { name, written, file, cells, digest }
    }
}

/// A variable of the suite, and the environment variable that can set it.
#[derive(Debug)]
pub struct Variable {
    pub name: String,
    pub env: Option<String>,
}

/// Where paths are looked for, and what to say when nothing is there.
#[derive(Debug)]
pub struct Places<'a> {
    /// The folder of the suite file.
    pub folder: &'a Path,
    pub skip_missing: bool,
    /// Variables that can be set.
    pub variables: &'a [Variable],
    /// Where files can be had.
    pub collections: &'a [Collection],
}

impl Places<'_> {
    /// Files that a path or pattern names: below the suite's folder, or else below the current one.
    fn find(&self, template: &str, written: &str, at: &Range<usize>) -> Read<Vec<PathBuf>> {
        let beside = pattern::files(&pattern::tidy(&self.folder.join(written)));
        let found = if beside.is_empty() { pattern::files(Path::new(written)) } else { beside };
        if !found.is_empty() || self.skip_missing {
            return Ok(found);
        }
        let mut message = format!("there is no file {}", pattern::tidy(&self.folder.join(written)).display());
        if Path::new(written).is_relative() && !self.folder.as_os_str().is_empty() {
            message.push_str(&format!(", and no {written} in the current folder"));
        }
        let looked_for = [pattern::tidy(&self.folder.join(written)), PathBuf::from(written)];
        let collection = self.collections.iter().find(|c| looked_for.iter().any(|path| c.has(path)));
        let get = collection.map_or(String::new(), |collection| format!("{}; ", collection.where_to_get()));
        let variable = names_in(template).find_map(|name| self.variables.iter().find(|variable| variable.name == name));
        let help = match variable {
            Some(Variable { name, env: Some(env) }) => {
                format!("say where it is: --set {name}=FOLDER, or the variable {env}=FOLDER; ")
            }
            Some(Variable { name, env: None }) => format!("say where it is: --set {name}=FOLDER; "),
            None => String::new(),
        };
        Err(Wrong::new(at, message).help(format!("{get}{help}--skip-missing leaves out what is not there")))
    }
}

/// The models of a list of paths and patterns.
pub fn listed(node: &Node, scope: &Scope, places: &Places) -> Read<Vec<Model>> {
    let mut models: Vec<Model> = Vec::new();
    for entry in node.one_or_more()? {
        let written = scope.needed_text(entry)?;
        let found = places.find(entry.text()?, &written, &entry.at)?;
        if found.is_empty() {
            models.push(Model::new(stem(&written), written.clone(), None, Vec::new()));
        }
        for file in found {
            // A pattern names several files; each is known by the pattern's folder and its own name.
            let own = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let written = Path::new(&written).with_file_name(own).to_string_lossy().into_owned();
            if models.iter().all(|m| m.file.as_ref() != Some(&file)) {
                models.push(Model::new(stem(&written), written, Some(file), Vec::new()));
            }
        }
    }
    Ok(models)
}

/// The models of a table: `path` with `${model}` in it, names of `columns`, and `rows` that begin with the model's name.
pub fn tabled(node: &Node, scope: &Scope, places: &Places) -> Read<Vec<Model>> {
    let table = node.table(&["path", "columns", "rows"])?;
    let path = table.need("path")?;
    let mut columns = Vec::new();
    for column in table.get("columns").map_or(Ok(&[][..]), Node::list)? {
        let name = column.text()?;
        if !is_name(name) || name == "model" || columns.contains(&name) {
            return Err(Wrong::new(
                &column.at,
                "a column has a name of its own: letters, digits, dots and underscores",
            ));
        }
        columns.push(name);
    }
    let mut models: Vec<Model> = Vec::new();
    for row in table.need("rows")?.list()? {
        let cells = row.one_or_more()?;
        if cells.len() != columns.len() + 1 {
            let message = format!(
                "this row has {} cells; the model and {} columns make {}",
                cells.len(),
                columns.len(),
                columns.len() + 1
            );
            return Err(Wrong::new(&row.at, message));
        }
        let name = cells[0].text()?.to_string();
        if models.iter().any(|m| m.name == name) {
            return Err(Wrong::new(&cells[0].at, format!("a second row for {name}")));
        }
        let mut values = vec![("model".to_string(), Some(name.clone()))];
        for (column, cell) in columns.iter().zip(&cells[1..]) {
            let value = cell.scalar()?;
            values.push((column.to_string(), (value != "-").then_some(value)));
        }
        let mut scope = scope.clone();
        values.iter().for_each(|(name, value)| scope.set(name, value.clone()));
        let written = scope.needed_text(path)?;
        let mut found = places.find(path.text()?, &written, &cells[0].at)?;
        if found.len() > 1 {
            let message = format!("{written} names {} files, and a row is about one", found.len());
            return Err(Wrong::new(&cells[0].at, message));
        }
        models.push(Model::new(name, written, found.pop(), values));
    }
    Ok(models)
}

/// The models that a task names: a table by its name, a table of its own, or a list.
pub fn of_task(node: &Node, tables: Option<&Node>, scope: &Scope, places: &Places) -> Read<Vec<Model>> {
    match &node.value {
        Value::Table(_) => tabled(node, scope, places),
        Value::Text(name) if !name.contains(['/', '*', '$']) && !name.contains(".dve") => {
            let known = tables.map_or(Ok(&[][..]), Node::entries)?;
            match known.iter().find(|(key, _)| key.name == *name) {
                Some((_, table)) => tabled(table, scope, places),
                None => {
                    let names: Vec<&str> = known.iter().map(|(key, _)| key.name.as_str()).collect();
                    let help = match names.is_empty() {
                        true => {
                            "there are no [models.NAME] tables; files go into a list: models = [\"x.dve\"]".to_string()
                        }
                        false => format!("known tables: {}", names.join(", ")),
                    };
                    Err(Wrong::new(&node.at, format!("unknown table of models `{name}`")).help(help))
                }
            }
        }
        _ => listed(node, scope, places),
    }
}

/// The file's name without folder and `.dve` or `.dve.gz`.
fn stem(path: &str) -> String {
    let name = Path::new(path).file_name().map_or(path.to_string(), |name| name.to_string_lossy().into_owned());
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.strip_suffix(".dve").unwrap_or(name).to_string()
}
