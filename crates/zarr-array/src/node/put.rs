//! Putting and deleting a document, as an existing one allows.

use zarr_traits::store::{Outcome, PutMode};
use zarr_traits::{Key, Storage, Version};

use super::Writing;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult, unsafe_update};
use crate::settings::PartialWrites;

/// Puts a document if it does not exist, or replaces the version `old`. Returns `false` if another writer changed it.
pub(super) async fn put(
    storage: &Storage,
    key: &Key,
    text: String,
    old: Option<Option<&Version>>,
    how: &Writing,
) -> ArrayResult<bool> {
    if text.len() as u64 > how.limits.metadata_bytes {
        let most = how.limits.metadata_bytes;
        let message =
            format!("the document would have {} bytes, but readers accept at most {most}", text.len());
        return Err(ArrayError::new(ArrayErrorKind::LimitExceeded, message));
    }
    let can = storage.capabilities();
    let put = match old {
        _ if how.partial_writes == PartialWrites::Unchecked => PutMode::Replace,
        None if can.put_create => PutMode::Create,
        Some(Some(version)) if can.put_if => PutMode::IfUnchanged(version),
        _ => return Err(unsafe_update()),
    };
    let outcome = storage.put_document(key, text, put).await?;
    Ok(matches!(outcome, Outcome::Done(_)))
}

/// Deletes a document. In a store without conditional deletes, puts an empty document instead.
pub(super) async fn delete(
    storage: &Storage,
    key: &Key,
    old: Option<&Version>,
    how: &Writing,
) -> ArrayResult<bool> {
    let version = match old {
        _ if how.partial_writes == PartialWrites::Unchecked => None,
        Some(version) if storage.capabilities().delete_if => Some(version),
        _ => return put(storage, key, "{}".to_owned(), Some(old), how).await,
    };
    let outcome = storage.delete_if(key, version).await?;
    Ok(matches!(outcome, Outcome::Done(_)))
}
