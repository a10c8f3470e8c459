// A local variable that never changes had its value for others even where its process was not there; as in SPIN it is zero then.
// expect: violated deadlock
// states: 11
byte n;
proctype P() { byte k = 3; here: n = 1 }
init { run P(); P[1]:k == 3; (_nr_pr == 1); assert(!P[1]@here); assert(P[1]:k == 0) }
