// A random poll is 0 or 1; in SPIN's verifier it is the place of the message, and the two disagreed.
// expect: verified
// states: 6
chan c = [2] of { byte };
byte x;
active proctype P() {
	c!1;
	c!2;
	x = c??[2];
	assert(x == 1)
}
