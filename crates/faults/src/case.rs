//! What is searched, and how.

use crate::answer::Expected;
use crate::models;
use crate::program::Program;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// A command, and what it answers when nothing disturbs it.
#[derive(Debug)]
pub struct Case {
    pub words: Vec<String>,
    /// Can it be saved and taken up?
    pub can_be_saved: bool,
    /// Keeps its states in files.
    pub on_disk: bool,
    undisturbed: OnceLock<Result<(Expected, Duration), String>>,
}

impl Case {
    /// Of words between spaces; `~` is a space within one.
    fn new(words: &str) -> Case {
        let words = words.split_ascii_whitespace().map(|word| word.replace('~', " "));
        let words = words.chain(["--json".to_string()]).collect();
        Case { words, can_be_saved: false, on_disk: false, undisturbed: OnceLock::new() }
    }

    fn saved(words: &str) -> Case {
        Case { can_be_saved: true, ..Case::new(words) }
    }

    /// What it answers, and how long that takes.
    pub fn expected(&self, program: &Program, folder: &Path) -> Result<&(Expected, Duration), String> {
        let run = || {
            let ended = program.run(&self.words, None, folder)?;
            Ok((Expected::of(&ended)?, ended.time))
        };
        self.undisturbed.get_or_init(run).as_ref().map_err(Clone::clone)
    }
}

/// All of them, with their models in a folder.
pub fn all(folder: &Path) -> io::Result<Vec<Case>> {
    let write = |name: &str, text: String| {
        std::fs::write(folder.join(name), text)?;
        Ok::<String, io::Error>(folder.join(name).display().to_string())
    };
    let dve = write("counters.dve", models::counters(4, 17))?;
    let pml = write("late.pml", models::late(30))?;
    let pnml = write("machines.pnml", models::machines(8, 4))?;
    let tokens = write("tokens.pnml", models::tokens(300))?;
    write("ring.aut", models::ring(18))?;
    let network = write("rings.network", models::network(4, "ring.aut"))?;
    let mut cases = Vec::new();
    for store in [
        "",
        "--store table",
        "--store packed",
        "--store tree",
        "--store collapse",
        "--store comback",
        "--store dfa",
        "--store dfa+collapse",
    ] {
        cases.push(Case::saved(&format!("count {dve} {store}")));
        // States of a ComBack store are rebuilt one after the other.
        if store != "--store comback" {
            cases.push(Case::saved(&format!("count {dve} --threads 2 {store}")));
        }
        cases.push(Case::saved(&format!("count {network} {store}")));
        cases.push(Case::saved(&format!("count {pml} {store}")));
    }
    for store in ["", "--store table", "--store tree", "--store dfa"] {
        cases.push(Case::saved(&format!("count {dve} --order dfs {store}")));
        cases.push(Case::saved(&format!("count {pnml} {store}")));
        cases.push(Case::saved(&format!("count {tokens} --structure none {store}")));
        cases.push(Case::saved(&format!(
            "check {pml} --reduce none --keep-going -p deadlock -p reach:~d==2 -p invariant:~d<4 {store}"
        )));
    }
    cases.push(Case::saved(&format!("count {pml} --threads 2")));
    cases.push(Case::saved(&format!("count {network} --threads 2 --memory 24M")));
    cases.push(Case::saved(&format!("check {dve} --reduce none -p invariant:~P_0->x+P_1->x<30")));
    for rest in
        ["--store bitstate:4", "--store compact:40", "--forget cache", "--forget sweep --progress auto", "--reduce por"]
    {
        cases.push(Case::new(&format!("count {dve} {rest}")));
    }
    for rest in ["--engine symbolic", "--engine symbolic:bfs"] {
        cases.push(Case::new(&format!("count {pnml} {rest}")));
        cases.push(Case::new(&format!("check {dve} -p ctl:~EF~P_0->x==3 {rest}")));
    }
    cases.push(Case::new(&format!("check {dve} -p ltl:~[]~(P_0->x==3~->~<>~P_0->x==4)")));
    cases.push(Case::new(&format!("check {dve} -p ctl:~AG~EF~P_0->x==17")));
    cases.push(Case::new(&format!("check {dve} -p reach:~P_0->x==5~&&~P_1->x==3 --engine bmc")));
    cases.push(Case::new(&format!("check {pnml} -p live -p bound:~p0_0+p1_0")));
    for memory in ["16M", "24M", "64M"] {
        let words = format!("count {dve} --store disk:disk --memory {memory}");
        cases.push(Case { on_disk: true, ..Case::new(&words) });
        let words = format!("check {dve} --store disk:disk --memory {memory} -p invariant:~P_0->x+P_1->x<30");
        cases.push(Case { on_disk: true, ..Case::new(&words) });
    }
    Ok(cases)
}
