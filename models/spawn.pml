// spawn: processes that are born and die: a factorial by a process that runs itself, twice, so that numbers of dead processes are used again, and workers whose numbers come back.
// states: 9775
// transitions: 31463
// levels: 68
// deadlocks: 0
// vector: 110
// property: reach: results == 30 && most == 4 -> holds at 50
// property: invariant: most <= 5 -> holds
// property: deadlock -> holds

byte most;
short results;

proctype Factorial(byte n; chan answer) {
    chan below = [1] of { short };
    short result;

    if
    :: n <= 1 -> answer!1
    :: else ->
       run Factorial(n - 1, below);
       below?result;
       answer!n * result
    fi
}

proctype Worker(byte number) {
    byte mine;

    mine = number;
    d_step {
        if
        :: _pid > most -> most = _pid
        :: else
        fi
    }
}

init {
    chan result = [1] of { short };
    short value;
    byte i, child;

    run Factorial(4, result);
    result?value;
    results = value;
    _nr_pr == 1;                        /* they have all died */
    do
    :: i < 4 -> child = run Worker(i); i++
    :: else -> break
    od;
    run Factorial(3, result);
    result?value;
    results = results + value;
    _nr_pr == 1;
    assert(results == 30 && most >= 1);
    printf("%d, highest number %d\n", results, most)
}
