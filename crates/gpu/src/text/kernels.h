// Breadth-first search: a level is expanded, and what is new is the next one.

// Steps that a process makes by itself, and alternatives that wait meanwhile, at most.
#define LONGEST 100000
#define WAITING 64

// What one thread counts of one state.
struct Tally {
  u64 transitions, faults;
  u32 degree;
  bool moved, faulted;
};

// States of 32 threads lie word by word beside each other.
DEVICE u64 word_of(u64 state, int word) { return (state / 32 * WORDS + word) * 32 + state % 32; }

DEVICE void fetch(const u32 *queue, u64 place, State &s) {
#pragma unroll
  for (int i = 0; i < WORDS; i++) s.w[i] = queue[word_of(place, i)];
}

DEVICE void want(const Job &job, u64 flag) { join(&job.counts->flags, flag); }

// Remembers one state for each thing that is looked for.
DEVICE void note(const Job &job, u64 what, const State &s) {
  u64 *at = job.found + what * FOUND;
  if (load(at) || exchange(at, 0, 1)) return;
  for (int i = 0; i < WORDS; i++) ((u32 *)(at + 1))[i] = s.w[i];
  join(&job.counts->found, 1ULL << what);
}

// A successor of the state at place `x` of the level.
DEVICE void offer(const Job &job, const State &t, u64 x, Tally &tally) {
  tally.transitions++;
  tally.degree++;
  if (job.target) {
    bool same = true;
#pragma unroll
    for (int i = 0; i < WORDS; i++) same = same && t.w[i] == job.target[i];
    if (same) least(&job.counts->place, job.begin + x);
    return;
  }
  u64 place;
  switch (look_up(job, t, place)) {
  case 0: return;
  case 1: break;
  case 2: return want(job, TABLE_FULL);
  default: return want(job, NODES_FULL);
  }
  const u64 at = add(&job.counts->next, 1);
  if (at >= job.capacity) {
    set(job.slots + place, SPOILT);
    return want(job, QUEUE_FULL);
  }
#pragma unroll
  for (int i = 0; i < WORDS; i++) job.next[word_of(at, i)] = t.w[i];
  for (u64 found = judge(t), what = FIRST_CONDITION; found; found >>= 1, what++) {
    if (found & 1) note(job, what, t);
  }
}

// How an event ended that was tried in a step from `s`; says whether it happened.
DEVICE bool happened(const Job &job, const State &s, int ended, Tally &tally) {
  if (ended & HAS_NO_ROOM) {
    const int variable = ended >> 8;
    job.counts->variable = variable;
    if (variable < 512) join(&job.counts->narrow[variable / 64], 1ULL << variable % 64);
    want(job, NO_ROOM);
    return false;
  }
  if (ended & TOO_SMALL) {
    note(job, FOUND_TOO_SMALL, s);
    want(job, OUTGROWN_SYSTEM);
  }
  if (ended & VIOLATED) {
    tally.faults++;
    tally.faulted = true;
    note(job, FOUND_VIOLATION, s);
  }
  if (ended & FAULT(15)) {
    tally.faults++;
    tally.faulted = true;
    note(job, FOUND_FAULT, s);
  }
  return ended & HAPPENS;
}

// What a step leads to that leaves `then` in charge: everybody if negative.
DEVICE void lead(const Job &job, const State &s, const State &t, int then, u64 x, Tally &tally) {
#if HELD
  if (then >= 0) {
    State waiting[WAITING];
    int thens[WAITING];
    int count = 1, steps = 0;
    waiting[0] = t;
    thens[0] = then;
    while (count) {
      count--;
      const State c = waiting[count];
      const int holder = thens[count];
      if (++steps > LONGEST) return want(job, TOO_LONG);
      int from, to;
      places(holder >> 1, c, from, to);
      bool moved = false;
      for (int k = from; k < to; k++) {
        State u;
        const int ended = run(k, c, u);
        if (!ended) continue;
        moved = true;
        if (!happened(job, s, ended, tally)) continue;
        if (then_of[k] < 0) {
          offer(job, u, x, tally);
        } else if (count == WAITING) {
          return want(job, TOO_LONG);
        } else {
          waiting[count] = u;
          thens[count] = then_of[k];
          count++;
        }
      }
      if (moved) continue;
      if (holder & 1) {
        happened(job, s, FAULT(5), tally);
      } else {
        offer(job, c, x, tally);
      }
    }
    return;
  }
#endif
  offer(job, t, x, tally);
}

// A step of the system, with which the claim moves.
DEVICE void step(const Job &job, const State &s, const State &t, int then, u64 x, Tally &tally) {
  tally.moved = true;
#if CLAIM
  for (int m = 0; m < CLAIM_MOVES; m++) {
    if (claim_moves(m, s) != HAPPENS) continue;
    State u = t;
    if (happened(job, s, claim_enters(m, u) | HAPPENS, tally)) lead(job, s, u, then, x, tally);
  }
#else
  lead(job, s, t, then, x, tally);
#endif
}

// Tries the events from one number to another.
DEVICE void attempt(const Job &job, const State &s, int from, int to, u64 x, Tally &tally) {
  for (int k = from; k < to; k++) {
    State t;
    const int ended = run(k, s, t);
    if (ended && happened(job, s, ended, tally)) step(job, s, t, then_of[k], x, tally);
  }
}

#define MOVED (1u << 30)
#define FAULTED (1u << 31)

// Each thread tries one group of events in one state.
KERNEL(expand) {
  Tally tally = {0, 0, 0, false, false};
  for (u64 x = THREAD; x < job.length && !load(&job.counts->flags); x += THREADS) {
    State s;
    fetch(job.now, job.begin + x, s);
    int from, to;
    group(GROUP, s, from, to);
    tally.degree = 0;
    tally.moved = tally.faulted = false;
    attempt(job, s, from, to, x, tally);
    if (tally.degree) add32(job.degree + x, tally.degree);
    const u32 marks = (CLAIM && tally.moved ? MOVED : 0) | (tally.faulted ? FAULTED : 0);
    if (marks) join32(job.degree + x, marks);
  }
  sum(&job.counts->transitions, tally.transitions);
  sum(&job.counts->faults, tally.faults);
}

// What is to be said of a state when all its events were tried.
KERNEL(settle) {
  Tally tally = {0, 0, 0, false, false};
  u64 deadlocks = 0, degree = 0;
  for (u64 x = THREAD; x < job.length && !load(&job.counts->flags); x += THREADS) {
    const u32 so_far = job.degree[x];
    tally.degree = so_far & (MOVED - 1);
    tally.moved = CLAIM ? so_far & MOVED : tally.degree != 0;
    tally.faulted = so_far & FAULTED;
#if LATE || CLAIM
    State s;
    fetch(job.now, job.begin + x, s);
#endif
#if LATE
    if (!tally.moved && !tally.faulted) {
      for (int process = 0; process <= PROCESSES; process++) {
        int from, to;
        late_places(process, s, from, to);
        attempt(job, s, from, to, x, tally);
      }
    }
#endif
#if CLAIM
    // A claim whose guard cannot be evaluated is at fault once in each state.
    const bool stands = !tally.moved;
    for (int m = 0; m < CLAIM_MOVES; m++) {
      const int ended = claim_moves(m, s);
      if (ended == HAPPENS) {
        State t = s;
        if (stands && happened(job, s, claim_enters(m, t) | HAPPENS, tally)) offer(job, t, x, tally);
      } else if (ended) {
        happened(job, s, ended, tally);
      }
    }
#endif
    if (tally.degree > degree) degree = tally.degree;
    if (tally.moved || (FAULTS_MOVE && tally.faulted)) continue;
#if !(LATE || CLAIM)
    State s;
    fetch(job.now, job.begin + x, s);
#endif
    if (HAS_ENDS && valid_end(s) == HAPPENS) continue;
    deadlocks++;
    note(job, FOUND_DEADLOCK, s);
  }
  sum(&job.counts->transitions, tally.transitions);
  sum(&job.counts->faults, tally.faults);
  sum(&job.counts->deadlocks, deadlocks);
  greatest(&job.counts->degree, degree);
}

// The initial states, which are the level itself: those that are not there twice.
KERNEL(begin) {
  Tally tally = {0, 0, 0, false, false};
  for (u64 x = THREAD; x < job.length; x += THREADS) {
    State s;
    fetch(job.now, job.begin + x, s);
    offer(job, s, x, tally);
  }
}

// Moves all keys to a larger table.
KERNEL(move_keys) {
  for (u64 at = THREAD; at < (1ULL << job.old_log) * SLOTS; at += THREADS) {
    const u64 slot = job.old[at];
    if (slot == 0 || slot == SPOILT) continue;
    u64 low, high, place;
    taken_from<ROOT_BITS>(at, slot, job.old_log, low, high);
    if (put<ROOT_BITS>(job.slots, job.log, low, high, place) == FULL) want(job, TABLE_FULL);
  }
}
