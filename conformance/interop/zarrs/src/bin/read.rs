//! Reads what `cargo run -p zarr-array --example extensions -- FOLDER` wrote (or the other examples that write), with zarrs:
//! `cargo run --release --bin read -- FOLDER`. Prints a line an array; exit status 1 if any value differs.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use zarrs::array::{Array, ArrayBytes};
use zarrs::filesystem::FilesystemStore;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("which folder?")?;
    let mut names: Vec<String> = std::fs::read_dir(&folder)?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".raw")?.to_owned()))
        .collect();
    names.sort();
    let mut wrong = 0;
    for name in names {
        let expected = std::fs::read(Path::new(&folder).join(format!("{name}.raw")))?;
        let read = std::panic::catch_unwind(|| read(&folder, &name).map_err(|e| e.to_string()));
        let verdict = match read {
            Ok(Ok(bytes)) if bytes == expected => "equal".to_owned(),
            Ok(Ok(bytes)) => {
                wrong += 1;
                format!("DIFFERENT: {bytes:02x?}, expected {expected:02x?}")
            }
            Ok(Err(e)) => format!("refused: {}", e.lines().next().unwrap_or_default()),
            Err(_) => "PANIC".to_owned(),
        };
        println!("{name:32} {verdict}");
    }
    std::process::exit(i32::from(wrong > 0));
}

fn read(folder: &str, name: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let store = Arc::new(FilesystemStore::new(folder)?);
    let array = Array::open(store, &format!("/{name}"))?;
    let bytes: ArrayBytes<'static> = array.retrieve_array_subset(&array.subset_all())?;
    Ok(bytes.into_fixed()?.into_owned())
}
