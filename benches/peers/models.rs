//! The same algorithms in DVE and in Promela, with the same number of states in both.

use std::fmt::Write;

pub struct Model {
    pub name: &'static str,
    pub dve: String,
    pub promela: String,
    /// More than ten million states.
    pub large: bool,
}

pub fn all() -> Vec<Model> {
    vec![
        Model { name: "phils-14", dve: philosophers_dve(14), promela: philosophers_promela(14), large: false },
        Model { name: "schedulers-18", dve: schedulers_dve(18), promela: schedulers_promela(18), large: false },
        Model { name: "schedulers-19", dve: schedulers_dve(19), promela: schedulers_promela(19), large: true },
        Model { name: "peterson-5", dve: peterson_dve(5), promela: peterson_promela(5), large: true },
    ]
}

/// Dining philosophers who take the left fork first.
fn philosophers_dve(n: usize) -> String {
    let mut out = format!("byte fork[{n}];\n");
    for i in 0..n {
        let right = (i + 1) % n;
        let _ = writeln!(
            out,
            "process Philosopher_{i} {{
    state thinking, left, eating, right;
    init thinking;
    trans
        thinking -> left {{ guard fork[{i}] == 0; effect fork[{i}] = 1; }},
        left -> eating {{ guard fork[{right}] == 0; effect fork[{right}] = 1; }},
        eating -> right {{ effect fork[{i}] = 0; }},
        right -> thinking {{ effect fork[{right}] = 0; }};
}}"
        );
    }
    out + "system async;\n"
}

fn philosophers_promela(n: usize) -> String {
    format!(
        "#define N {n}
byte fork[N];
active [N] proctype Philosopher() {{
    do
    :: d_step {{ fork[_pid] == 0 -> fork[_pid] = 1 }};
       d_step {{ fork[(_pid + 1) % N] == 0 -> fork[(_pid + 1) % N] = 1 }};
       fork[_pid] = 0;
       fork[(_pid + 1) % N] = 0
    od
}}
"
    )
}

/// Milner's schedulers: a token goes round; each cell that had it works and passes it on, in either order.
fn schedulers_dve(n: usize) -> String {
    let zeros = ", 0".repeat(n - 1);
    let mut out = format!("byte token[{n}] = {{1{zeros}}};\n");
    for i in 0..n {
        let next = (i + 1) % n;
        let _ = writeln!(
            out,
            "process Cell_{i} {{
    state waiting, started, passed, worked;
    init waiting;
    trans
        waiting -> started {{ guard token[{i}] == 1; effect token[{i}] = 0; }},
        started -> passed {{ effect token[{next}] = 1; }},
        started -> worked {{ }},
        passed -> waiting {{ }},
        worked -> waiting {{ effect token[{next}] = 1; }};
}}"
        );
    }
    out + "system async;\n"
}

/// The token of cell 0 is stored inverted, so that all start as zero.
fn schedulers_promela(n: usize) -> String {
    format!(
        "#define N {n}
byte token[N];
active [N] proctype Cell() {{
    do
    :: d_step {{ token[_pid] == (_pid != 0) -> token[_pid] = 1 - token[_pid] }};
       if
       :: token[(_pid + 1) % N] = 1 - token[(_pid + 1) % N]; skip
       :: skip; token[(_pid + 1) % N] = 1 - token[(_pid + 1) % N]
       fi
    od
}}
"
    )
}

/// Peterson's lock for n processes, looking at one other process at a time.
fn peterson_dve(n: usize) -> String {
    let mut out = format!("byte level[{n}];\nbyte last[{n}];\n");
    for i in 0..n {
        let _ = writeln!(
            out,
            "process P_{i} {{
    byte j = 0, k = 0;
    state outside, inside, climb, announce, look;
    init outside;
    trans
        outside -> climb {{ effect j = 1; }},
        climb -> announce {{ guard j < {n}; effect level[{i}] = j; }},
        announce -> look {{ effect last[j - 1] = {i}, k = 0; }},
        look -> look {{ guard k < {n} && (k == {i} || level[k] < j); effect k = k + 1; }},
        look -> climb {{ guard last[j - 1] != {i} || k == {n}; effect j = j + 1; }},
        climb -> inside {{ guard j == {n}; }},
        inside -> outside {{ effect level[{i}] = 0; }};
}}"
        );
    }
    out + "system async;\n"
}

fn peterson_promela(n: usize) -> String {
    format!(
        "#define N {n}
byte level[N];
byte last[N];
active [N] proctype P() {{
    byte j;
    byte k;
outside:
    j = 1;
climb:
    if
    :: d_step {{ j < N -> level[_pid] = j }}
    :: j == N -> goto inside
    fi;
    d_step {{ last[j - 1] = _pid; k = 0 }};
look:
    if
    :: d_step {{ (k < N && (k == _pid || level[k] < j)) -> k++ }}; goto look
    :: d_step {{ (last[j - 1] != _pid || k == N) -> j++ }}; goto climb
    fi;
inside:
    level[_pid] = 0;
    goto outside
}}
"
    )
}
