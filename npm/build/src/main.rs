//! Writes the JavaScript of a WebAssembly module: `zarr-rs-npm-build MODULE FOLDER`.

use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(module), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: zarr-rs-npm-build MODULE FOLDER".into());
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name("zarr").web(true)?.typescript(false).remove_producers_section(true);
    bindgen.generate(folder)?;
    Ok(())
}
