// A set of keys of so many bits, exact, by quotients.
//
// A key is mixed by a bijection, so that it can be told by where it is and what is left of it. Its lowest bits say in which
// bucket it belongs; the slot holds the rest, plus one, and above that how many steps further it had to go. Buckets are lines
// of 128 bytes. Each rest has a step of its own, so that full buckets do not crowd together, and a table can be filled almost to
// the last slot. Nothing is ever taken out: a key that is not before the first empty slot is not there.
#define SLOTS 16
#define REST 59
#define FURTHEST 31
// A slot that was taken for a state for which there was no place in the queue.
#define SPOILT (~0ULL)

enum Kept { KNOWN, NEW, FULL, PARTS_FULL };

DEVICE u64 stirred(u64 x) {
  x ^= x >> 31;
  x *= 0x9E3779B97F4A7C15ULL;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ULL;
  return x ^ x >> 32;
}

// A bijection on keys of so many bits: `low` has the first 64 of them. What says in which bucket a key belongs depends on all bits.
template <int BITS> DEVICE void mix(u64 &low, u64 &high) {
  if (BITS > 64) {
    low = stirred(low + high * 0xD6E8FEB86659FD93ULL);
    return;
  }
  const u64 all = BITS >= 64 ? ~0ULL : (1ULL << (BITS & 63)) - 1;
  const int half = (BITS + 1) / 2;
  low ^= low >> half;
  low = low * 0x9E3779B97F4A7C15ULL & all;
  low ^= low >> half;
  low = low * 0xBF58476D1CE4E5B9ULL & all;
  low ^= low >> half;
}

// How far apart the buckets are where keys with this rest may be, in a table of a power of two of them.
DEVICE u64 step_of(u64 rest) { return rest * 0x9E3779B97F4A7C15ULL >> 20 | 1; }

DEVICE bool of(u64 seen, u64 key) { return seen == 0 || seen == key; }

// Puts a mixed key into a table of 2^log buckets, unless it is there; tells where. Four slots are looked at together; with which of
// a bucket it begins is up to the key, so that in most cases there is only one look.
template <int BITS> DEVICE Kept put(u64 *slots, u64 log, u64 low, u64 high, u64 &place) {
  const u64 mask = (1ULL << log) - 1;
  const u64 rest = BITS <= 64 ? low >> log : low >> log | high << (64 - log);
  for (u64 further = 0; further < FURTHEST; further++) {
    const u64 first = ((low & mask) + further * step_of(rest) & mask) * SLOTS;
    const u64 key = rest + 1 | further << REST;
    for (u64 i = 0; i < SLOTS / 4; i++) {
      const u64 at = first + (rest + i) % (SLOTS / 4) * 4;
      for (;;) {
        const Four seen = load_four(slots + at);
        // The first that holds the key or nothing: nothing comes after it that would matter.
        const int which = of(seen.a, key) ? 0 : of(seen.b, key) ? 1 : of(seen.c, key) ? 2 : of(seen.d, key) ? 3 : 4;
        if (which == 4) break;
        place = at + which;
        const u64 held = which == 0 ? seen.a : which == 1 ? seen.b : which == 2 ? seen.c : seen.d;
        if (held == key) return KNOWN;
        const u64 now = exchange(slots + place, 0, key);
        if (now == 0) return NEW;
        if (now == key) return KNOWN;
      }
    }
  }
  return FULL;
}

// The mixed key that a slot holds.
template <int BITS> DEVICE void taken_from(u64 at, u64 slot, u64 log, u64 &low, u64 &high) {
  const u64 mask = (1ULL << log) - 1;
  const u64 rest = (slot & (1ULL << REST) - 1) - 1;
  const u64 home = at / SLOTS - (slot >> REST) * step_of(rest) & mask;
  low = rest << log | home;
  high = BITS <= 64 ? 0 : rest >> (64 - log);
}

// The number of a part of a state, which is the same for the same part.
template <int BITS> DEVICE bool number(const Job &job, u64 low, u64 high, u64 &place) {
  mix<BITS>(low, high);
  return put<BITS>(job.nodes, job.node_log, low, high, place) != FULL;
}
