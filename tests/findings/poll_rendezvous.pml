// A poll of a rendezvous channel was false and no fault.
// expect: violated faults
chan c = [0] of { byte };
byte x;
active proctype A() { c?[1] -> x = 1 }
active proctype B() { c!1 }
