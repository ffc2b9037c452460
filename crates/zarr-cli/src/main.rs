//! The command `zarr`; the library has all of it.

use std::process::ExitCode;

fn main() -> ExitCode {
    zarr_cli::run(std::env::args_os()).into()
}
