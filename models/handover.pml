// handover: a mobile station moves between two base stations; the channel it talks on travels in messages and comes as a parameter.
// states: 77
// transitions: 98
// levels: 26
// deadlocks: 0
// vector: 13
// property: deadlock -> holds

mtype = { data, handover, link, done };

chan to_center = [1] of { mtype };      /* from the base that has the call */

/* A base station is idle until the center gives it the line of the mobile. */
proctype Base(chan center; byte me) {
    chan line;
    bit value;

idle:
end_idle:
    center?link(line);
    do
    :: line?data(value, _) -> printf("base %d: %d\n", me, value)
    :: center?handover(_) ->
       line!handover(0, center);        /* tell the mobile whose turn ends */
       line?done(value, _);
       to_center!done;
       goto idle
    od
}

proctype Mobile(chan line) {
    bit next;
    chan from;

end_talk:
    do
    :: line!data(next, line); next = 1 - next
    :: line?handover(_, from); line!done(0, from)
    od
}

init {
    chan base[2] = [0] of { mtype, chan };
    chan air = [0] of { mtype, bit, chan };
    bit active_base;

    atomic {
        run Base(base[0], 0);
        run Base(base[1], 1);
        run Mobile(air)
    }
    base[0]!link(air);
end_center:
    do
    :: base[active_base]!handover(air);
       to_center?done;
       active_base = 1 - active_base;
       base[active_base]!link(air)
    od
}
