// What stands before `&& false` was not evaluated: an index out of range went unseen.
// expect: violated faults
byte a[3];
byte i = 3;
bool x;
active proctype P() {
	if
	:: a[i] && false
	:: x = true
	fi
}
