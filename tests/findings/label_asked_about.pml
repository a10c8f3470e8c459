// A jump at the end of a block, with a label that is asked about from elsewhere, was passed by: it fell through.
// expect: violated deadlock
byte a;
active proctype P() { { a = 1; here: goto done }; a = 2; done: skip }
active proctype Q() { do :: P@here -> skip :: a == 2 -> assert(false) :: P@done -> break od }
