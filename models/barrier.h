/* A barrier for N processes that can be used again and again: the sense changes each time it opens. */

#ifndef BARRIER_H
#define BARRIER_H

#ifndef N
#error "say how many processes there are: #define N 3"
#endif

#if N > 200
#define COUNT int
#else
#define COUNT byte
#endif

COUNT waiting;
bool sense;

#define AT_BARRIER(mine)                                \
    atomic {                                            \
        waiting++;                                      \
        if                                              \
        :: waiting == N -> waiting = 0; sense = !sense  \
        :: else                                         \
        fi;                                             \
        mine = !mine;                                   \
        sense == mine                                   \
    }

#endif
