// `len` of a channel that is not initialised was 0 and no fault.
// expect: violated faults
chan c;
byte x;
active proctype P() { x = len(c) }
