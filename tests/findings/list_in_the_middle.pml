// A list of initial values behind a statement took effect when the process started; SPIN refuses it.
// expect: refused
// says: list of initial values
byte x;
active proctype P() { x = 1; byte a[3] = { 1, 2, 3 }; x = a[2]; assert(x == 3) }
