//! Saves a search now and then, and takes up one that was saved.

use crate::check::Safety;
use crate::checkpoint::{self, Identity, get_findings, get_text, model_digest, put_findings, put_text};
use crate::plan::Plan;
use crate::replace::remove_remains;
use crate::words::hash;
use scrimp_core::Control;
use scrimp_system::Model;
use std::io::{self, Read, Write};

pub(crate) struct Saver<'a> {
    plan: &'a Plan,
    /// What has been found on the way; nothing where one finding ends the search.
    safety: Option<&'a Safety<'a>>,
    control: &'a Control,
    identity: Identity,
    model: &'a dyn Model,
}

impl<'a> Saver<'a> {
    /// What saves the search of a plan; nothing, where none is to be saved or taken up. `asked` names all that it decides.
    pub fn new(
        model: &'a dyn Model,
        asked: &str,
        plan: &'a Plan,
        safety: Option<&'a Safety<'a>>,
        control: &'a Control,
    ) -> Option<Saver<'a>> {
        let options = &plan.options();
        if options.checkpoint.is_none() && options.resume.is_none() {
            return None;
        }
        if let Some(path) = &options.checkpoint {
            remove_remains(path);
            control.pause_every(plan.every());
        }
        let text = format!("{}\n{asked}", plan.essence());
        let identity = Identity { model: model_digest(model), options: hash(text.as_bytes()) };
        Some(Saver { plan, safety, control, identity, model })
    }

    /// The search to take up: the store it was in, and where the rest can be read.
    pub fn resume(&self) -> io::Result<Option<(String, Box<dyn Read>)>> {
        let Some(path) = &self.plan.options().resume else {
            return Ok(None);
        };
        let mut from = checkpoint::open(path, self.identity)?;
        let (stage, _) = (get_text(&mut from)?, get_text(&mut from)?);
        let findings = get_findings(&mut from, self.model.state_bytes())?;
        self.model.restore(&mut from)?;
        self.safety.iter().for_each(|safety| safety.remember(findings.clone()));
        Ok(Some((stage, Box::new(from))))
    }

    /// Says that the search is not saved where it has ended.
    pub fn tell_unsaved(&self) {
        if let Some(path) = &self.plan.options().checkpoint {
            let last = if path.exists() { "the last checkpoint is complete" } else { "there is no checkpoint" };
            self.control.say(format!("the search ran out of memory while it saved: {last}"));
        }
    }

    /// Saves the search, if that was asked for. `stage` names the store, `content` writes it. What cannot be saved is told,
    /// and the search goes on.
    pub fn save(&self, stage: &str, content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        let Some(path) = &self.plan.options().checkpoint else {
            return;
        };
        let findings = self.safety.map(Safety::findings).unwrap_or_default();
        self.control.save(true);
        let saved = checkpoint::write(path, self.identity, self.model.making(), &mut |to| {
            put_text(to, stage)?;
            put_text(to, self.plan.options().progress.as_deref().unwrap_or_default())?;
            put_findings(to, &findings)?;
            self.model.save(to)?;
            content(to)
        });
        self.control.save(false);
        if let Err(error) = saved {
            self.control.say(format!("the checkpoint {} could not be written: {error}", path.display()));
        }
        self.control.paused();
    }
}
