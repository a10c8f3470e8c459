// two_phase_commit: two-phase commit where everybody may crash: `unless` takes a process out of whatever it does, nested for the coordinator, who may also lose patience; a never claim that is violated says that a yes is always followed by a commit.
// states: 26150
// transitions: 78747
// levels: 48
// deadlocks: 0
// vector: 26
// property: reach: crash_all && yeses == 2 && Coordinator@crashed -> holds at 12
// property: invariant: !(done[0] != 0 && done[1] != 0 && done[0] != done[1]) -> holds
// property: deadlock -> holds

#define N 2

mtype = { ask, yes, no, commit, abort };

chan vote = [N] of { mtype };
chan order[N] = [1] of { mtype };

mtype decided;                          /* by the coordinator */
byte done[N];
byte yeses;
bool crash[N], crash_all;

active proctype Coordinator() {
    byte i, answers;
    mtype v;

    {
        {
            for (i : 0 .. N - 1) { order[i]!ask }
            do
            :: answers < N -> vote?v; answers++;
               if
               :: v == no -> goto aborting
               :: else
               fi
            :: else -> break
            od;
            atomic { decided = commit; i = 0 };
            goto telling
        } unless { timeout }            /* somebody does not answer */
    } unless { crash_all -> goto crashed };

aborting:
    atomic { decided = abort; i = 0 };
telling:
    do
    :: i < N ->
       if
       :: order[i]!decided
       :: crash[i]
       fi;
       i++
    :: else -> break
    od;
crashed:
    skip
}

active [N] proctype Participant() {
    byte me = _pid - 1;
    mtype command;
end_asked:
    {
        order[me]?ask;
        if
        :: atomic { vote!yes; yeses++ }
        :: vote!no; done[me] = abort; goto over
        fi;
end_voted:
        order[me]?command;
        assert(command == decided);
        done[me] = command
    } unless { crash[me] -> skip };
over:
    command = 0
}

/* The environment: one participant or the coordinator may crash. */
active proctype Fate() {
    byte who;
    if
    :: select(who : 0 .. N - 1); crash[who] = true
    :: crash_all = true
    :: true
    fi
}

never {
wait:
    if
    :: yeses == N && crash_all -> goto blocked
    :: else -> goto wait
    fi;
blocked:
    decided != commit
}
