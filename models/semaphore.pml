// semaphore: a semaphore as a server: clients send it a channel of their own, on which it answers; rendezvous, channels in messages, local channels.
// states: 19
// transitions: 27
// levels: 7
// deadlocks: 0
// vector: 6
// property: invariant: inside <= 1 -> holds
// property: reach: inside == 1 -> holds at 3
// property: deadlock -> holds

#define CLIENTS 3

mtype = { acquire, release, granted };

chan request = [0] of { mtype, chan };
byte inside;

active proctype Server() {
    chan client;
end:
    do
    :: request?acquire(client) ->
       client!granted;
       request?release(_)
    od
}

active [CLIENTS] proctype Client() {
    chan answer = [0] of { mtype };     /* one for each client */
end:
    do
    :: request!acquire(answer);
       answer?granted;
       inside++;
       assert(inside == 1);
       inside--;
       request!release(answer)
    od
}
