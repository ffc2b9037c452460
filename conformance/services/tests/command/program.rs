//! The command, built together with these tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Returns the program, which a build of the workspace puts beside the tests. A test never builds it: a build of one
/// package selects other features, and takes minutes.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let this = std::env::current_exe().unwrap();
        let folder = this.ancestors().nth(2).unwrap();
        let program = folder.join(format!("zarr{}", std::env::consts::EXE_SUFFIX));
        assert!(
            is_current(&program),
            "{} is missing or older than its sources: cargo xtask test --only build",
            program.display()
        );
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
