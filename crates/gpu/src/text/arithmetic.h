// Operators whose borders C leaves open.
DEVICE i64 shifted_left(i64 a, i64 b) { return (u64)b < 64 ? (i64)((u64)a << b) : 0; }
DEVICE i64 shifted_right(i64 a, i64 b) { return a >> ((u64)b < 64 ? b : 63); }
DEVICE i64 divided(i64 a, i64 b) { return b == -1 ? (i64)(0 - (u64)a) : a / b; }
DEVICE i64 remainder_of(i64 a, i64 b) { return b == -1 ? 0 : a % b; }
