//! The complete models in the documentation are models.

use scrimp_lang::open_text;
use std::path::Path;

/// The fenced blocks of a page.
fn blocks(page: &str) -> impl Iterator<Item = &str> {
    page.split("\n```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).map(|(_, text)| text)
}

#[test]
fn models_in_the_documentation_are_read() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    // The chapters are no part of the published crate.
    let Ok(pages) = std::fs::read_dir(docs) else { return };
    let mut read = 0;
    for path in
        pages.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.extension() == Some("md".as_ref()))
    {
        let page = std::fs::read_to_string(&path).unwrap();
        for text in blocks(&page).filter(|text| !text.contains('…') && !text.starts_with('$')) {
            let has = |begin: &str| text.lines().any(|line| line.starts_with(begin));
            let name = match () {
                () if has("system async") => "documented.dve",
                () if has("active proctype") || has("init {") => "documented.pml",
                () => continue,
            };
            let opened = open_text(Path::new(name), text, &[], &Default::default());
            assert!(opened.is_ok(), "{}: {}", path.display(), opened.err().unwrap());
            read += 1;
        }
    }
    assert!(read > 0, "no model is found");
}
