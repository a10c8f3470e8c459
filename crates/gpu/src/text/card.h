// What the kernels need of a machine, on a card.
#define DEVICE static __device__ __forceinline__
#define APART static __device__ __noinline__
#define TABLE static __device__ const
// Blocks that a processor has room for at once, and so the registers that a thread may have.
#define BLOCKS (HELD || WORDS > 6 ? 2 : 4)
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(256, BLOCKS) name(const Job job)
#define THREAD (blockIdx.x * (u64)blockDim.x + threadIdx.x)
#define THREADS ((u64)gridDim.x * blockDim.x)
#define GROUP blockIdx.y

// Past the first cache, which other processors' writes do not reach.
DEVICE u64 load(const u64 *at) { return __ldcg(at); }
struct Pair {
  u64 first, second;
};
DEVICE Pair load_both(const u64 *at) {
  const ulonglong2 both = __ldcg((const ulonglong2 *)at);
  return {both.x, both.y};
}
DEVICE void set(u64 *at, u64 value) { atomicExch(at, value); }
DEVICE u64 exchange(u64 *at, u64 expected, u64 value) { return atomicCAS(at, expected, value); }
DEVICE u64 add(u64 *at, u64 value) { return atomicAdd(at, value); }
DEVICE void add32(u32 *at, u32 value) { atomicAdd(at, value); }
DEVICE void join32(u32 *at, u32 bits) { atomicOr(at, bits); }
DEVICE void join(u64 *at, u64 bits) { atomicOr(at, bits); }
DEVICE void least(u64 *at, u64 value) { atomicMin(at, value); }
// All threads of a warp come here together.
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
