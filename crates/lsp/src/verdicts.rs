//! What checks have said of models, as long as these are the same: a verdict on one property leaves those on others alone.

use crate::checks::Mark;
use crate::text::Text;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

#[derive(Debug)]
struct Verdict {
    text: Arc<Text>,
    marks: Vec<Mark>,
}

/// By the address of the model.
#[derive(Debug, Default)]
pub struct Verdicts(HashMap<String, Verdict>);

impl Verdicts {
    /// Takes what a check of this text says, of all properties or of some; gives the addresses whose marks have changed.
    pub fn take(
        &mut self,
        model: &str,
        text: Arc<Text>,
        whole: bool,
        properties: &[String],
        marks: Vec<Mark>,
    ) -> BTreeSet<String> {
        let same = !whole && self.0.get(model).is_some_and(|verdict| verdict.text.is(&text.text));
        let mut kept = self.0.remove(model).map(|verdict| verdict.marks).unwrap_or_default();
        let mut touched: BTreeSet<String> = kept.iter().chain(&marks).map(|mark| mark.uri.clone()).collect();
        touched.insert(model.to_string());
        kept.retain(|mark| same && !properties.contains(&mark.property));
        kept.extend(marks);
        self.0.insert(model.to_string(), Verdict { text, marks: kept });
        touched
    }

    /// Forgets what was said of a model; gives the addresses whose marks have changed.
    pub fn forget(&mut self, model: &str) -> BTreeSet<String> {
        let gone = self.0.remove(model).map(|verdict| verdict.marks).unwrap_or_default();
        gone.into_iter().map(|mark| mark.uri).collect()
    }

    /// Were they said of this text?
    pub fn are_of(&self, model: &str, text: &Text) -> bool {
        self.0.get(model).is_some_and(|verdict| text.is(&verdict.text.text))
    }

    /// What is marked at an address.
    pub fn marks(&self, uri: &str) -> impl Iterator<Item = Value> {
        let all = self.0.values().flat_map(|verdict| &verdict.marks);
        all.filter(move |mark| mark.uri == uri).map(|mark| mark.diagnostic.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_on_one_property_leaves_the_others_alone() {
        let mut verdicts = Verdicts::default();
        let mark = |name: &str, uri: &str| Mark { property: name.into(), uri: uri.into(), diagnostic: name.into() };
        let (text, other) = (Arc::new(Text::new("a".into())), Arc::new(Text::new("b".into())));
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        verdicts.take("m", text.clone(), false, &names(&["a"]), vec![mark("a", "m")]);
        verdicts.take("m", text.clone(), false, &names(&["b"]), vec![]);
        assert_eq!(verdicts.marks("m").count(), 1);
        let touched = verdicts.take("m", text.clone(), false, &names(&["a"]), vec![mark("a", "h")]);
        assert_eq!((touched.len(), verdicts.marks("m").count(), verdicts.marks("h").count()), (2, 0, 1));
        verdicts.take("m", text.clone(), true, &names(&["b"]), vec![mark("b", "m")]);
        assert_eq!(verdicts.marks("h").count(), 0);
        verdicts.take("m", other.clone(), false, &names(&["a"]), vec![]);
        assert_eq!(verdicts.marks("m").count(), 0, "of another text");
        assert!(verdicts.are_of("m", &other) && !verdicts.are_of("m", &text));
        verdicts.take("m", other, false, &names(&["a"]), vec![mark("a", "m")]);
        assert_eq!(verdicts.forget("m").len(), 1);
    }
}
