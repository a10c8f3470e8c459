// peterson: Peterson's mutual exclusion (1981) for two processes; a never claim, with remote references to labels and variables, says that they are never inside together, and holds.
// states: 40
// transitions: 70
// levels: 9
// deadlocks: 0
// vector: 7
// property: invariant: !(P_0@critical && P_1@critical) -> holds
// property: reach: P_0@critical && wants[1] -> holds at 5
// property: deadlock -> holds

bool wants[2];
bit last;

active [2] proctype P() {
    bool tried;

idle:
    do
    :: wants[_pid] = true;
       last = _pid;
       tried = true;
       !wants[1 - _pid] || last != _pid;
critical:
       tried = false;
       wants[_pid] = false
    od
}

/* What must not happen; it ends when it does. */
never {
    do
    :: P[0]@critical && P[1]@critical && P[0]:tried -> break
    :: else
    od
}
