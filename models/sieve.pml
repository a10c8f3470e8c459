// sieve: the sieve of Eratosthenes as a growing pipeline: each prime is a process that filters its multiples and runs the next one, a process that runs itself.
// states: 3292
// transitions: 9324
// levels: 122
// deadlocks: 0
// vector: 41
// property: reach: primes == 5 -> holds at 90
// property: invariant: largest <= 11 -> holds
// property: deadlock -> holds

#define LAST 12

mtype = { number, eof };

byte primes, largest;

proctype Filter(chan in; byte prime) {
    chan out = [1] of { mtype, byte };
    byte n;
    bool has_next;

    d_step { primes++; largest = prime }
    do
    :: in?number(n) ->
       if
       :: n % prime == 0                /* swallowed */
       :: else ->
          if
          :: has_next -> out!number(n)
          :: else -> has_next = true; run Filter(out, n)
          fi
       fi
    :: in?eof(_) -> break
    od;
    if
    :: has_next -> out!eof(0)
    :: else -> assert(primes == 5 && largest == 11)
    fi
}

init {
    chan source = [1] of { mtype, byte };
    byte i = 3;

    run Filter(source, 2);
    do
    :: i <= LAST -> source!number(i); i++
    :: else -> break
    od;
    source!eof(0);
    _nr_pr == 1 -> printf("%d primes up to %d\n", primes, LAST)
}
