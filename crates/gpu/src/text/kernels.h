// Breadth-first search: a level is expanded, and what is new is the next one.
//
// The threads of a warp take a row of states and make successors, each thread those of its own state, one event at a time. They
// put what they have made beside each other into memory that they share, and when there is one for each of them, they look them
// all up together: looking up is what takes time, and who has little to make does not wait there for the others.

// Steps that a process makes by itself, and states that wait for a thread meanwhile, at most.
#define LONGEST 100000
#define WAITING (64 + CLAIM_MOVES)
// Whose turn it is: that of all (the state is that of the level), of nobody (the state is a successor), or of one process.
#define ALL (-2)
#define NOBODY (-1)

// States that a thread will go on with.
struct Waiting {
#if LEAVES
  State states[WAITING];
  int turns[WAITING];
#endif
};

// How far a thread is with a state of the level, and what it has counted there.
struct Thread {
  // The place of the state in the level, and the state whose events are tried.
  u64 place;
  State now;
  // Events of a group that are still to be tried, from one number to another.
  int event, events;
#if LEAVES
  int turn, event_then, events_then, count, steps;
  bool went;
#endif
  u32 degree;
  bool moved, faulted;
  u64 transitions, faults;
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

DEVICE void note_place(const Job &job, u64 what, u64 place) {
  State s;
  fetch(job.now, job.begin + place, s);
  note(job, what, s);
}

// Looks up what each thread of a warp has, and puts what is new into the queue.
DEVICE void look(const Job &job, bool has, const State &t) {
  u64 slot;
  Kept kept = KNOWN;
  if (has) kept = look_up(job, t, slot);
  const u64 at = next_of(&job.counts->next, kept == NEW);
  if (kept == KNOWN) return;
  if (kept != NEW) return want(job, kept == FULL ? TABLE_FULL : NODES_FULL);
  if (at >= job.capacity) {
    set(job.slots + slot, SPOILT);
    return want(job, QUEUE_FULL);
  }
#pragma unroll
  for (int i = 0; i < WORDS; i++) job.next[word_of(at, i)] = t.w[i];
  for (u64 found = judge(t), what = FIRST_CONDITION; found; found >>= 1, what++) {
    if (found & 1) note(job, what, t);
  }
}

// Takes a successor of the thread's state, if it has one. With `last`, looks up what is left.
DEVICE void take(const Job &job, Thread &thread, Stage &stage, bool has, State &t, bool last) {
  if (has) {
    thread.transitions++;
    thread.degree++;
    if (job.target) {
      bool same = true;
#pragma unroll
      for (int i = 0; i < WORDS; i++) same = same && t.w[i] == job.target[i];
      if (same) least(&job.counts->place, job.begin + thread.place);
    }
  }
  if (job.target) return;
#if STAGED
  put_down(stage, has, t);
  if (stage.count < LANES && !(last && stage.count)) return;
  has = pick_up(stage, t);
#endif
  look(job, has, t);
}

// How an event ended; says whether it happened.
DEVICE bool happened(const Job &job, Thread &thread, int ended) {
  if (ended == HAPPENS) return true;
  if (ended & HAS_NO_ROOM) {
    const int variable = ended >> 8;
    job.counts->variable = variable;
    if (variable < 512) join(&job.counts->narrow[variable / 64], 1ULL << variable % 64);
    want(job, NO_ROOM);
    return false;
  }
  if (ended & TOO_SMALL) {
    note_place(job, FOUND_TOO_SMALL, thread.place);
    want(job, OUTGROWN_SYSTEM);
  }
  if (ended & VIOLATED) {
    thread.faults++;
    thread.faulted = true;
    note_place(job, FOUND_VIOLATION, thread.place);
  }
  if (ended & FAULT(15)) {
    thread.faults++;
    thread.faulted = true;
    note_place(job, FOUND_FAULT, thread.place);
  }
  return ended & HAPPENS;
}

#if LEAVES
DEVICE void wait(const Job &job, Thread &thread, Waiting &waiting, const State &t, int turn) {
  if (thread.count == WAITING) return want(job, TOO_LONG);
  waiting.states[thread.count] = t;
  waiting.turns[thread.count] = turn;
  thread.count++;
}

// When all events of a state were tried: goes on with what waits, and then with the state of the level. Says whether the state
// itself is a successor.
DEVICE bool come_back(const Job &job, Thread &thread, Waiting &waiting, State &t) {
  bool has = false;
  if (thread.turn != ALL && !thread.went) {
    if (thread.turn >= 0 && (thread.turn & 1)) {
      happened(job, thread, FAULT(5));
    } else {
      t = thread.now;
      has = true;
    }
  }
  if (thread.turn == ALL) {
    thread.event_then = thread.event;
    thread.events_then = thread.events;
    thread.steps = 0;
  }
  if (++thread.steps > LONGEST) {
    want(job, TOO_LONG);
    thread.count = 0;
  }
  thread.went = false;
  thread.event = thread.events = 0;
  if (thread.count) {
    thread.count--;
    thread.now = waiting.states[thread.count];
    thread.turn = waiting.turns[thread.count];
    if (thread.turn >= 0) places(thread.turn >> 1, thread.now, thread.event, thread.events);
  } else {
    thread.turn = ALL;
    fetch(job.now, job.begin + thread.place, thread.now);
    thread.event = thread.event_then;
    thread.events = thread.events_then;
  }
  return has;
}
#endif

#if CLAIM
// A step of the system, with which the claim moves.
DEVICE void with_claim(const Job &job, Thread &thread, Waiting &waiting, const State &t, int turn) {
  for (int m = 0; m < CLAIM_MOVES; m++) {
    if (claim_moves(m, thread.now) != HAPPENS) continue;
    State u = t;
    if (happened(job, thread, claim_enters(m, u) | HAPPENS)) wait(job, thread, waiting, u, turn);
  }
}

// The claim alone, where nothing else moves. A claim whose guard cannot be evaluated is at fault once in each state.
DEVICE void claim_alone(const Job &job, Thread &thread, Waiting &waiting) {
  const bool stands = !thread.moved;
  for (int m = 0; m < CLAIM_MOVES; m++) {
    const int ended = claim_moves(m, thread.now);
    if (ended == HAPPENS) {
      State t = thread.now;
      if (stands && happened(job, thread, claim_enters(m, t) | HAPPENS)) wait(job, thread, waiting, t, NOBODY);
    } else if (ended) {
      happened(job, thread, ended);
    }
  }
}
#endif

// Tries the next event, or goes on with what waits. Says whether that leads to a successor.
DEVICE bool go_on(const Job &job, Thread &thread, Waiting &waiting, State &t) {
#if LEAVES
  // What waits comes before other events of the state of the level.
  if (thread.turn == ALL ? thread.count : thread.event == thread.events) return come_back(job, thread, waiting, t);
  const bool of_level = thread.turn == ALL;
#else
  const bool of_level = true;
#endif
  const int number = thread.event++;
  const int ended = run(number, thread.now, t);
  if (!ended) return false;
#if LEAVES
  thread.went = true;
#endif
  if (!happened(job, thread, ended)) return false;
  if (of_level) thread.moved = true;
#if LEAVES
  const int turn = then_of[number];
#if CLAIM
  if (of_level) {
    with_claim(job, thread, waiting, t, turn);
    return false;
  }
#endif
  if (turn >= 0) {
    wait(job, thread, waiting, t, turn);
    return false;
  }
#endif
  return true;
}

DEVICE bool is_busy(const Thread &thread) {
#if LEAVES
  if (thread.turn != ALL || thread.count) return true;
#endif
  return thread.event < thread.events;
}

// A thread takes the state at a place of the level, if there is one.
DEVICE void begin_state(const Job &job, Thread &thread, u64 place) {
  thread.place = place;
  thread.event = thread.events = 0;
  thread.degree = 0;
  thread.moved = thread.faulted = false;
#if LEAVES
  thread.turn = ALL;
  thread.count = 0;
  thread.went = false;
#endif
  if (place < job.length) fetch(job.now, job.begin + place, thread.now);
}

#define MOVED (1u << 30)
#define FAULTED (1u << 31)

// What several threads have found out about one state.
DEVICE void remember(const Job &job, const Thread &thread) {
  if (thread.degree) add32(job.degree + thread.place, thread.degree);
  const u32 marks = (CLAIM && thread.moved ? MOVED : 0) | (thread.faulted ? FAULTED : 0);
  if (marks) join32(job.degree + thread.place, marks);
}

DEVICE void recall(const Job &job, Thread &thread) {
  const u32 so_far = job.degree[thread.place];
  thread.degree = so_far & (MOVED - 1);
  thread.moved = CLAIM ? (so_far & MOVED) != 0 : thread.degree != 0;
  thread.faulted = (so_far & FAULTED) != 0;
}

// What there is to say of states of which all events were tried.
struct Settled {
  u64 deadlocks, degree;
};

DEVICE void settle_state(const Job &job, const Thread &thread, Settled &settled) {
  if (thread.degree > settled.degree) settled.degree = thread.degree;
  if (thread.moved || (FAULTS_MOVE && thread.faulted)) return;
#if HAS_ENDS
  State s;
  fetch(job.now, job.begin + thread.place, s);
  if (valid_end(s) == HAPPENS) return;
#endif
  settled.deadlocks++;
  note_place(job, FOUND_DEADLOCK, thread.place);
}

// Groups of what is tried when all else was: the late events of each process, and the claim alone.
#define LATE_GROUPS (LATE ? PROCESSES + 1 : 0)

// The threads of a warp take the states of a row, and try the groups from one number to another, one after the other: threads
// whose processes are at the same place try the same event at the same time. With `LAST`, what is tried when all else was.
template <bool LAST>
DEVICE void try_groups(const Job &job, u64 row, u64 threads, int first, int end, Thread &thread, Settled &settled) {
#if STAGED
  STAGE_WORDS(words);
  Stage stage = {OWN(words), 0};
#else
  Stage stage;
#endif
  Waiting waiting;
  bool busy = false, begun = false, last = false, late = false;
  int group = end;
  while (!last) {
    bool has = false;
    State t;
    if (!anyone(busy)) {
      const bool there = begun && thread.place < job.length;
      if (group == end) {
        if (LAST && there) settle_state(job, thread, settled);
        if (!LAST && there) remember(job, thread);
        last = row >= job.length || anyone(load(&job.counts->flags) != 0);
        begin_state(job, thread, last ? job.length : row + LANE);
        row += threads;
        group = first;
        begun = true;
        if (LAST && thread.place < job.length) {
          recall(job, thread);
          late = !thread.moved && !thread.faulted;
        }
      }
      if (thread.place < job.length && group < end) {
        if (!LAST) {
          events_of(group, thread.now, thread.event, thread.events);
#if CLAIM
        } else if (group == LATE_GROUPS) {
          claim_alone(job, thread, waiting);
#endif
        } else if (late) {
          late_places(group, thread.now, thread.event, thread.events);
        }
        busy = is_busy(thread);
      }
      group += group < end;
    }
    if (busy) {
      has = go_on(job, thread, waiting, t);
      busy = is_busy(thread);
    }
    take(job, thread, stage, has, t, last);
  }
}

// Each thread tries some groups of events.
KERNEL(expand) {
  Thread thread;
  thread.transitions = thread.faults = 0;
  Settled settled;
  const int first = GROUP * job.groups;
  const int end = first + (int)job.groups < GROUPS ? first + (int)job.groups : GROUPS;
  try_groups<false>(job, THREAD - LANE, THREADS, first, end, thread, settled);
  sum(&job.counts->transitions, thread.transitions);
  sum(&job.counts->faults, thread.faults);
}

// Each thread tries what is to be tried last, and says what there is to say of its state.
KERNEL(settle) {
  Settled settled = {0, 0};
  Thread thread;
  thread.transitions = thread.faults = 0;
#if LATE || CLAIM
  try_groups<true>(job, THREAD - LANE, THREADS, 0, LATE_GROUPS + CLAIM, thread, settled);
#else
  // Where not all events were tried, nothing is known.
  for (thread.place = THREAD; thread.place < job.length && !load(&job.counts->flags); thread.place += THREADS) {
    recall(job, thread);
    settle_state(job, thread, settled);
  }
#endif
  sum(&job.counts->transitions, thread.transitions);
  sum(&job.counts->faults, thread.faults);
  sum(&job.counts->deadlocks, settled.deadlocks);
  greatest(&job.counts->degree, settled.degree);
}

// Looks up the initial states, which are the level itself: those that are there twice are one.
KERNEL(begin) {
  for (u64 row = THREAD - LANE; row < job.length; row += THREADS) {
    State s;
    const bool has = row + LANE < job.length;
    if (has) fetch(job.now, row + LANE, s);
    look(job, has, s);
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
