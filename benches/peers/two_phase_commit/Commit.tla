---- MODULE Commit ----
EXTENDS Naturals, FiniteSets
CONSTANT N
RM == 0..N-1
VARIABLES rm, tm, ready, sent, outcome
vars == <<rm, tm, ready, sent, outcome>>
Init == /\ rm = [r \in RM |-> "working"] /\ tm = "init" /\ ready = {} /\ sent = {} /\ outcome = {}
Receive(r) == /\ tm = "init" /\ r \in sent /\ ready' = ready \cup {r} /\ UNCHANGED <<rm, tm, sent, outcome>>
Commit == /\ tm = "init" /\ ready = RM /\ tm' = "committed" /\ outcome' = outcome \cup {"commit"} /\ UNCHANGED <<rm, ready, sent>>
Abort == /\ tm = "init" /\ tm' = "aborted" /\ outcome' = outcome \cup {"abort"} /\ UNCHANGED <<rm, ready, sent>>
Prepare(r) == /\ rm[r] = "working" /\ rm' = [rm EXCEPT ![r] = "prepared"] /\ sent' = sent \cup {r} /\ UNCHANGED <<tm, ready, outcome>>
Refuse(r) == /\ rm[r] = "working" /\ rm' = [rm EXCEPT ![r] = "aborted"] /\ UNCHANGED <<tm, ready, sent, outcome>>
DoCommit(r) == /\ "commit" \in outcome /\ rm' = [rm EXCEPT ![r] = "committed"] /\ UNCHANGED <<tm, ready, sent, outcome>>
DoAbort(r) == /\ "abort" \in outcome /\ rm' = [rm EXCEPT ![r] = "aborted"] /\ UNCHANGED <<tm, ready, sent, outcome>>
Next == Commit \/ Abort \/ \E r \in RM : Receive(r) \/ Prepare(r) \/ Refuse(r) \/ DoCommit(r) \/ DoAbort(r)
Spec == Init /\ [][Next]_vars
Consistent == \A a, b \in RM : ~(rm[a] = "aborted" /\ rm[b] = "committed")
====
