//! Erasing a node with everything below it.

use zarr_meta::consolidated::ConsolidatedForm;
use zarr_meta::{DocumentName, Format};
use zarr_traits::{Prefix, Storage};

use super::{MAKERS, Writing, refresh, stored};
use crate::error::ArrayResult;

/// Erases the node at `prefix` and everything below it. Returns `false` and erases nothing if no node exists. Metadata
/// is erased first, so that an interruption never leaves a node without its chunks.
///
/// The cost is three concurrent reads, a deletion of each document and of the prefix, and the cost of [`refresh`].
///
/// # Errors
/// Those of the store. If consolidated metadata cannot be updated, the node is already erased.
pub async fn erase(storage: &Storage, prefix: &Prefix, how: &Writing) -> ArrayResult<bool> {
    storage.check_writable()?;
    let makers: Vec<DocumentName> =
        stored(storage, prefix, &MAKERS, &how.limits).await?.iter().map(|one| one.name).collect();
    if makers.is_empty() {
        return Ok(false);
    }
    delete_node(storage, prefix, &makers).await?;
    let mut formats: Vec<_> = makers.iter().map(|name| name.format()).collect();
    formats.dedup();
    for format in formats {
        refresh(storage, prefix, std::slice::from_ref(prefix), format, how).await?;
    }
    Ok(true)
}

/// Deletes documents of a node, then everything below its prefix. Consolidated metadata of format 2 is deleted first,
/// because some readers use it even if the document of its group is missing.
pub(super) async fn delete_node(
    storage: &Storage,
    prefix: &Prefix,
    documents: &[DocumentName],
) -> ArrayResult<()> {
    if documents.iter().any(|name| name.format() == Format::V2) {
        storage.delete(&prefix.key(ConsolidatedForm::Object.holder())?).await?;
    }
    for name in documents {
        storage.delete(&prefix.key(name.as_str())?).await?;
    }
    storage.delete_prefix(prefix).await?;
    Ok(())
}
