#!/bin/bash -eu
# One program holds all targets. A copy of it is the target of its own name.
cargo fuzz build -O --features libfuzzer fuzz
program=fuzz/target/x86_64-unknown-linux-gnu/release/fuzz
ZARR_FUZZ_SEEDS="$WORK/seeds" "$program"
for seeds in "$WORK"/seeds/*; do
    target=$(basename "$seeds")
    cp "$program" "$OUT/$target"
    if [ -d "fuzz/corpus/$target" ]; then cp "fuzz/corpus/$target"/* "$seeds"; fi
    zip -jqr "$OUT/${target}_seed_corpus.zip" "$seeds"
done
