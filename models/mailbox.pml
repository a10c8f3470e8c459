// mailbox: a queue of jobs by priority: sorted send, random receive, looking without taking, asking whether one could.
// states: 105
// transitions: 194
// levels: 12
// deadlocks: 0
// vector: 23
// property: reach: served[0] == 1 && served[1] == 1 -> holds at 9
// property: invariant: jobs.len <= 2 -> holds
// property: deadlock -> holds

mtype = { low, high };

chan jobs = [4] of { byte, mtype };     /* kept in order: 1 is served first */
chan finished = [2] of { byte };
byte served[3];

active [2] proctype Client() {
    byte mine = _pid + 1;
    if
    :: jobs!!mine, high
    :: jobs!!mine + 2, low
    fi;
    atomic {
        finished??eval(mine) ->         /* mine, wherever it stands in the queue */
        served[_pid]++
    }
}

active proctype Worker() {
    byte rank, seen;
    mtype kind;

end:
    do
    :: jobs?[eval(rank), high] -> assert(false)    /* never: `rank` is 0 here */
    :: jobs?? <seen, high> ->           /* an urgent one is there: look, then take it */
       jobs??eval(seen), kind;
       assert(kind == high);
       finished!!seen;
       d_step { seen = 0; kind = 0 }
    :: atomic {
           !jobs??[1, high] && (jobs?[3, low] || jobs?[4, low]) ->
           jobs?<rank, kind>;           /* the first one, and it stays */
           assert(kind == low && len(finished) <= 2);
           jobs?rank, _
       }
       finished!!rank - 2;
       d_step { rank = 0; kind = 0 }
    od
}
