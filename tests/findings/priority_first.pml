// An escape was evaluated where a process of higher priority keeps its process from moving: an index out of range was seen.
// expect: verified
byte a[3];
byte i = 3;
active proctype P() priority 3 { do :: i = 3 od }
active proctype Q() priority 1 { { true } unless { a[i] == 0 } }
