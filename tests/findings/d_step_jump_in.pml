// A jump into a `d_step` was taken, and led to a deadlock.
// expect: refused
// says: a jump into a d_step
byte a;
active proctype P() { goto inside; d_step { a = 1; inside: a = 2 }; a = 3 }
