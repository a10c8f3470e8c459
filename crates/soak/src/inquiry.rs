//! All that is asked of a net in one inquiry, by whatever ways a configuration leaves it.

use crate::configuration::Configuration;
use crate::language::{Answer, Expected};
use crate::matrix::Tally;
use scrimp::lts::Wanted;
use scrimp::nets::{Inquiry, PetriNet, Structure};
use scrimp::{
    CheckError, Control, Guides, Measure, NativeModel, NetNames, Options, Plan, Property, PropertyResult, Report,
    Verdict, run_engine,
};
use scrimp_core::Condition;
use scrimp_lang::read_formulas_from;
use scrimp_net::{NamedQuestion, Net};
use scrimp_system::Stop;
use std::time::Duration;

/// What an inquiry may take. The nets are small: one that takes longer is told of.
const PATIENCE: Duration = Duration::from_secs(10);
/// Parts of a net's structure that a drawn way uses, or not.
const STRUCTURES: [&str; 6] =
    ["all", "none", "-reduction", "-walks", "bounds,groups,implied", "equation,reduction,walks"];

/// Asks, and compares.
pub fn ask(
    net: PetriNet,
    expected: &Expected,
    way: &Configuration,
    options: &Options,
    chosen: Option<u64>,
    tally: &mut Tally,
) -> Result<(), String> {
    let structure = STRUCTURES[chosen.unwrap_or(0) as usize % STRUCTURES.len()];
    let structure: Structure = structure.parse().map_err(|e| format!("{structure}: {e}"))?;
    // Drawn ways are asked for some of it.
    let some = |number: usize| chosen.is_none_or(|chosen| chosen >> (8 + number % 48) & 1 == 1);
    let answers: Vec<&Answer> =
        expected.answers.iter().enumerate().filter(|(number, _)| some(*number)).map(|(_, answer)| answer).collect();
    if answers.is_empty() || way.measure().is_some() {
        return Ok(());
    }
    let names = NetNames::new(&net.net);
    let questions = answers.iter().map(|answer| question(&names, &net.net, answer)).collect::<Result<Vec<_>, _>>()?;
    let mut search = |model: &NativeModel, properties: &[Property<Condition>], plan: &mut Plan, wanted: &Wanted| {
        let control = Control::new(plan.options().time);
        let heuristic = way.heuristic().and_then(|text| Measure::parse(model.system(), text).ok());
        let heuristic = heuristic.as_ref().map(|measure| |state: &[u8]| measure.value(state));
        let guides = Guides {
            heuristic: heuristic.as_ref().map(|f| f as &scrimp_search::Guide),
            graph: Some(wanted),
            ..Guides::default()
        };
        run_engine(model, properties, plan, &control, guides).map_err(CheckError::from)
    };
    let (net, name) = (Net::clone(&net.net), "net".to_string());
    let inquiry = Inquiry::new(PetriNet::new(net, name, structure), questions);
    let answered = match inquiry.answer(options, way.mode(), &mut search, &Stop::never().within(PATIENCE)) {
        Ok(answered) => answered,
        Err(error) => {
            tally.leave_out(error.to_string());
            return Ok(());
        }
    };
    for (answer, result) in answers.iter().zip(&answered.report.properties) {
        compare(answer, result, &answered.report, way).map_err(|e| format!("{e} by {structure:?}"))?;
        tally.comparisons += 1;
    }
    Ok(())
}

fn question(names: &NetNames, net: &Net, answer: &Answer) -> Result<NamedQuestion, String> {
    let property = &answer.property;
    // The contest says by the id which logic is meant.
    let (id, xml) = match (property.strip_prefix("xml: "), property.strip_prefix("xml LTL: ")) {
        (Some(xml), _) => ("q", xml),
        (_, Some(xml)) => ("q-LTL", xml),
        _ => return names.question(property).map_err(|e| e.to_string()),
    };
    let text = format!(
        "<property-set><property><id>{id}</id><description>d</description><formula>{xml}</formula></property></property-set>"
    );
    let read = read_formulas_from("q.xml", text.as_bytes(), net).map_err(|e| e.to_string())?;
    read.into_iter().next().ok_or_else(|| format!("no formula in {xml}"))
}

fn compare(answer: &Answer, result: &PropertyResult, report: &Report, way: &Configuration) -> Result<(), String> {
    let property = &answer.property;
    if let (Some(value), Some(said)) = (&answer.value, &result.answer) {
        return if value == said { Ok(()) } else { Err(format!("{property}: {said}, not {value}")) };
    }
    match result.verdict {
        Verdict::Violated if answer.holds => Err(format!("{property}: said to be violated")),
        Verdict::Undecided => {
            let excused = report.limit.is_some() || report.omission.is_some() || way.is_tiny() || way.may_give_up();
            // Where states are forgotten or sets are asked, some questions cannot be answered.
            if excused || !way.is_plain() {
                Ok(())
            } else {
                Err(format!("{property}: left undecided without a reason"))
            }
        }
        Verdict::Violated => Ok(()),
        _ if !answer.holds && answer.value.is_none() => Err(format!("{property}: said to be verified")),
        _ => Ok(()),
    }
}
