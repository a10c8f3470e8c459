// A block inside a `d_step` ended it: what follows the block was skipped, and this was called verified.
// expect: violated assertions
// states: 4
byte g, h;
active proctype B() { d_step { { g = 3 }; h = 4 }; assert(h != 4) }
