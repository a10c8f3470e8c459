// elevator: an elevator between four floors: calls, doors and a cabin that goes on in its direction while there are calls there; records, inlines, loops that are one step, and a formula about infinite runs.
// states: 50980
// transitions: 135812
// levels: 91
// deadlocks: 0
// vector: 17
// property: reach: cabin.at == 3 && floor.called[0] -> holds at 26
// property: invariant: cabin.at <= 3 -> holds
// property: deadlock -> holds

#define FLOORS 4

mtype:door = { open, closed };
mtype:way  = { up, down };

typedef Floor {
    bool called;
    mtype:door door = closed
};

typedef Cabin {
    unsigned at : 3;
    mtype:way way = up
};

Floor floor[FLOORS];
Cabin cabin;
byte f;                                 /* only used within one step */

/* whether somebody waits from floor `low` to floor `high` */
inline look(low, high, found) {
    d_step {
        found = false;
        for (f : low .. high) {
            found = found || floor[f].called
        }
        f = 0
    }
}

active proctype Control() {
    bool wanted;

    do
    :: floor[cabin.at].called ->
       d_step { floor[cabin.at].called = false; floor[cabin.at].door = open }
       floor[cabin.at].door = closed
    :: !floor[cabin.at].called && cabin.way == up ->
       look(cabin.at, FLOORS - 1, wanted);
       if
       :: wanted && cabin.at < FLOORS - 1 -> cabin.at++
       :: else -> cabin.way = down
       fi;
       wanted = false
    :: !floor[cabin.at].called && cabin.way == down ->
       look(0, cabin.at, wanted);
       if
       :: wanted && cabin.at > 0 -> cabin.at--
       :: else -> cabin.way = up
       fi;
       wanted = false
    od
}

active [2] proctype Person() {
    byte here;
    do
    :: select(here : 0 .. FLOORS - 1);
       atomic { !floor[here].called -> floor[here].called = true };
       floor[here].door == open;
       assert(cabin.at < FLOORS);
       here = 0
    od
}

/* Kept, and not decided yet. */
ltl served { [] (floor[2].called -> <> (floor[2].door == open)) }
