//! How many cores there are to compute with.

use std::collections::HashSet;
use std::fs;

/// Cores that this process may use. Two threads of one core share what it has, so they count once.
pub fn cores() -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    physical().map_or(allowed, |physical| allowed.min(physical))
}

/// Cores of the machine, where the system says which of its processors share one.
fn physical() -> Option<usize> {
    let read =
        |cpu: usize, what: &str| fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/topology/{what}")).ok();
    let core = |cpu| Some((read(cpu, "physical_package_id")?, read(cpu, "core_id")?));
    let found: HashSet<(String, String)> = (0..).map_while(core).collect();
    (!found.is_empty()).then_some(found.len())
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_is_at_least_one() {
        let allowed = std::thread::available_parallelism().map_or(1, usize::from);
        assert!((1..=allowed).contains(&super::cores()));
    }
}
