//! The command, built together with these tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Returns the program. A test of the workspace has built it; otherwise it is built now, also if its sources are newer.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let this = std::env::current_exe().unwrap();
        let folder = this.ancestors().nth(2).unwrap();
        let program = folder.join(format!("zarr{}", std::env::consts::EXE_SUFFIX));
        if !is_current(&program) {
            let profile = folder.file_name().unwrap().to_str().unwrap();
            let built = zarr_services::cargo()
                .args(["build", "--quiet", "--locked", "-p", "zarr-cli", "--bin", "zarr", "--profile"])
                .arg(if profile == "debug" { "dev" } else { profile })
                .arg("--target-dir")
                .arg(folder.parent().unwrap())
                .status();
            assert!(built.unwrap().success());
        }
        program
    })
}

/// Whether the program exists, and is not older than its sources.
fn is_current(program: &Path) -> bool {
    let made = |file: &Path| fs::metadata(file).and_then(|file| file.modified());
    let (Ok(built), Ok(list)) = (made(program), fs::read_to_string(program.with_extension("d"))) else {
        return false;
    };
    let sources = list.split_whitespace().skip(1);
    sources.map(|source| made(Path::new(source))).all(|made| made.is_ok_and(|made| made <= built))
}
