/* What a rendezvous send passes was not evaluated where nobody receives: a division by zero went unseen. */
/* expect: violated faults */
byte x;
chan c = [0] of { byte };
active proctype P() {
end:	c!(x % x)
}
