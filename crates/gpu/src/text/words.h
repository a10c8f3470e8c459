// Words that all texts share.
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef short i16;
typedef unsigned char u8;
typedef signed char i8;

// How an event ends. A fault has its number in four bits; a variable without room for a value has its number above.
#define HAPPENS 1
#define VIOLATED 2
#define TOO_SMALL 4
#define HAS_NO_ROOM 8
#define FAULT(number) ((number) << 4)
#define OUTGROWN(variable) (HAS_NO_ROOM | (variable) << 8)

// What a search has counted, and why it wants to stop.
struct Counts {
  u64 next;
  // What all threads write is in a line of its own.
  u64 apart[15];
  u64 transitions, faults, deadlocks, degree, flags, variable, found, place;
  // The variables without room, one bit each: the first ones.
  u64 narrow[8];
};
#define TABLE_FULL 1
#define NODES_FULL 2
#define QUEUE_FULL 4
#define NO_ROOM 8
#define TOO_LONG 16
#define OUTGROWN_SYSTEM 32

// What a kernel works on.
struct Job {
  u64 *slots, *nodes;
  u64 log, node_log;
  const u32 *now;
  u64 begin, length;
  // How many groups of events each thread tries.
  u64 groups;
  u32 *next;
  u64 capacity;
  u32 *degree;
  Counts *counts;
  // For each thing looked for, whether it was found, and the state.
  u64 *found;
  // A state whose predecessor is looked for, or nothing.
  const u32 *target;
  // The table that is to be moved, and how large it is.
  const u64 *old;
  u64 old_log;
};
