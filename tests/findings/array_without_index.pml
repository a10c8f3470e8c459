// An array without an index was taken for its first element.
// expect: refused
// says: missing array index
bool wants[2];
active proctype P() { wants = true; assert(wants[0]) }
