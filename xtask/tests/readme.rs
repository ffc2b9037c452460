//! Tests the Rust code in README.md: it compiles, runs on the bundled store, and is equal to the text there.
#![cfg(unix)]

use std::path::Path;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Enters the root of the repository, where README.md is.
fn enter() -> std::io::Result<()> {
    std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
}

#[test]
fn the_first_program_runs() -> Outcome {
    enter()?;
    first()
}

fn first() -> Outcome {
    // README.md begins
    use zarr_array::{blocking::Array, standard};
    use zarr_store_fs::FsStore;

    fn main() -> Result<(), Box<dyn std::error::Error>> {
        let t2m = Array::open(FsStore::open("conformance/demo/weather.zarr")?, "/t2m", &standard())?;
        let day = t2m.read::<f32>([0..8, 0..41, 0..90])?;
        println!("{:?} of {:?}, first {} K", day.shape(), t2m.shape(), day[[0, 0, 0]]);
        Ok(())
    }
    // README.md ends
    main()
}

#[test]
fn the_copy_is_equal() -> Outcome {
    enter()?;
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("copy.zarr");
    example(copy.to_str().ok_or("no UTF-8")?)
}

fn example(destination: &str) -> Outcome {
    // README.md begins
    use zarr_array::{ArrayMeta, DataType, NdVec, blocking::Array, codecs, standard};
    use zarr_store_fs::FsStore;

    let registry = standard(); // the known codecs; add your own to it
    let t2m = Array::open(FsStore::open("conformance/demo/weather.zarr")?, "/t2m", &registry)?;
    let day: NdVec<f32> = t2m.read(0..8)?;

    let meta = ArrayMeta::builder([8, 41, 90], DataType::Float32)
        .chunks([8, 20, 30])
        .fill(f32::NAN)
        .codecs([codecs::zstd(9)])
        .dimension_names(["time", "latitude", "longitude"])
        .build()?;
    let copy = Array::create(FsStore::create(destination)?, "/", meta, &registry)?;
    copy.write(.., &day)?;
    assert_eq!(copy.read::<f32>((7, .., 0..30))?, t2m.read::<f32>((7, .., 0..30))?);
    // README.md ends
    Ok(())
}

/// Returns the Rust code of this file that is in README.md, without its indentation.
fn examples() -> Vec<String> {
    let parts = include_str!("readme.rs").split("    // README.md begins\n").skip(1);
    let parts = parts.filter_map(|part| Some(part.split_once("    // README.md ends")?.0));
    parts
        .map(|part| part.lines().map(|l| l.strip_prefix("    ").unwrap_or(l).to_owned() + "\n").collect())
        .collect()
}

#[test]
fn the_rust_code_of_the_readme_is_in_this_file() {
    let readme = include_str!("../../README.md").split("```rust\n").skip(1);
    let readme: Vec<_> = readme.filter_map(|part| Some(part.split_once("```")?.0)).collect();
    assert_eq!(readme, examples());
}
