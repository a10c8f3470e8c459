// An atomic sequence without an end hid the steps of the processes after it, and this was called verified.
// spin: it goes on through the sequence for as long as it may
// flags: --property deadlock
// expect: violated deadlock
int x;
bool off;
active proctype P() { atomic { !off -> do :: x++ od } }
active proctype Q() { off = true; false }
