// leader: leader election in a ring after Chang and Roberts (1979): every node sends its number round, larger numbers pass; an array of channels, processes started with arguments.
// states: 498
// transitions: 1304
// levels: 35
// deadlocks: 0
// vector: 47
// property: invariant: leaders <= 1 -> holds
// property: reach: leaders == 1 -> holds at 33
// property: deadlock -> holds

#define N 4

chan link[N] = [N] of { byte };
byte leaders;                           /* how many believe that they lead */

proctype Node(chan in, out; byte mine) {
    byte number;
    bool leading = false;

    out!mine;
end:
    do
    :: in?number ->
       if
       :: number > mine  -> out!number  /* somebody better */
       :: number == mine ->             /* mine has been everywhere */
progress:  leading = true;
           leaders++;
           assert(leaders == 1)
       :: else                          /* swallowed */
       fi
    od
}

init {
    byte i;
    atomic {
        for (i : 0 .. N - 1) {
            run Node(link[i], link[(i + 1) % N], (i * 3) % N + 1)
        }
    }
}
