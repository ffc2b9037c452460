//! The WebAssembly module of the npm package `zarr-rs`. Its classes and functions are private to that package, whose
//! JavaScript is in `lib`.

mod elements;
mod error;
mod foreign;
mod node;
mod store;

use std::panic::set_hook;

use wasm_bindgen::prelude::wasm_bindgen;

/// Makes a panic an error of JavaScript with its message. Without this it is "unreachable".
#[wasm_bindgen(start)]
fn start() {
    set_hook(Box::new(|panic| wasm_bindgen::throw_str(&panic.to_string())));
}
