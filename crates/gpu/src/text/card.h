// What the kernels need of a machine, on a card.
#define DEVICE static __device__ __forceinline__
#define APART static __device__ __noinline__
#define TABLE static __device__ const
// Blocks that a processor has room for at once, and so the registers that a thread may have.
#define BLOCKS (LEAVES || WORDS > 6 ? 4 : 8)
#define BLOCK 128
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS) name(const Job job)
#define THREAD (blockIdx.x * (u64)BLOCK + threadIdx.x)
#define THREADS ((u64)gridDim.x * BLOCK)
#define GROUP blockIdx.y
#define LANES 32
#define LANE (threadIdx.x & 31)
#define STAGE_WORDS(name) __shared__ u32 name[BLOCK / LANES][WORDS][2 * LANES]
#define OWN(words) words[threadIdx.x / LANES]

// Past the first cache, which other processors' writes do not reach.
DEVICE u64 load(const u64 *at) { return __ldcg(at); }
struct Four {
  u64 a, b, c, d;
};
DEVICE Four load_four(const u64 *at) {
  const ulonglong2 first = __ldcg((const ulonglong2 *)at), second = __ldcg((const ulonglong2 *)at + 1);
  return {first.x, first.y, second.x, second.y};
}
DEVICE void set(u64 *at, u64 value) { atomicExch(at, value); }
DEVICE u64 exchange(u64 *at, u64 expected, u64 value) { return atomicCAS(at, expected, value); }
DEVICE u64 add(u64 *at, u64 value) { return atomicAdd(at, value); }
DEVICE void add32(u32 *at, u32 value) { atomicAdd(at, value); }
DEVICE void join32(u32 *at, u32 bits) { atomicOr(at, bits); }
DEVICE void join(u64 *at, u64 bits) { atomicOr(at, bits); }
DEVICE void least(u64 *at, u64 value) { atomicMin(at, value); }
// To what follows, all threads of a warp come together.
DEVICE bool anyone(bool is) { return __any_sync(~0u, is); }
DEVICE u32 votes(bool is) { return __ballot_sync(~0u, is); }
DEVICE int count_of(u32 all) { return __popc(all); }
DEVICE int count_before(u32 all) { return __popc(all & (1u << LANE) - 1); }
DEVICE void meet() { __syncwarp(); }
// The next places for those who need one.
DEVICE u64 next_of(u64 *at, bool wants) {
  const u32 all = votes(wants);
  u64 first = 0;
  if (LANE == 0 && all) first = atomicAdd(at, (u64)count_of(all));
  return __shfl_sync(~0u, first, 0) + count_before(all);
}
DEVICE void sum(u64 *at, u64 value) {
  for (int other = 16; other; other >>= 1) value += __shfl_down_sync(~0u, value, other);
  if ((threadIdx.x & 31) == 0 && value) atomicAdd(at, value);
}
DEVICE void greatest(u64 *at, u64 value) {
  for (int other = 16; other; other >>= 1) {
    const u64 theirs = __shfl_down_sync(~0u, value, other);
    value = value > theirs ? value : theirs;
  }
  if ((threadIdx.x & 31) == 0 && value > load(at)) atomicMax(at, value);
}
