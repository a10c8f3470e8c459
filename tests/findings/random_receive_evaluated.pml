// What a random receive asks of a field was not evaluated where a field before it differs: an index out of range went unseen.
// expect: violated faults
byte a[3];
byte i = 3;
chan c = [2] of { byte, byte };
active proctype P() {
	c!0,0;
	if
	:: c??1,eval(a[i])
	:: true
	fi
}
