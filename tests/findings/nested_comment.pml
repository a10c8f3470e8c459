// A comment that has `/*` in it and a second `*/` behind it, as SpinS's relay case study has them, was refused.
// expect: verified
byte x;
/* one /* two */ */ byte y;
*/
active proctype P() { x = 1; assert(x == 1) }
