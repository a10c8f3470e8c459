//! The modules of the page as one script: a browser asks for it once, and not for one module after another.
//!
//! A module becomes a function that is called where it stands and returns what the module exports; it stands before all that
//! import from it. Modules keep to a few forms, and others are refused: an import is the line
//! `import { a, b } from "./other.js";`, an export is a function, a class or a constant declared on one line.

/// The script of a module with all that it imports, by the texts of modules.
pub fn bundle<'a>(main: &str, text: impl Fn(&str) -> Option<&'a str>) -> Result<String, String> {
    let mut bundle = Bundle { text, done: Vec::new(), begun: Vec::new(), script: String::new() };
    bundle.add(main)?;
    Ok(bundle.script)
}

struct Bundle<F> {
    text: F,
    /// Modules that are in the script, and those whose imports are being added.
    done: Vec<String>,
    begun: Vec<String>,
    script: String,
}

impl<'a, F: Fn(&str) -> Option<&'a str>> Bundle<F> {
    fn add(&mut self, name: &str) -> Result<(), String> {
        if self.done.iter().any(|done| done == name) {
            return Ok(());
        }
        if self.begun.iter().any(|begun| begun == name) {
            return Err(format!("{name} imports itself by way of others"));
        }
        let text = (self.text)(name).ok_or_else(|| format!("there is no module {name}"))?;
        self.begun.push(name.into());
        let (mut body, mut exports) = (String::new(), Vec::new());
        for line in text.lines() {
            let wrong = || format!("{name}: this form is not known: {line}");
            if line.starts_with("import ") {
                let (names, from) = imported(line).ok_or_else(wrong)?;
                self.add(from)?;
                body.push_str(&format!("const {{{names}}} = {};", variable(from)));
            } else if let Some(rest) = line.strip_prefix("export ") {
                exports.push(declared(rest).ok_or_else(wrong)?);
                body.push_str(rest);
            } else {
                body.push_str(line);
            }
            body.push('\n');
        }
        let (exports, variable) = (exports.join(", "), variable(name));
        self.script.push_str(&format!("const {variable} = (() => {{\n{body}return {{ {exports} }};\n}})();\n"));
        self.done.push(name.into());
        Ok(())
    }
}

/// What an import takes, and from where.
fn imported(line: &str) -> Option<(&str, &str)> {
    let (names, from) = line.strip_prefix("import {")?.split_once("} from \"./")?;
    let plain = !names.contains(" as ");
    plain.then_some((names, from.strip_suffix("\";")?))
}

/// The name that a declaration is of; one that can be given another value is not taken.
fn declared(declaration: &str) -> Option<&str> {
    let rest =
        ["const ", "function ", "async function ", "class "].iter().find_map(|word| declaration.strip_prefix(word))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| !name.is_empty())
}

/// What a module is called in the script.
fn variable(module: &str) -> String {
    format!("module_{}", module.trim_end_matches(".js"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(modules: &[(&str, &'static str)]) -> Result<String, String> {
        bundle("main.js", |name| Some(modules.iter().find(|(module, _)| *module == name)?.1))
    }

    #[test]
    fn modules_stand_before_those_that_import_them() {
        let script = of(&[
            ("main.js", "import { two } from \"./b.js\";\nimport { one } from \"./a.js\";\nrun(one + two);\n"),
            ("a.js", "export const one = 1;\n"),
            ("b.js", "import { one } from \"./a.js\";\nexport function two(more) {\n  return one + more;\n}\n"),
        ]);
        let expected = "const module_a = (() => {\nconst one = 1;\nreturn { one };\n})();\n\
            const module_b = (() => {\nconst { one } = module_a;\nfunction two(more) {\n  return one + more;\n}\n\
            return { two };\n})();\n\
            const module_main = (() => {\nconst { two } = module_b;\nconst { one } = module_a;\nrun(one + two);\n\
            return {  };\n})();\n";
        assert_eq!(script.unwrap(), expected);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let refused = |text: &'static str| of(&[("main.js", text)]).unwrap_err();
        assert!(refused("import { a } from \"./nowhere.js\";").contains("no module nowhere.js"));
        assert!(refused("import { a as b } from \"./main.js\";").contains("not known"));
        assert!(refused("import * as all from \"./main.js\";").contains("not known"));
        assert!(refused("export let counter = 0;").contains("not known"));
        assert!(refused("export default 3;").contains("not known"));
        assert!(refused("import { a } from \"./main.js\";").contains("imports itself"));
    }
}
