// A poll of a channel that is not initialised was false and no fault.
// expect: violated faults
chan c;
byte x;
active proctype P() { x = (c?[1]) }
