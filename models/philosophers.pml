// philosophers: four dining philosophers who all take the left fork first: they can starve together, an invalid end state.
// states: 160
// transitions: 440
// levels: 14
// deadlocks: 1
// vector: 8
// property: deadlock -> fails at 4
// property: invariant: !(fork[0] && fork[1] && fork[2] && fork[3]) -> fails at 4

#define N        4
#define LEFT(i)  (i)
#define RIGHT(i) ((i + 1) % N)

bool fork[N];                           /* taken */

#define take(f) atomic { !fork[f] -> fork[f] = true }
#define drop(f) fork[f] = false

active [N] proctype Philosopher() {
    do
    :: take(LEFT(_pid));
       take(RIGHT(_pid));
       printf("philosopher %d eats\n", _pid);
       drop(RIGHT(_pid));
       drop(LEFT(_pid))
    od
}
