// What a random poll asks for was not evaluated where the channel is empty: an index out of range went unseen.
// expect: violated faults
byte a[3];
byte i = 3;
chan c = [2] of { byte };
active proctype P() {
	if
	:: c??[eval(a[i])]
	:: true
	fi
}
