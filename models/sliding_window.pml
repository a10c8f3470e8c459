// sliding_window: go-back-n with a window of two and numbers of two bits: small unsigned fields, arrays in a record, exclusive ends of channels, time-outs.
// states: 2289
// transitions: 4447
// levels: 98
// deadlocks: 0
// vector: 23
// property: invariant: !(frames.len == 2 && acks.len == 2) -> holds
// property: invariant: acks.len <= 2 -> holds
// property: deadlock -> holds

#define WINDOW 2
#define NUMBERS 4

typedef Window {
    bit content[NUMBERS];               /* what was sent under each number */
    unsigned base : 2;
    unsigned used : 2
};

chan frames = [2] of { byte, bit };
chan acks   = [2] of { byte };

bit next_sent, next_wanted;             /* contents alternate */

active proctype Sender() {
    Window w;
    byte n, i;
    xs frames;
    xr acks;

end:
    do
    :: w.used < WINDOW && nfull(frames) ->
       d_step {
           n = (w.base + w.used) % NUMBERS;
           w.content[n] = next_sent;
           next_sent = !next_sent;
           w.used++
       }
       frames!n(w.content[n])
    :: acks?n ->
       /* n is the number that is wanted next: all before it have arrived */
       d_step {
           do
           :: w.used > 0 && w.base != n -> w.content[w.base] = 0; w.base++; w.used--
           :: else -> break
           od;
           n = 0
       }
    :: timeout ->
       /* something was lost: the whole window again */
       i = 0;
       do
       :: i < w.used -> n = (w.base + i) % NUMBERS; frames!n(w.content[n]); i++
       :: else -> i = 0; n = 0; break
       od
    od
}

active proctype Receiver() {
    unsigned wanted : 2;
    byte n;
    bit x;
    xr frames;
    xs acks;

end:
    do
    :: frames?n(x) ->
       if
       :: n == wanted ->
          assert(x == next_wanted);
          d_step { next_wanted = !next_wanted; wanted++ }
       :: else
       fi;
       d_step { n = 0; x = 0 }
       if
       :: nfull(acks) -> acks!wanted
       :: full(acks)
       :: true                          /* lost */
       fi
    :: frames?_,_                       /* lost */
    od
}
