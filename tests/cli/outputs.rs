//! Files that are written: never over one that is read, and always where they are asked for.

use crate::common::command::{file, scratch, scrimp};

const MODEL: &str = "byte x; active proctype P() { do :: x < 3 -> x++ :: else -> break od }\n";

/// The ending is right for a report and a graph too, so that nothing else refuses them.
#[test]
fn what_is_read_is_not_overwritten() {
    let pages: [(&str, &[&str]); 5] = [
        ("--report", &["check", "count"]),
        ("--plot", &["check", "count"]),
        ("--chart", &["check", "simulate"]),
        ("--dot", &["check", "count"]),
        ("--checkpoint", &["check", "count"]),
    ];
    for (flag, commands) in pages {
        for command in commands {
            let model = file("outputs-model.html.pml", MODEL);
            let stderr = scrimp(&[command, &model, flag, &model]).refused();
            assert!(stderr.contains(flag) && stderr.contains("this would overwrite"), "{stderr}");
            assert_eq!(std::fs::read_to_string(&model).unwrap(), MODEL, "{command} {flag}");
        }
    }
    let net = "des (0, 1, 2)\n(0, \"a\", 1)\n";
    let model = file("outputs-model.aut", net);
    assert!(scrimp(&["count", &model, "--graph", &model]).refused().contains("--graph"));
    assert!(scrimp(&["count", &model, "--forget", "sweep", "--front", &model]).refused().contains("--front"));
    assert_eq!(std::fs::read_to_string(&model).unwrap(), net);
}

/// The same file by another name, and files with properties.
#[test]
fn other_names_and_other_files_too() {
    let model = file("outputs-other.pml", MODEL);
    let (folder, name) = model.rsplit_once('/').unwrap();
    let around = format!("{folder}/../{}/{name}", folder.rsplit_once('/').unwrap().1);
    assert!(scrimp(&["count", &model, "--plot", &around]).refused().contains("this would overwrite"));
    let properties = file("outputs-properties.txt", "invariant: x < 4\n");
    let words = ["check", &model, "--property-file", &properties, "--chart", &properties];
    assert!(scrimp(&words).refused().contains("this would overwrite"));
    assert_eq!(std::fs::read_to_string(&properties).unwrap(), "invariant: x < 4\n");
    let automaton = file("outputs-automaton.html", "HOA: v1\n");
    let asked = format!("hoa: {automaton}");
    let words = ["check", &model, "--property", &asked, "--report", &automaton];
    assert!(scrimp(&words).refused().contains("this would overwrite"));
    #[cfg(unix)]
    {
        let link = scratch("outputs-link.svg");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&model, &link).unwrap();
        let words = ["count", &model, "--plot", &link.to_string_lossy()];
        assert!(scrimp(&words).refused().contains("this would overwrite"));
    }
    assert_eq!(std::fs::read_to_string(&model).unwrap(), MODEL);
}

#[test]
fn a_report_is_a_file() {
    let model = file("outputs-file.pml", MODEL);
    assert!(scrimp(&["count", &model, "--report", "-"]).refused().contains("standard output is for the answer"));
    let folder = scratch("outputs-folder");
    std::fs::create_dir_all(&folder).unwrap();
    let words = ["check", &model, "--report", &folder.to_string_lossy()];
    assert!(scrimp(&words).refused().contains("this is a folder"));
}

/// Every flag that names a file: before the search, and without a trace in the folders that there are.
#[test]
fn what_cannot_be_written_is_refused_before_the_search() {
    let model = file("outputs-early.pml", MODEL);
    let flags: [(&str, &str, &[&str]); 7] = [
        ("--report", "a.html", &["check", "count"]),
        ("--plot", "a.svg", &["check", "count"]),
        ("--chart", "a.svg", &["check", "simulate"]),
        ("--dot", "a.dot", &["check", "count"]),
        ("--graph", "a.aut", &["check", "count"]),
        ("--checkpoint", "a.saved", &["check", "count"]),
        ("--front", "a.txt", &["check", "count"]),
    ];
    let missing = scratch("outputs-no-such-folder");
    let folder = scratch("outputs-some-folder");
    std::fs::create_dir_all(folder.join("a.svg")).unwrap();
    for (flag, name, commands) in flags {
        for command in commands {
            let refused = |path: &std::path::Path| scrimp(&[command, &model, flag, &path.to_string_lossy()]).refused();
            let said = refused(&missing.join(name));
            assert!(said.contains("cannot be written: there is no such folder"), "{said}");
            #[cfg(target_os = "linux")]
            {
                let said = refused(&std::path::Path::new("/proc").join(name));
                assert!(said.contains("cannot be written: "), "{said}");
            }
        }
    }
    let said = scrimp(&["count", &model, "--plot", &folder.join("a.svg").to_string_lossy()]).refused();
    assert!(said.contains("the plot cannot be written: this is a folder"), "{said}");
    // Where something else is wrong, an old file stays, and no new one is made.
    let old = file("outputs-old.svg", "old");
    let new = scratch("outputs-new.svg");
    let _ = std::fs::remove_file(&new);
    let wrong = file("outputs-wrong.pml", "active proctype");
    for path in [&old, new.to_str().unwrap()] {
        scrimp(&["check", &wrong, "--plot", path]).refused();
    }
    assert_eq!(std::fs::read_to_string(old).unwrap(), "old");
    assert!(!new.exists());
    let left = std::fs::read_dir(new.parent().unwrap()).unwrap();
    let names = left.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    assert!(!names.into_iter().any(|name| name.starts_with("outputs-") && name.ends_with(".part")));
}

#[test]
fn tables_of_suites_are_refused_as_early() {
    let suite = file("outputs-suite.toml", "title = \"t\"\n[[task]]\nname = \"a\"\nmodels = [\"outputs-suite.pml\"]\n");
    file("outputs-suite.pml", MODEL);
    let missing = scratch("outputs-no-such-folder").join("table.md");
    let said = scrimp(&["bench", &suite, "--markdown", &missing.to_string_lossy()]).refused();
    assert!(said.contains("the table cannot be written: there is no such folder"), "{said}");
}
