// Successors that the threads of a warp have made, and that are not yet looked up: fewer than there are threads, and what is just
// being put down. States that are too wide for it are looked up by the thread that has made them.
#define STAGED (WORDS <= 40)

struct Stage {
#if STAGED
  u32 (*words)[2 * LANES];
  int count;
#endif
};

#if STAGED
DEVICE void put_down(Stage &stage, bool has, const State &t) {
  const u32 all = votes(has);
  if (has) {
    const int at = stage.count + count_before(all);
#pragma unroll
    for (int i = 0; i < WORDS; i++) stage.words[i][at] = t.w[i];
  }
  stage.count += count_of(all);
  meet();
}

// Each thread takes one, if there are enough.
DEVICE bool pick_up(Stage &stage, State &t) {
  const int taken = stage.count < LANES ? stage.count : LANES;
  stage.count -= taken;
  const bool has = LANE < taken;
  if (has) {
#pragma unroll
    for (int i = 0; i < WORDS; i++) t.w[i] = stage.words[i][stage.count + LANE];
  }
  meet();
  return has;
}
#endif
