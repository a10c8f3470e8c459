// What the kernels need of a machine, on the threads of a processor.
#define DEVICE static inline
#define APART static __attribute__((noinline))
#define TABLE static const
// A warp is one thread.
#define LANES 1
#define LANE 0
#define STAGE_WORDS(name) u32 name[1][WORDS][2 * LANES]
#define OWN(words) words[0]
#define KERNEL(name)                                                                                      \
  static void name##_on(const Job &job, u64 THREAD, u64 THREADS, u32 GROUP);                              \
  extern "C" void name(const Job *job, u64 thread, u64 threads, u32 group) { name##_on(*job, thread, threads, group); } \
  static void name##_on(const Job &job, u64 THREAD, u64 THREADS, u32 GROUP)

DEVICE u64 load(const u64 *at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
struct Four {
  u64 a, b, c, d;
};
DEVICE Four load_four(const u64 *at) { return {load(at), load(at + 1), load(at + 2), load(at + 3)}; }
DEVICE void set(u64 *at, u64 value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }
DEVICE u64 exchange(u64 *at, u64 expected, u64 value) {
  __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return expected;
}
DEVICE u64 add(u64 *at, u64 value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
DEVICE void add32(u32 *at, u32 value) { __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
DEVICE void join32(u32 *at, u32 bits) { __atomic_fetch_or(at, bits, __ATOMIC_RELAXED); }
DEVICE void join(u64 *at, u64 bits) { __atomic_fetch_or(at, bits, __ATOMIC_RELAXED); }
DEVICE void least(u64 *at, u64 value) {
  for (u64 now = load(at); value < now;) {
    const u64 seen = exchange(at, now, value);
    if (seen == now) return;
    now = seen;
  }
}
DEVICE bool anyone(bool is) { return is; }
DEVICE u32 votes(bool is) { return is; }
DEVICE int count_of(u32 all) { return all; }
DEVICE int count_before(u32) { return 0; }
DEVICE void meet() {}
DEVICE u64 next_of(u64 *at, bool wants) { return wants ? add(at, 1) : 0; }
DEVICE void sum(u64 *at, u64 value) {
  if (value) add(at, value);
}
DEVICE void greatest(u64 *at, u64 value) {
  for (u64 now = load(at); value > now;) {
    const u64 seen = exchange(at, now, value);
    if (seen == now) return;
    now = seen;
  }
}
