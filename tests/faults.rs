//! Runs of the command that are killed, told to stop, and let down by files and memory: a minute of `scrimp-faults`.

use scrimp_faults::{Settings, run};

#[test]
fn whatever_fails_no_answer_is_wrong_and_no_checkpoint_lost() {
    let program = env!("CARGO_BIN_EXE_scrimp").into();
    let settings = Settings { program, seed: 1, kills: 60, trials: 90, jobs: 2, only: None, progress: false };
    let summary = run(&settings).unwrap_or_else(|error| panic!("{error}"));
    println!("{summary}");
    assert!(summary.findings.is_empty(), "{}", summary.findings.join("\n"));
}
