// barrier: rounds of work between barriers: a header with macros and conditions, an atomic sequence that blocks in its middle.
// states: 31096
// transitions: 129580
// levels: 112
// deadlocks: 0
// vector: 22
// property: reach: round[0] == 3 -> holds at 47
// property: invariant: waiting <= 4 -> holds
// property: deadlock -> holds

#define N 5

#include "barrier.h"

#define ROUNDS 4

byte round[N];

/* Nobody is more than one round ahead of anybody. */
inline together(me) {
    d_step {
        for (other : 0 .. N - 1) {
            assert(round[me] == round[other] || round[me] == (round[other] + 1) % ROUNDS
                || round[other] == (round[me] + 1) % ROUNDS)
        }
        other = 0
    }
}

active [N] proctype Worker() {
    bool mine;
    byte other;

    do
    :: skip;                            /* work */
       together(_pid);
       round[_pid] = (round[_pid] + 1) % ROUNDS;
       AT_BARRIER(mine)
    od
}
