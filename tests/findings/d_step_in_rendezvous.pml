// A `d_step` that begins with an assertion happened between the halves of a rendezvous in SPIN's verifier: the two disagreed.
// expect: verified
// states: 8
// transitions: 9
chan c = [0] of { byte };
byte y;
active proctype P() { c!1 }
active proctype Q() { c?1 }
active proctype R() { d_step { assert(y == 0); y = 1 } }
