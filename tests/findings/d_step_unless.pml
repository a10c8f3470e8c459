// An `unless` that covers the beginning of a `d_step` from within was ignored without a word; SPIN refuses it.
// expect: refused
// says: cannot begin with `unless`
byte a, b;
active proctype P() { d_step { { a == 0 -> a++ } unless { b == 1 } } }
active proctype Q() { b = 1 }
