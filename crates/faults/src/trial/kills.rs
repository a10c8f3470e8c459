//! A search that is killed again and again, at any moment or while it is being saved, and taken up again.

use super::Ground;
use crate::shim::{Fault, How};
use std::time::Duration;

pub fn attempt(ground: &mut Ground) -> Result<(), String> {
    let case = ground.case(|case| case.can_be_saved);
    let (expected, time) = ground.expected(case)?;
    for _ in 0..1 + ground.random.below(8) {
        let words = ground.saving(case, "5ms");
        let saved = std::fs::read(ground.saved()).ok();
        let fault = (ground.random.below(3) > 0 && ground.program.shim.is_some()).then(|| Fault {
            calls: "open,write,sync,rename",
            path: "search.save.".into(),
            at: ground.early(120),
            on: 1,
            how: ground.pick(&[How::Kill, How::Half]),
        });
        let at_once = fault.is_none();
        ground.note(&words, fault.as_ref());
        let mut running = ground.program.start(&words, fault, &ground.folder)?;
        if at_once
            && running.goes_on(Duration::from_micros(ground.random.below(1 + 2 * time.as_micros() as usize) as u64))
        {
            running.signal(libc::SIGKILL);
        }
        let ended = running.end()?;
        if ended.signal == Some(libc::SIGKILL) {
            ground.kills += 1;
            ground.log.push("   killed".into());
            if saved.is_some() && !ground.saved().exists() {
                return Err("the checkpoint is gone".into());
            }
            continue;
        }
        return match expected.judge(&ended)? {
            crate::answer::Outcome::Same => ground.tidy(),
            outcome => Err(format!("killed and taken up, it is {outcome:?}: {}", ended.stderr)),
        };
    }
    ground.finish(case, expected)
}
