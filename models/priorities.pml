// priorities: an interrupt of high priority before work of low priority, which is raised for a while and lowered again.
// states: 110
// transitions: 141
// levels: 30
// deadlocks: 0
// vector: 9
// property: invariant: ticks <= 2 -> holds
// property: reach: ticks == 2 -> holds at 22
// property: deadlock -> holds

byte work, ticks;
bool pending;

active proctype Work() priority 1 {
    do
    :: work < 6 ->
       work++;
       if
       :: work == 3 -> set_priority(_pid, 6)      /* not to be disturbed */
       :: work == 5 -> set_priority(_pid, 1); pending = true
       :: else
       fi
    :: else -> break
    od;
    assert(get_priority(_pid) == 1)
}

active proctype Interrupt() priority 5 {
end:
    do
    :: atomic { pending -> pending = false; ticks++ }
       assert(ticks <= 2 && work != 4)
    od
}

active proctype Timer() priority 1 {
    pending = true
}
