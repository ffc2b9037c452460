//! Every target takes its seeds, and the inputs that once failed.
#![allow(clippy::unwrap_used, reason = "this is a test")]

use std::fs;
use std::path::Path;

use zarr_fuzz_targets::{names, run, target};

/// There is only one test, because the targets bound the memory of the process.
#[test]
fn targets_take_their_seeds_and_what_once_failed() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let mut replayed = 0;
    for name in names() {
        let target = target(name).unwrap();
        for seed in target.seeds() {
            run(&target, seed);
        }
        for file in fs::read_dir(corpus.join(name)).into_iter().flatten() {
            run(&target, &fs::read(file.unwrap().path()).unwrap());
            replayed += 1;
        }
    }
    let folders = fs::read_dir(&corpus).unwrap().map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    assert_eq!(replayed, folders.map(Iterator::count).sum::<usize>(), "a folder of the corpus has no target");
}
