//! The stored chunks of an array: where they are in the grid, and how large.

use zarr_array::blocking::Array;
use zarr_array::meta::json::{Object, Value};

use crate::exit::Failure;
use crate::out::json;
use crate::stored::{Stored, size};

/// Returns the stored chunks: a list of numbers, the index and then the bytes of each. After `most` objects the listing
/// ends. A store that cannot list has none.
pub(crate) fn chunks(array: &Array, most: usize) -> Result<Object, Failure> {
    let counts = array.chunk_counts();
    let mut document = json::document([("counts", counts.to_vec().into())]);
    if !array.storage().capabilities().list {
        document.set("unknown", "the store cannot list its objects");
        return Ok(document);
    }
    let (mut cells, mut stored, mut bytes, mut stray) = (Vec::<u64>::new(), 0_u64, 0_u64, 0_u64);
    let mut objects = Stored::of(array)?;
    for object in objects.by_ref().take(most) {
        let object = object?;
        let Ok(index) = &object.chunk else {
            stray += 1;
            continue;
        };
        let Some(size) = size(array.storage(), &object.listed)? else { continue };
        cells.extend(index.iter());
        cells.push(size);
        stored += 1;
        bytes = bytes.saturating_add(size);
    }
    let is_cut = objects.next().transpose()?.is_some();
    let cells: Value = cells.into_iter().collect();
    for (name, value) in [
        ("stored", stored.into()),
        ("bytes", bytes.into()),
        ("stray", stray.into()),
        ("is_cut", is_cut.into()),
        ("cells", cells),
    ] {
        document.set(name, value);
    }
    Ok(document)
}
