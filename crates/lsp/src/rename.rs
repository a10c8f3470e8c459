//! Another name for what is declared in a model: given only where it is sure that the model stays what it is.
//!
//! The names of the edited text are looked up again, and each must mean what it meant. Then both texts are read as a check reads
//! them, and what they are read as must be the same but for the name. What is left to whoever uses a name, as in macros and
//! inlines, or is in other files, is refused.

use crate::names::{Kind, Language, Names, keywords};
use crate::problems::{model_of, within_patience};
use crate::same::Sum;
use crate::text::Text;
use crate::words::{self, words};
use scrimp_lang::{Opened, open_text};
use std::ops::Range;
use std::path::Path;

/// Files beside a model that are looked into, and bytes of each.
const MOST_FILES: usize = 2000;
const MOST_BYTES: u64 = 1 << 20;
/// Words that mean something in Promela without being declared.
const MEANT: [&str; 24] = [
    "_",
    "_pid",
    "_nr_pr",
    "_last",
    "_priority",
    "stdin",
    "STDIN",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "D_proctype",
    "U",
    "V",
    "W",
    "X",
    "next",
    "release",
    "weakuntil",
    "equivalent",
    "stronguntil",
    "line",
    "nr_pr",
];
/// Labels that begin with these mean something.
const MARKS: [&str; 3] = ["end", "accept", "progress"];

/// A wish for another name.
pub struct Rename<'d> {
    pub path: &'d Path,
    pub text: &'d Text,
    pub names: &'d Names,
    pub language: Language,
    pub meant: usize,
    pub new: &'d str,
}

impl Rename<'_> {
    /// The places that get the new name, or why it would not do.
    pub fn places(&self) -> Result<Vec<Range<usize>>, String> {
        self.is_a_name()?;
        if self.text.text.len() as u64 > MOST_BYTES {
            return Err("the file is too long for names to be changed safely".into());
        }
        self.stands_alone()?;
        self.is_followed()?;
        self.is_free()?;
        let places: Vec<Range<usize>> = self.names.uses_of(self.meant).collect();
        let after = self.edited(&places);
        self.means_the_same(&after)?;
        self.reads_the_same(&after)?;
        Ok(places)
    }

    fn old(&self) -> &str {
        &self.names.declared[self.meant].name
    }

    fn is_a_name(&self) -> Result<(), String> {
        let new = self.new;
        let first = new.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !first || !new.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("`{new}` is no name: letters, digits and _ make one"));
        }
        let promela = self.language == Language::Promela;
        if keywords(self.language).contains(&new) || promela && MEANT.contains(&new) {
            return Err(format!("`{new}` is a word of the language"));
        }
        let mark = |name: &str| MARKS.iter().find(|mark| name.starts_with(**mark));
        let is_label = promela && self.names.declared[self.meant].kind == Kind::Place;
        if is_label && let Some(mark) = mark(new).or(mark(self.old())).filter(|_| mark(new) != mark(self.old())) {
            return Err(format!("a label that begins with `{mark}` means something: the model would be another"));
        }
        match new == self.old() {
            true => Err("that is its name already".into()),
            false => Ok(()),
        }
    }

    /// Other files may use names of this one: then this one does not tell what a name is for.
    fn stands_alone(&self) -> Result<(), String> {
        let includes = |text: &str| words(text).iter().any(|word| is_include(word));
        if includes(&self.text.text) {
            return Err("this file includes others, which may use the name too: change it by hand".into());
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let folder = self.path.parent().and_then(|folder| std::fs::read_dir(folder).ok());
        for entry in folder.into_iter().flatten().take(MOST_FILES).flatten() {
            let path = entry.path();
            let small = entry.metadata().is_ok_and(|about| about.is_file() && about.len() <= MOST_BYTES);
            let end = path.extension().and_then(|end| end.to_str()).unwrap_or("").to_ascii_lowercase();
            if !small || path == self.path {
                continue;
            }
            let text =
                || std::fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
            let other = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match end.as_str() {
                "props" | "prop" | "properties" => {
                    let text = text();
                    let about = model_of(&path, &text).is_some_and(|model| model.file_name() == self.path.file_name());
                    if about && words(&text).iter().any(|word| word.text == self.old()) {
                        return Err(format!("{other} asks about `{}`: change it there and here by hand", self.old()));
                    }
                }
                "pml" | "prom" | "promela" | "pm" | "h" | "inc" if self.language == Language::Promela => {
                    let text = text();
                    if text.contains(name.as_ref()) && includes(&text) {
                        return Err(format!("{other} includes this file: change the name by hand in both"));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Every word that is the old name must be known to mean something, here and wherever it is put by macros and inlines.
    fn is_followed(&self) -> Result<(), String> {
        let old = self.old();
        let names = self.names;
        let alone = names.declared.iter().filter(|other| other.name == old).count() == 1;
        let everywhere = alone && names.declared[self.meant].owner.is_none();
        let line = |byte: usize| self.text.text[..byte].matches('\n').count() + 1;
        for word in words(&self.text.text).iter().filter(|word| word.text == old && word.kind == words::Kind::Name) {
            let meant = names.meant_at(word.start);
            let Some(meant) = meant else {
                return Err(format!(
                    "it is not known what `{old}` means on line {}: change it by hand",
                    line(word.start)
                ));
            };
            if names.in_directive(word.start) && !everywhere {
                return Err(format!(
                    "a macro says `{old}`, which is whatever is meant where it is used: change it by hand"
                ));
            }
            let inline = names.inline_at(word.start);
            let own = inline.is_some_and(|inline| meant == inline || names.declared[meant].owner == Some(inline));
            if let Some(inline) = inline.filter(|_| !own && !everywhere) {
                let inline = &names.declared[inline].name;
                return Err(format!(
                    "inline `{inline}` says `{old}`, which is whatever is meant where it is used: change it by hand"
                ));
            }
        }
        Ok(())
    }

    /// The new name must not be another's where it would be taken for this one.
    fn is_free(&self) -> Result<(), String> {
        let (new, names) = (self.new, self.names);
        let own = &names.declared[self.meant];
        if let Some(other) = names.declared.iter().find(|other| other.name == new && other.owner == own.owner) {
            return Err(format!("there is a {} `{new}` already", other.kind.word()));
        }
        let of_inline = own.owner.is_some_and(|owner| names.declared[owner].kind == Kind::Inline);
        for word in words(&self.text.text).iter().filter(|word| word.text == new) {
            if names.in_directive(word.start) {
                return Err(format!("a macro says `{new}` already"));
            }
            if of_inline || names.inline_at(word.start).is_some() {
                return Err(format!("`{new}` is used already, and could be taken for it where an inline is used"));
            }
        }
        Ok(())
    }

    fn edited(&self, places: &[Range<usize>]) -> String {
        let (mut text, mut from) = (String::with_capacity(self.text.text.len()), 0);
        for place in places {
            text.push_str(&self.text.text[from..place.start]);
            text.push_str(self.new);
            from = place.end;
        }
        text + &self.text.text[from..]
    }

    /// Each name of the edited text means what it meant.
    fn means_the_same(&self, after: &str) -> Result<(), String> {
        let again = Names::of(after, self.language);
        let declared = |names: &Names| -> Vec<(Kind, Option<usize>)> {
            names.declared.iter().map(|declared| (declared.kind, declared.owner)).collect()
        };
        let uses = |names: &Names| -> Vec<usize> { names.uses.iter().map(|(_, meant)| *meant).collect() };
        if declared(self.names) != declared(&again) || uses(self.names) != uses(&again) {
            return Err(format!("`{}` would be taken for something else that is called so", self.new));
        }
        Ok(())
    }

    /// Both texts are models, and the same one.
    fn reads_the_same(&self, after: &str) -> Result<(), String> {
        let read = |text: &str| open_text(self.path, text, &[], &within_patience());
        let before = read(&self.text.text).map_err(|error| {
            let error = error.to_string();
            format!("this is no model yet ({}): mend that first", error.lines().next().unwrap_or(""))
        })?;
        let after = read(after).map_err(|error| {
            let error = error.to_string();
            format!("it would be no model then: {}", error.lines().next().unwrap_or(""))
        })?;
        let sum = |opened: &Opened| Sum::of(opened, &[self.old(), self.new]);
        match sum(&before) == sum(&after) {
            true => Ok(()),
            false => Err(format!("with `{}` it would be another model", self.new)),
        }
    }
}

fn is_include(word: &words::Word<'_>) -> bool {
    word.kind == words::Kind::Directive && word.text == "include"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renames what stands at a marked place: `old` behind a `^`, which is left out of the text.
    fn renamed(marked: &str, new: &str, language: Language) -> Result<String, String> {
        let at = marked.find('^').expect("a mark");
        let text = Text::new(marked.replacen('^', "", 1));
        let names = Names::of(&text.text, language);
        let end = if language == Language::Dve { "dve" } else { "pml" };
        let path = std::path::PathBuf::from(format!("/there/is/no/such.{end}"));
        let meant = names.at(at).ok_or("nothing is meant")?;
        let rename = Rename { path: &path, text: &text, names: &names, language, meant, new };
        rename.places().map(|places| rename.edited(&places))
    }

    #[test]
    fn names_that_would_change_the_model_are_refused() {
        for (text, new) in [
            ("byte ^x = 1;\nactive proctype P() { byte y = 2; assert(x == 1 && y == 2) }\n", "y"),
            ("byte x = 1;\nactive proctype P() { byte ^y = 2; assert(x == 1 && y == 2) }\n", "x"),
            ("active proctype P() {\n^a: skip;\nb: skip; goto a }\n", "b"),
            ("active proctype P() {\n^a: skip;\nb: skip; goto a }\n", "enda"),
            ("#define N 3\nactive proctype P() { byte ^i = 1; assert(i == 1) }\n", "N"),
            ("byte ^g = 5; active proctype P() { assert(g == 5) }\n", "_"),
            ("byte ^g = 5; active proctype P() { assert(g == 5) }\n", "_last"),
            ("byte ^g = 5; active proctype P() { assert(g == 5) }\n", "c_code"),
            ("byte ^g = 5; active proctype P() { assert(g == 5) }\nltl f { [] (g == 5) }\n", "U"),
            ("byte ^g = 5; active proctype P() { assert(g == 5) }\nltl f { [] (g == 5) }\n", "X"),
            ("#define inc i++\nactive proctype P() { byte ^i = 0; inc; assert(i == 1) }\n", "j"),
            ("inline inc() { i++ }\nactive proctype P() { byte ^i = 0; inc(); assert(i == 1) }\n", "j"),
            (
                "byte g = 1;\ninline f() { assert(g == 1) }\nactive proctype P() { byte ^l = 2; f(); assert(l == 2) }\n",
                "g",
            ),
            ("byte ^x = 1;\n#define F(x) (x + 1)\nactive proctype P() { assert(F(2) == 3 && x == 1) }\n", "y"),
            ("mtype = {^red};\nactive proctype P() { byte q = 5; mtype m = red; assert(m == red && q == 5) }\n", "q"),
            ("byte g = 1;\ninline f(^a) { assert(a == g) }\nactive proctype P() { f(1) }\n", "g"),
            ("inline f(a) { byte ^t = a; assert(t == 1) }\nactive proctype P() { byte x = 1; f(x) }\n", "x"),
            ("#include \"other.h\"\nbyte ^g;\nactive proctype P() { g = 1 }\n", "h"),
            ("byte ^g;\nactive proctype P() { g = nowhere }\n", "h"),
            ("byte ^g;\nactive proctype P() { g = 1 }\n", "g"),
        ] {
            assert!(renamed(text, new, Language::Promela).is_err(), "{text}");
        }
        let dve = "byte ^x = 1;\nprocess P { byte y = 2; state a, b; init a; trans a -> b { guard x == 1 && y == 2; }; }\nsystem async;\n";
        assert!(renamed(dve, "y", Language::Dve).is_err());
        assert!(renamed(&dve.replace("^x", "x").replace("byte y", "byte ^y"), "x", Language::Dve).is_err());
        assert!(renamed(&dve.replace("^x", "x").replace("state a", "state ^a"), "b", Language::Dve).is_err());
        assert!(renamed(dve, "z", Language::Dve).unwrap().contains("guard z == 1 && y == 2"));
    }

    #[test]
    fn names_are_changed_where_they_mean_the_same() {
        for (text, new) in [
            ("active proctype P() {\n  { byte ^x = 1; assert(x == 1) }\n  { byte x = 2; assert(x == 2) }\n}\n", "y"),
            ("active proctype P() {\n  { byte x = 1; assert(x == 1) }\n  { byte ^x = 2; assert(x == 2) }\n}\n", "y"),
            (
                "typedef A { byte ^f }\ntypedef B { byte g; byte f }\nA a; B b;\nactive proctype P() { a.f = 1; b.f = 2 }\n",
                "h",
            ),
            (
                "typedef A { byte f }\ntypedef B { byte g; byte ^f }\nA a; B b[2];\nactive proctype P() { a.f = 1; b[0].f = 2 }\n",
                "h",
            ),
            ("byte ^x = 1;\n#define ok (x == 1)\nactive proctype P() { assert(ok) }\nltl f { [] (x == 1) }\n", "y"),
            ("byte ^x = 1; /* x */ // x\nactive proctype P() { assert(x == 1); printf(\"x\\n\") }\n", "y"),
            ("active proctype P() { byte ^i; i = 1 }\nactive proctype Q() { byte j; j = 2 }\n", "j"),
            ("active proctype P() {\n^work: skip; skip }\nltl f { <> P@work }\n", "busy"),
            ("proctype Q(byte ^q) { assert(q == 3) }\ninit { byte z = 3; run Q(z) }\n", "r"),
            ("proctype ^Q(byte q) { assert(q == 3) }\ninit { byte z = 3; run Q(z) }\n", "R"),
            ("inline ^f(a) { a = 1 }\nactive proctype P() { byte x; f(x) }\n", "g"),
            ("byte ^a, b, x;\nactive proctype P() { x = (b > 0 -> a : b) }\n", "z"),
            ("chan ^c = [1] of {byte};\nactive proctype P() { c!1; c?1 }\n", "d"),
        ] {
            let after = renamed(text, new, Language::Promela).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_ne!(text.replacen('^', "", 1), after);
        }
        let blocks = "active proctype P() {\n  { byte ^x = 1; assert(x == 1) }\n  { byte x = 2; assert(x == 2) }\n}\n";
        let after = renamed(blocks, "y", Language::Promela).unwrap();
        assert!(
            after.contains("byte y = 1; assert(y == 1)") && after.contains("byte x = 2; assert(x == 2)"),
            "{after}"
        );
        let fields =
            "typedef A { byte ^f }\ntypedef B { byte f }\nA a; B b;\nactive proctype P() { a.f = 1; b.f = 2 }\n";
        let after = renamed(fields, "h", Language::Promela).unwrap();
        assert!(after.contains("{ byte h }") && after.contains("a.h = 1; b.f = 2"), "{after}");
    }
}
