#!/bin/sh
# One model in three tools, one thread each: processor seconds, wall seconds and peak memory.
#
#     cargo build --release && sh benches/peers/two_phase_commit/run.sh
#
# SPIN runs where `spin` and `gcc` are there (its compiler is not counted), TLC where TLC names its jar.
cd "$(dirname "$0")" || exit 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
timed() { name=$1; shift; /usr/bin/time -f "$name: %U + %S s of processor time, %e s, %M KB" "$@" > "$folder/out"; grep -E "^ *(states|[0-9]+ states, stored|[0-9]+ states generated)" "$folder/out"; }
timed scrimp "${SCRIMP:-../../../target/release/scrimp}" count commit.pml --threads 1
if command -v spin > /dev/null && command -v gcc > /dev/null; then
  (cd "$folder" && spin -a "$OLDPWD/commit.pml" && gcc -O3 -DSAFETY -DNOREDUCE -o pan pan.c) > /dev/null
  timed SPIN "$folder/pan" -w24 -m2000000 -c0 -n
fi
if [ -n "$TLC" ]; then
  timed TLC java -XX:+UseParallelGC -cp "$TLC" tlc2.TLC -workers 1 -metadir "$folder" Commit
fi
