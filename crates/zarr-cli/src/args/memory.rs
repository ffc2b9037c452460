//! The memory that a verb may take.

use zarr_copy::Size;

/// The least that is accepted, in bytes. A smaller number lacks its unit.
const LEAST: Size = Size(1000);

/// Reads an amount of memory such as `512MiB`.
pub(crate) fn memory(text: &str) -> Result<Size, String> {
    let size: Size = text.parse()?;
    if size < LEAST {
        return Err(format!("{size} is less than any verb needs; with a unit, at least 1kB, as in 64MiB"));
    }
    Ok(size)
}
