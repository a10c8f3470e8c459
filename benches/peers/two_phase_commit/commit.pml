/* Two-phase commit as Gray and Lamport describe it: N resource managers and a transaction manager, messages that are never lost. */
#ifndef N
#define N 8
#endif

byte rm[N];          /* 0 working, 1 prepared, 2 committed, 3 aborted */
byte tm;             /* 0 waiting, 1 committed, 2 aborted */
short ready, sent;   /* sets of managers, as bits */
bool commit, abrt;

active [N] proctype Manager() {
end:
	do
	:: atomic { rm[_pid] == 0 -> rm[_pid] = 1; sent = sent | (1 << _pid) }
	:: atomic { rm[_pid] == 0 -> rm[_pid] = 3 }
	:: atomic { commit -> rm[_pid] = 2 }
	:: atomic { abrt -> rm[_pid] = 3 }
	:: atomic { tm == 0 && (sent & (1 << _pid)) -> ready = ready | (1 << _pid) }
	od
}

active proctype Transaction() {
end:
	do
	:: atomic { tm == 0 && ready == (1 << N) - 1 -> tm = 1; commit = true }
	:: atomic { tm == 0 -> tm = 2; abrt = true }
	od
}
