//! What is asked of a Petri net: every question is answered on its own.

use super::{Inquiry, PetriNet};
use crate::asked::Request;
use crate::check::Setting;
use crate::error::CheckError;
use crate::facts::{examined, facts_of};
use crate::guides;
use crate::search::{Found, Host, Searcher};
use scrimp_core::{Condition, Property};
use scrimp_lang::{NetNames, read_beside, read_formulas};
use scrimp_native::NativeModel;
use scrimp_net::NamedQuestion;
use scrimp_search::lts::Wanted;
use scrimp_search::{Feature, Plan, Question};
use scrimp_system::{Source, Stop};

/// A net, and what is asked of it.
pub struct NetCheck {
    inquiry: Inquiry,
    names: Vec<String>,
    /// How many of the questions come from files of formulas.
    from_files: usize,
    setting: Setting,
    /// What the searches may do, for each thing that is to be decided.
    plans: Vec<Plan>,
    stop: Stop,
}

impl NetCheck {
    pub fn new(net: PetriNet, request: &Request, setting: &Setting, stop: &Stop) -> Result<NetCheck, CheckError> {
        let (questions, from_files) = questions(request, &net)?;
        let names = questions.iter().map(|question| question.name.clone()).collect();
        let options = &setting.options;
        let system = net.lowered()?.system.clone();
        guides::admit(&system, options)?;
        let model = examined(&system, options)?;
        let facts = facts_of(&system, model.as_ref(), options);
        let mut inquiry = Inquiry::new(net, questions);
        inquiry.watch = setting.watch;
        let mut to_decide = inquiry.questions();
        if to_decide.is_empty() {
            to_decide.push(Question::about(Feature::States).with(Feature::OfNet));
        }
        let plans = Plan::all(options, &to_decide, &facts)?;
        Ok(NetCheck { inquiry, names, from_files, setting: setting.clone(), plans, stop: stop.clone() })
    }

    /// What is asked, and the plan of the first search that decides something of it.
    pub fn searches(&self) -> (Vec<String>, &Plan) {
        (self.names.clone(), &self.plans[0])
    }

    pub fn net(&self) -> &PetriNet {
        &self.inquiry.net
    }

    pub fn net_mut(&mut self) -> &mut PetriNet {
        &mut self.inquiry.net
    }

    pub fn run(self, host: &mut dyn Host) -> Result<(), CheckError> {
        let NetCheck { inquiry, from_files, setting, plans, stop, .. } = self;
        let mut searcher = Searcher { host, mode: setting.mode, cluster: setting.cluster.clone() };
        let mut search = |model: &NativeModel, properties: &[Property<Condition>], plan: &mut Plan, wanted: &Wanted| {
            let time = plan.options().time;
            searcher.states(model, properties, plan, Some(wanted), time)
        };
        let mut answered = inquiry.answer(&setting.options, setting.mode, &mut search, &stop)?;
        // TRUE and FALSE are the contest's words; a property that was written out holds or does not.
        for result in answered.report.properties.iter_mut().skip(from_files) {
            result.answer = result.answer.take().filter(|answer| answer.parse::<u64>().is_ok() || answer == "ω");
        }
        let plan = answered.plan.unwrap_or_else(|| plans[0].clone()).within(setting.options.time);
        searcher.host.found(Found {
            model: &answered.model,
            plan: &plan,
            report: answered.report,
            with_claim: false,
            coverage: answered.coverage,
            graph: None,
            searches: Some(answered.searches),
            for_graph: false,
            beside: false,
            left: Vec::new(),
        });
        Ok(())
    }
}

/// The questions asked: from files of formulas first, and how many these are, then those written out, or else the one about
/// deadlocks.
fn questions(request: &Request, net: &PetriNet) -> Result<(Vec<NamedQuestion>, usize), CheckError> {
    let mut questions = Vec::new();
    for path in &request.formulas {
        questions.extend(read_formulas(path, &net.net)?);
    }
    let from_files = questions.len();
    let names = NetNames::new(&net.net);
    for text in &request.properties {
        questions.push(names.question(text)?);
    }
    if let Some(path) = &request.property_file {
        let text = read_beside(path).map_err(|why| CheckError::file(path, why))?;
        questions.extend(names.questions(&Source::new(path.display().to_string(), text))?);
    }
    if questions.is_empty() {
        if let Some(path) = request.formulas.first().or(request.property_file.as_ref()) {
            return Err(CheckError::file(path, "the file has no property"));
        }
        questions.push(names.question("deadlock")?);
    }
    Ok((questions, from_files))
}
