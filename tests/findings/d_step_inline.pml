// An inline call inside a `d_step` ended it: the assertion was called violated.
// expect: verified
// states: 4
inline set(v, k) { v = k }
byte g, h, i;
active proctype B() { d_step { set(g, 3); set(h, 4); i = 5 }; assert(i == 5) }
