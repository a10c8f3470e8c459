// A jump out of a `d_step` went to what follows the `d_step` instead; SPIN takes no such model.
// expect: refused
// says: a jump out of a d_step
byte a, b;
active proctype P() { do :: a < 3 -> d_step { a++; break } od; b = 1 }
