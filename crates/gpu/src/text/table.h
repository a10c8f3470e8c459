// A set of keys of so many bits, exact, by quotients.
//
// A key is mixed by a bijection, so that it can be told by where it is and what is left of it. Its lowest bits say in which
// bucket it belongs; the slot holds the rest, plus one, and above that how many buckets further it had to go. Buckets are lines
// of 128 bytes. Nothing is ever taken out: a key that is not before the first empty slot is not there.
#define SLOTS 16
#define REST 59
#define FURTHEST 31
// A slot that was taken for a state for which there was no place in the queue.
#define SPOILT (~0ULL)

enum Kept { KNOWN, NEW, FULL };

DEVICE u64 stirred(u64 x) {
  x ^= x >> 31;
  x *= 0x9E3779B97F4A7C15ULL;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ULL;
  return x ^ x >> 32;
}

// A bijection on keys of so many bits: `low` has the first 64 of them.
template <int BITS> DEVICE void mix(u64 &low, u64 &high) {
  if (BITS <= 64) {
    const u64 all = BITS >= 64 ? ~0ULL : (1ULL << (BITS & 63)) - 1;
    const int half = (BITS + 1) / 2;
    low ^= low >> half;
    low = low * 0x9E3779B97F4A7C15ULL & all;
    low ^= low >> half;
    low = low * 0xBF58476D1CE4E5B9ULL & all;
    low ^= low >> half;
  } else {
    const u64 all = BITS >= 128 ? ~0ULL : (1ULL << (BITS - 64 & 63)) - 1;
    low += stirred(high + 1);
    high = (high ^ stirred(low + 77)) & all;
    low += stirred(high + 1234567);
  }
}

// Puts a key into a slot of which this was seen, unless there is another.
DEVICE bool taken(u64 *at, u64 seen, u64 key, Kept &kept) {
  if (seen == 0) seen = exchange(at, 0, key);
  kept = seen == 0 ? NEW : KNOWN;
  return seen == 0 || seen == key;
}

// Puts a mixed key into a table of 2^log buckets, unless it is there; tells where.
template <int BITS> DEVICE Kept put(u64 *slots, u64 log, u64 low, u64 high, u64 &place) {
  const u64 mask = (1ULL << log) - 1;
  const u64 rest = BITS <= 64 ? low >> log : low >> log | high << (64 - log);
  for (u64 further = 0; further < FURTHEST; further++) {
    const u64 first = ((low & mask) + further & mask) * SLOTS;
    const u64 key = rest + 1 | further << REST;
    for (u64 at = first; at < first + SLOTS; at += 2) {
      const Pair seen = load_both(slots + at);
      Kept kept;
      place = at;
      if (taken(slots + at, seen.first, key, kept)) return kept;
      place = at + 1;
      if (taken(slots + at + 1, seen.second, key, kept)) return kept;
    }
  }
  return FULL;
}

// The mixed key that a slot holds.
template <int BITS> DEVICE void taken_from(u64 at, u64 slot, u64 log, u64 &low, u64 &high) {
  const u64 mask = (1ULL << log) - 1;
  const u64 home = at / SLOTS - (slot >> REST) & mask;
  const u64 rest = (slot & (1ULL << REST) - 1) - 1;
  low = rest << log | home;
  high = BITS <= 64 ? 0 : rest >> (64 - log);
}

// The number of a part of a state, which is the same for the same part.
template <int BITS> DEVICE bool number(const Job &job, u64 low, u64 high, u64 &place) {
  mix<BITS>(low, high);
  return put<BITS>(job.nodes, job.node_log, low, high, place) != FULL;
}
