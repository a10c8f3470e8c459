// A poll beside an operator: SPIN's verifier lacks parentheses there, and the two disagreed.
// expect: violated assertions
chan r = [0] of { byte };
chan c = [2] of { byte };
active proctype P() {
	c!2;
	assert((c?[3] | 2) == 1)
}
