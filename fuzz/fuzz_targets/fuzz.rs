//! All targets in one program. The variable `ZARR_FUZZ` names the target; without it, the name of the program does, so
//! that copies of the program are targets of their own, as OSS-Fuzz wants them. With `ZARR_FUZZ_SEEDS` the program only
//! writes the seeds of all targets into that folder.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;
use std::{env, fs, io, process};

use libfuzzer_sys::fuzz_target;
use zarr_fuzz_targets::{Target, names, target};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let program = || env::args().next().map(|path| path.rsplit('/').next().unwrap_or_default().to_owned());
    let name = env::var("ZARR_FUZZ").ok().or_else(program).unwrap_or_default();
    target(&name).unwrap_or_else(|| panic!("{name:?} is not a target; set ZARR_FUZZ to one"))
});

fuzz_target!(
    init: {
        if let Some(folder) = env::var_os("ZARR_FUZZ_SEEDS") {
            write_seeds(Path::new(&folder)).unwrap_or_else(|e| panic!("cannot write seeds: {e:#}"));
            process::exit(0);
        }
    },
    |input: &[u8]| zarr_fuzz_targets::run(&TARGET, input)
);

/// Writes the seeds of every target into a folder of its name.
fn write_seeds(folder: &Path) -> io::Result<()> {
    for target in names().filter_map(target) {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, seed) in target.seeds().iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
