// Acceptance was refused as a property where the only labels of acceptance are in statements that are never reached.
// expect: verified
// flags: --property accepting
// expect: verified
bool x;
active proctype P() {
	goto done;
accept:	x = true;
done:	skip
}
