//! The explorer's page in a real browser: what a user does, and what is seen then.

use crate::common;
use crate::common::command::{file, model, scratch, scrimp};
use crate::common::explorer::Served;
use crate::driver::Browser;
use serde_json::{Value, json};

/// The keys that have no character.
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";
const TAB: &str = "\u{e004}";
const LEFT: &str = "\u{e012}";
const RIGHT: &str = "\u{e014}";

const EVENTS: &str = "document.querySelectorAll('#events [data-choice]').length";

fn depth(browser: &Browser) -> String {
    browser.text("#depth")
}

fn open(model: &str) -> Option<(Browser, Served)> {
    let browser = Browser::open()?;
    let served = Served::model(model);
    browser.go(&served.address());
    Some((browser, served))
}

/// Writes a property into the form, and checks it.
fn check(browser: &Browser, property: &str) {
    browser.click("[data-panel=check]");
    browser.value(&format!("document.querySelector('#property').value = {}", json!(property)));
    browser.click("#run");
    browser.wait("document.querySelector('#verdicts .verdict')");
    browser.wait("document.querySelector('#stop').disabled");
}

#[track_caller]
fn quiet(browser: &Browser) {
    assert_eq!(browser.text("#problem-text"), "");
    // That nothing was checked so far is an answer too.
    let complaints = browser.complaints().into_iter().filter(|text| !text.contains("api/check?from=0 - "));
    assert_eq!(complaints.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn events_undo_a_check_that_fails_and_its_run() {
    let Some((browser, _served)) = open("models/needham_schroeder.pml") else { return };
    browser.picture("1-opened");
    for step in 1..=5 {
        browser.click("#events [data-choice]");
        assert_eq!(depth(&browser), step.to_string());
        assert!(browser.count("#state .changed") > 0, "what changed is marked");
    }
    browser.wait("document.querySelectorAll('#history [data-node]').length >= 5");
    browser.picture("2-five-events");
    browser.click("#undo");
    browser.click("#undo");
    assert_eq!(depth(&browser), "3");
    // Another event from here: a branch.
    browser.click("#events [data-choice]:last-child");
    assert_eq!(depth(&browser), "4");
    assert!(browser.count("#source .active, #source [data-line]") > 0, "the source is there");
    check(&browser, "");
    browser.picture("3-checked");
    assert!(browser.text("#verdict").contains("Violated: assertions"), "{}", browser.text("#verdict"));
    browser.click("#verdicts .show-run");
    browser.click("[data-panel=chart]");
    browser.wait("document.querySelectorAll('#chart .arrow').length > 3");
    browser.picture("4-chart");
    assert!(depth(&browser).parse::<usize>().unwrap() > 5);
    browser.click("[data-panel=graph]");
    browser.wait("document.querySelectorAll('#graph [data-vertex]').length > 1");
    browser.picture("5-graph");
    quiet(&browser);
}

#[test]
fn the_graph_expands_and_leads_to_states() {
    let Some((browser, _served)) = open("models/phils3.dve") else { return };
    browser.click("#events [data-choice]");
    browser.click("[data-panel=graph]");
    browser.wait("document.querySelectorAll('#graph [data-vertex]').length > 2");
    let before = browser.count("#graph [data-vertex]");
    browser.value("document.querySelector('#graph .expand').dispatchEvent(new MouseEvent('click', {bubbles: true}))");
    browser.wait(&format!("document.querySelectorAll('#graph [data-vertex]').length > {before}"));
    browser.picture("graph-expanded");
    // A state two steps away: its run leads there.
    browser.value(
        "(() => {
            const current = document.querySelector('#graph .vertex.current').dataset.vertex;
            const edge = document.querySelector(`#graph .edge[data-from='${current}']`);
            const vertex = document.querySelector(`#graph [data-vertex='${edge.dataset.to}']`);
            vertex.dispatchEvent(new MouseEvent('dblclick', {bubbles: true}));
         })()",
    );
    browser.wait("document.querySelector('#depth').textContent === '2'");
    quiet(&browser);
}

#[test]
fn edges_are_named_and_states_told_in_full() {
    let Some((browser, _served)) = open("models/phils3.dve") else { return };
    browser.click("#events [data-choice]");
    browser.click("[data-panel=graph]");
    browser.wait("document.querySelectorAll('#graph [data-vertex]').length > 2");
    let edges = browser.count("#graph .edge");
    assert!(edges > 1 && browser.count("#graph .edge .event") >= edges, "every edge says which events it is");
    assert!(browser.text("#graph .edge .event").contains("->"));
    // By the keyboard: the card of the state that has the focus.
    browser.keys("g");
    browser.keys(TAB);
    browser.wait("document.activeElement.matches('#graph [data-vertex]')");
    browser.wait("!document.querySelector('#card').hidden");
    let card = browser.text("#card");
    assert!(card.contains("fork[2]") && card.contains("think"), "{card}");
    browser.picture("graph-card");
    browser.keys(ESCAPE);
    browser.wait("document.querySelector('#card').hidden");
    quiet(&browser);
}

#[test]
fn the_text_is_edited_and_the_file_followed() {
    let Some(browser) = Browser::open() else { return };
    let text = std::fs::read_to_string(model("leader.pml")).unwrap();
    let path = file("browser-edited.pml", &text);
    let served = Served::with(std::path::Path::new(&path), &[]);
    browser.go(&served.address());
    for _ in 0..4 {
        browser.click("#events [data-choice]");
    }
    // Another program writes an error into the file: it is told in place, and the model before can still be walked through.
    std::fs::write(&path, text.replace("out!mine;", "out!mone;")).unwrap();
    browser.wait("!document.querySelector('#source-problem').hidden");
    let line = 1 + text.lines().position(|line| line.contains("out!mine;")).unwrap();
    assert!(browser.text("#source-problem").contains(&format!("line {line}, column 9")));
    browser.picture("text-broken");
    browser.click("#events [data-choice]");
    assert_eq!(depth(&browser), "5");
    // It is mended, with a line more: the run is still there.
    let text = format!("/* one more */\n{text}");
    std::fs::write(&path, &text).unwrap();
    browser.wait("document.querySelector('#source-problem').hidden");
    browser.wait("document.querySelector('#said').textContent.includes('can still be taken')");
    assert_eq!(depth(&browser), "5");
    // In the page: what is wrong is said while one types.
    browser.keys("i");
    browser.wait("document.activeElement.id === 'editor-text'");
    assert_eq!(browser.value("document.activeElement.value"), json!(text));
    let put = |from: &str, to: &str| {
        browser.value(&format!(
            "(() => {{ const field = document.querySelector('#editor-text'), at = field.value.indexOf({0});
                field.setSelectionRange(at, at + {0}.length); document.execCommand('insertText', false, {1}); }})()",
            json!(from),
            json!(to)
        ));
    };
    put("assert(leaders == 1)", "assert(leader == 1)");
    browser.wait("document.querySelector('#editor-problems').textContent.includes('leader')");
    browser.wait("document.querySelectorAll('#editor .code.bad mark').length === 1");
    assert_eq!(browser.text("#editor .code.bad mark"), "leader");
    assert_eq!(browser.value("document.querySelector('#editor-try').disabled"), json!(true));
    browser.picture("text-edited");
    put("assert(leader == 1)", "assert(leaders == 2)");
    browser.wait("document.querySelector('#editor-problems').textContent === ''");
    browser.click("#editor-try");
    browser.wait("!document.querySelector('#trial').hidden");
    assert_eq!(depth(&browser), "5");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    check(&browser, "");
    assert!(browser.text("#verdict").contains("assertions"), "{}", browser.text("#verdict"));
    browser.click("#editor-save");
    browser.wait("document.querySelector('#trial').hidden");
    assert!(std::fs::read_to_string(&path).unwrap().contains("leaders == 2"));
    browser.wait("!document.querySelector('#check-old').hidden || document.querySelector('#editor-save').disabled");
    quiet(&browser);
}

#[test]
fn a_shared_page_needs_no_server() {
    let Some(browser) = Browser::open() else { return };
    let page = scratch("browser-shared.html");
    let page = page.to_str().unwrap();
    scrimp(&["explore", &model("needham_schroeder.pml"), "-p", "assertions", "--export", page]).code(0);
    browser.go(&format!("file://{page}"));
    let steps = browser.text("#steps");
    assert_eq!(depth(&browser), steps);
    assert!(browser.text("#about").contains("bob_talks_to"));
    assert!(browser.count("#chart .arrow") > 3 && browser.count("#state .row") > 5);
    assert!(browser.count("#source .code.active") > 0);
    let last = browser.text("#state-list");
    browser.keys(LEFT);
    browser.keys("u");
    assert_eq!(depth(&browser), (steps.parse::<usize>().unwrap() - 2).to_string());
    assert_ne!(browser.text("#state-list"), last);
    browser.keys(RIGHT);
    browser.keys("r");
    assert_eq!(browser.text("#state-list"), last);
    browser.picture("shared");
    browser.keys("d");
    browser.picture("shared-dark");
    for (width, name) in [(750, "shared-medium"), (390, "shared-narrow")] {
        browser.size(width, 800);
        browser.wait("document.documentElement.scrollWidth <= innerWidth");
        browser.picture(name);
    }
    quiet(&browser);
}

#[test]
fn two_columns_and_a_switch_for_the_dark() {
    let Some((browser, _served)) = open("models/peterson.pml") else { return };
    browser.size(720, 900);
    browser.wait("document.body.classList.contains('medium')");
    let left = |panel: &str| browser.value(&format!("document.querySelector('#{panel}').getBoundingClientRect().left"));
    browser.wait("document.querySelector('#source').offsetParent && document.querySelector('#events').offsetParent");
    assert!(left("events").as_f64() < left("source").as_f64() && left("source") == left("chart"));
    assert!(browser.count("#chart .sheet text") == 0 && browser.text("#chart").contains("Take an event"));
    browser.click("[data-panel=state]");
    browser.wait("document.querySelector('#state').offsetParent");
    browser.size(1280, 800);
    browser.wait("document.querySelector('#state').offsetParent && document.querySelector('#source').offsetParent");
    let background = "getComputedStyle(document.body).backgroundColor";
    let light = browser.value(background);
    browser.keys("d");
    browser.wait(&format!("{background} !== {light}"));
    browser.click("#theme");
    browser.wait(&format!("{background} === {light}"));
    quiet(&browser);
}

#[test]
fn tokens_of_a_net_move() {
    let Some((browser, _served)) = open("models/philosophers_ring.pnml") else { return };
    browser.wait("document.querySelectorAll('#net [data-fire]').length > 0");
    browser.picture("net-1");
    let marked = "[...document.querySelectorAll('#net .place.marked')].map(p => p.dataset.place).join()";
    let before = browser.value(marked);
    browser.value("document.querySelector('#net [data-fire]').dispatchEvent(new MouseEvent('click', {bubbles: true}))");
    browser.wait("document.querySelector('#depth').textContent === '1'");
    browser.wait(&format!("{marked} !== {before}"));
    browser.wait("document.querySelectorAll('#net .fired').length === 1");
    browser.wait("document.querySelectorAll('#net .above circle').length === 0");
    browser.picture("net-2");
    quiet(&browser);
}

#[test]
fn a_lasso_has_a_stem_and_a_loop() {
    let Some((browser, _served)) = open("models/starvation.dve") else { return };
    check(&browser, "ltl: [] <> P_0@cs");
    if browser.text("#verdict").contains("could not") {
        panic!("{}", browser.text("#check-message"));
    }
    browser.click("#verdicts .show-run");
    browser.click("[data-panel=chart]");
    browser.wait("document.querySelector('#chart').textContent.includes('again and again')");
    browser.wait("document.querySelector('#history').textContent.includes('again and again')");
    browser.picture("lasso");
    quiet(&browser);
}

#[test]
fn the_keyboard_is_enough() {
    let Some((browser, _served)) = open("models/peterson.pml") else { return };
    browser.keys("1");
    assert_eq!(depth(&browser), "1");
    browser.keys("j");
    browser.keys(ENTER);
    browser.keys("n");
    assert_eq!(depth(&browser), "3");
    browser.keys("uu");
    assert_eq!(depth(&browser), "1");
    browser.keys("r");
    assert_eq!(depth(&browser), "2");
    browser.keys("?");
    browser.wait("document.querySelector('#help').open");
    browser.keys(ESCAPE);
    browser.wait("!document.querySelector('#help').open");
    browser.keys("g");
    browser.wait("!document.querySelector('#graph').hidden");
    browser.wait("document.querySelectorAll('#graph [data-vertex]').length > 1");
    browser.keys("p");
    browser.wait("!document.querySelector('#check').hidden");
    // Whoever wants to check something wants to write; Escape is for going on.
    browser.keys(ESCAPE);
    browser.keys("/");
    browser.wait("document.activeElement.id === 'events-filter'");
    browser.keys("zzzz");
    browser.wait(&format!("{EVENTS} === 0"));
    quiet(&browser);
}

#[test]
fn fast_keys_a_page_loaded_again_and_a_server_that_is_gone() {
    let Some((browser, served)) = open("models/peterson.pml") else { return };
    // Faster than any answer: each number means the list that is shown when its turn comes.
    browser.value(
        "[1, 2, 3, 4, 5].forEach(() => {
            document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '1', bubbles: true}));
         })",
    );
    browser.wait("document.querySelector('#depth').textContent === '5'");
    browser.rest();
    browser.keys("u");
    assert_eq!(depth(&browser), "4");
    browser.value("(document.body.dataset.ready = 'before', location.reload())");
    browser.wait("document.body?.dataset.ready === 'true'");
    assert_eq!(depth(&browser), "4");
    browser.keys("r");
    assert_eq!(depth(&browser), "5");
    quiet(&browser);
    drop(served);
    browser.click("#undo");
    assert_eq!(depth(&browser), "5");
    assert!(browser.text("#problem-text").contains("does not answer"));
}

#[test]
fn narrow_and_dark() {
    let Some((browser, _served)) = open("models/needham_schroeder.pml") else { return };
    browser.size(390, 800);
    let fits = "document.documentElement.scrollWidth <= innerWidth";
    let background = "getComputedStyle(document.body).backgroundColor";
    browser.wait(fits);
    browser.click("#events [data-choice]");
    let light = browser.value(background);
    browser.dark(true);
    browser.wait(&format!("{background} !== {light}"));
    for panel in ["events", "state", "source", "history", "chart", "graph", "check"] {
        // One panel at a time, each by a button that is seen.
        let button = format!("[...document.querySelectorAll('[data-panel={panel}]')].find(b => b.offsetParent)");
        browser.wait(&button);
        browser.value(&format!("{button}.click()"));
        browser.wait(&format!("document.querySelector('#{panel}').offsetParent"));
        browser.rest();
        browser.picture(&format!("narrow-{panel}"));
        assert_eq!(browser.value(fits), true, "{panel}");
    }
    quiet(&browser);
}

#[test]
fn ten_thousand_steps_scroll() {
    let Some(browser) = Browser::open() else { return };
    let served = Served::model("models/alternating_bit.pml");
    let node = served.post("api/random", &json!({ "node": 0, "steps": 10_000, "seed": 5 })).json()["node"].clone();
    let trace = served.get(&format!("api/trace/{node}")).body;
    let steps = serde_json::from_str::<Value>(&trace).unwrap()["steps"].as_array().map_or(0, Vec::len);
    assert!(steps >= 10_000, "{steps}");
    drop(served);
    let trace = file("browser-long.json", trace);
    let model = common::manifest().join("models/alternating_bit.pml");
    let served = Served::with(&model, &["--trace", &trace]);
    browser.go(&served.address());
    browser.wait("Number(document.querySelector('#depth').textContent) >= 10000");
    browser.wait("document.querySelectorAll('#chart [data-node]').length > 5");
    let elements = browser.value("document.querySelectorAll('*').length").as_u64().unwrap();
    assert!(elements < 4000, "{elements} elements");
    // Scrolls from the end to the beginning; every frame must come soon.
    let slowest = browser.later(
        "const done = arguments[0], list = document.querySelector('#chart-scroll');
         let last = performance.now(), slowest = 0, frames = 0;
         const frame = (now) => {
           slowest = Math.max(slowest, now - last); last = now;
           list.scrollTop = list.scrollHeight * (1 - frames / 60);
           if (frames++ < 60) requestAnimationFrame(frame); else done(slowest);
         };
         requestAnimationFrame(frame);",
    );
    println!("slowest frame while scrolling: {slowest} ms, {elements} elements");
    assert!(slowest.as_f64().unwrap() < 1500.0, "{slowest}");
    browser.wait("document.querySelector('#chart-scroll').scrollTop < 1000");
    browser.picture("long");
    quiet(&browser);
}

#[test]
fn soon_ready_and_soon_answered() {
    let Some(browser) = Browser::open() else { return };
    for model in ["models/leader.pml", "models/large/election6.dve", "models/kanban.pnml"] {
        let served = Served::model(model);
        browser.go(&served.address());
        // Once more: the first time the browser itself warms up.
        browser.go(&served.address());
        let ready = browser.value("performance.getEntriesByName('ready')[0]?.startTime ?? -1").as_f64().unwrap();
        let took = browser.later(
            "const done = arguments[0], begun = performance.now(), depth = document.querySelector('#depth');
             new MutationObserver(() => done(performance.now() - begun)).observe(depth, {childList: true, characterData: true, subtree: true});
             document.querySelector('#events [data-choice]').click();",
        );
        println!("{model}: ready after {ready:.0} ms, an event takes {took} ms");
        // Far more than it should be: machines of tests are busy.
        assert!(ready < 6000.0 && took.as_f64().unwrap() < 3000.0);
    }
}

#[test]
fn a_model_that_is_wrong_says_so() {
    let wrong = file("browser-wrong.dve", "process P { state a; init b; }");
    let answer = scrimp(&["explore", &wrong, "--no-browser"]);
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    assert!(answer.stderr.contains("browser-wrong.dve:1"), "{}", answer.stderr);
}
