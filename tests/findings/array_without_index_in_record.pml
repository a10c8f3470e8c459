// A field that is an array, without an index, was taken for its first element.
// expect: refused
// says: missing array index
typedef T { byte g[2] };
T r;
chan c = [1] of { byte };
active proctype P() { c!r.g; assert(r.g[0] == 0) }
