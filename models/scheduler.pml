// scheduler: who may run: two processes that take turns by `provided`, where a third one changes the turns, and reads who moved last.
// states: 240
// transitions: 336
// levels: 61
// deadlocks: 0
// vector: 12
// property: invariant: count[1] <= 2 && count[2] <= 3 -> holds
// property: reach: turn == 2 && Even.x == 4 -> holds at 6
// property: deadlock -> holds

byte turn = 1;
byte count[3];
bool wrong;

active proctype Clock() {
    do
    :: turn == 1 && count[1] == 2 -> d_step { turn = 2; count[1] = 0 }
    :: turn == 2 && count[2] == 3 -> d_step { turn = 1; count[2] = 0 }
    od
}

active proctype Even() provided (turn == 1 && count[1] < 2) {
    byte x;
    do
    :: x = (x + 2) % 8; count[1]++
    od
}

active proctype Odd() provided (turn == 2 && count[2] < 3) {
    byte x = 1;
    do
    :: x = (x + 2) % 8; count[2]++
    od
}

active proctype Watch() {
    do
    :: _last == 2 && turn == 1 && count[1] == 0 && count[2] == 1 -> wrong = true
    :: count[1] == 1 -> assert(!wrong); count[1] == 1
    od
}
