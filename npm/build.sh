#!/bin/sh
# Makes lib/generated: the WebAssembly module and its JavaScript. Needs Rust, and the packages of `npm ci`.
set -eu
cd "$(dirname "$0")"
target=${CARGO_TARGET_DIR:-target}

# Without rustup, the target comes with the compiler, or cargo says that it lacks.
if command -v rustup >/dev/null; then rustup --quiet target add wasm32-unknown-unknown; fi
cargo build --quiet --locked --release --target wasm32-unknown-unknown
cargo run --quiet --locked --package zarr-rs-npm-build -- \
    "$target/wasm32-unknown-unknown/release/zarr_rs.wasm" lib/generated
node_modules/.bin/wasm-opt -Os --converge --enable-simd --enable-bulk-memory --enable-nontrapping-float-to-int \
    --enable-sign-ext --enable-mutable-globals --enable-reference-types --enable-multivalue \
    lib/generated/zarr_bg.wasm -o lib/generated/zarr_bg.wasm
