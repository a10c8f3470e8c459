// One variable for two fields of a message was taken; SPIN refuses it.
// expect: refused
// says: two fields of one message
chan c = [1] of { byte, byte };
active proctype P() { byte x; c!1,2; c?x,x; assert(x == 2) }
