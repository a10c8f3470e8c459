// A block inside a `d_step` ended it before its send: this was called a deadlock.
// expect: verified
// states: 5
byte g, h;
chan c = [1] of { byte };
active proctype B() { d_step { h = 1; { g = 3; g = 4 }; h = 4; c!1 }; h = 9; c?g }
