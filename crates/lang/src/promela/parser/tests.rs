//! The real models, when they are there.

use crate::promela::{Input, parse};
use std::path::Path;

#[test]
fn listing() {
    let Ok(list) = std::env::var("LIST") else { return };
    for line in std::fs::read_to_string(list).unwrap().lines() {
        let path = Path::new(line);
        let Ok(text) = crate::reading::read_text(path, false) else {
            println!("RESULT UNREADABLE {line}");
            continue;
        };
        let input = Input { name: line, text: &text, folder: path.parent().unwrap(), definitions: &[] };
        match parse(input) {
            Ok(_) => println!("RESULT OK {line}"),
            Err(e) => println!("RESULT BAD {line} :: {}", e.to_string().replace('\n', " @ ")),
        }
    }
}
