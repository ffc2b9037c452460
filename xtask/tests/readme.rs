//! Tests the example in README.md: it compiles, runs on the bundled store, and is equal to the text there.
#![cfg(unix)]

use std::path::Path;

#[test]
fn the_example_runs() -> Result<(), Box<dyn std::error::Error>> {
    std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))?;
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("copy.zarr");
    example(copy.to_str().ok_or("no UTF-8")?)
}

fn example(destination: &str) -> Result<(), Box<dyn std::error::Error>> {
    // README.md begins
    use zarr_array::{ArrayMeta, DataType, NdVec, blocking::Array, codecs, standard};
    use zarr_store_fs::FsStore;

    let registry = standard(); // the codecs that are known; add your own to it
    let store = FsStore::open("conformance/demo/weather.zarr")?;
    let t2m = Array::open(store, "/t2m", &registry)?;
    let day: NdVec<f32> = t2m.read([0..8, 0..41, 0..90])?;
    println!("{:?} of {:?}, first {} K", day.shape(), t2m.shape(), day.as_slice()[0]);

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

#[test]
fn the_example_is_the_one_in_the_readme() {
    let (here, readme) = (include_str!("readme.rs"), include_str!("../../README.md"));
    let lines = here.lines().skip_while(|l| !l.ends_with("// README.md begins")).skip(1);
    let lines = lines.take_while(|l| !l.ends_with("// README.md ends"));
    let example: Vec<_> = lines.map(|l| l.strip_prefix("    ").unwrap_or(l)).collect();
    let example = format!("```rust\n{}\n```\n", example.join("\n"));
    assert!(readme.contains(&example), "README.md does not have this example:\n{example}");
}
