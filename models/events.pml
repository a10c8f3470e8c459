// events: an event trace: requests and answers must alternate on the channels that it names; the client that asks twice breaks it.
// states: 38
// transitions: 52
// levels: 20
// deadlocks: 0
// faults: 3
// vector: 12
// property: assertions -> fails at 13
// property: reach: question.len == 2 -> holds at 14
// property: deadlock -> holds

mtype = { ping, pong };

chan question = [2] of { mtype, byte };
chan answer = [1] of { mtype };
byte ignored;

active proctype Client() {
    byte n;
    do
    :: question!ping(n);
       n = (n + 1) % 3;
       if
       :: answer?pong
       :: n == 0 -> question!ping(n); answer?pong; answer?pong
       fi
    od
}

active proctype Server() {
end:
    do
    :: question?ping(ignored) -> answer!pong
    od
}

trace {
    do
    :: question!ping, _; answer!pong
    od
}
