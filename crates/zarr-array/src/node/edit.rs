//! Changing the documents of a node while other writers may change them, too: they are read, changed, and put only if
//! the stored documents have not changed since.

use zarr_engine::run::{ATTEMPTS, BackOff};
use zarr_meta::consolidated::ConsolidatedForm;
use zarr_meta::{DocumentName, Documents, Format, Ignore, NodeMeta};
use zarr_traits::{Key, Prefix, Storage};

use super::put::{delete, put};
use super::step::refresh_in;
use super::{Stored, Writing, above, bare, document, stored};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};

/// Changes the stored metadata of the node at `prefix`, and returns its new metadata. `change` is called again if
/// another writer was faster. Members that it does not touch keep their bytes, and an unchanged document is not put.
///
/// The cost is a read and a put in format 3, or three concurrent reads and a put in format 2, and the cost of
/// [`refresh`](super::refresh). For a group of format 2 that includes its own consolidated metadata.
///
/// # Errors
/// [`NotFound`](ArrayErrorKind::NotFound) when no node of this format exists; [`Conflict`](ArrayErrorKind::Conflict)
/// when other writers keep changing it; [`Unsupported`](ArrayErrorKind::Unsupported) in a store without conditional
/// puts; and those of `change` and of the store. If consolidated metadata cannot be updated, the node is already
/// changed.
pub async fn edit<R>(
    storage: &Storage,
    prefix: &Prefix,
    format: Format,
    how: &Writing,
    change: impl Fn(&mut NodeMeta) -> ArrayResult<R>,
) -> ArrayResult<(NodeMeta, R)> {
    let names: Vec<DocumentName> = Documents::steps(Some(format)).concat();
    let mut back_off = BackOff::new(storage);
    for _ in 0..ATTEMPTS {
        let lock = zarr_engine::lock(storage, &prefix.key(names[0].as_str())?).await;
        let stored = stored(storage, prefix, &names, &how.limits).await?;
        let node = NodeMeta::parse(&bare(&stored), &how.limits, &mut Ignore)?;
        let mut node = node.ok_or_else(|| ArrayError::new(ArrayErrorKind::NotFound, "there is no node"))?;
        let result = change(&mut node)?;
        if put_changed(storage, prefix, &node, &stored, how).await? {
            drop(lock);
            let mut groups = above(prefix);
            if matches!(node, NodeMeta::Group(_)) && ConsolidatedForm::of(format) == ConsolidatedForm::Object
            {
                // The consolidated metadata of a group of format 2 includes its own documents.
                groups.push(prefix.clone());
            }
            refresh_in(storage, &groups, std::slice::from_ref(prefix), format, how).await?;
            return Ok((node, result));
        }
        drop(lock);
        back_off.wait().await;
    }
    Err(ArrayError::new(ArrayErrorKind::Conflict, "other writers keep changing the metadata"))
}

/// Changes one object. `change` gets its content, or `None` if it does not exist, and returns the new content, or
/// `None` to delete it. `change` is called again if another writer was faster.
///
/// # Errors
/// [`Conflict`](ArrayErrorKind::Conflict) when other writers keep changing it;
/// [`Unsupported`](ArrayErrorKind::Unsupported) in a store without conditional puts; and those of `change` and of the
/// store.
pub async fn edit_document(
    storage: &Storage,
    key: &Key,
    how: &Writing,
    change: impl Fn(Option<&[u8]>) -> ArrayResult<Option<String>>,
) -> ArrayResult<()> {
    let mut back_off = BackOff::new(storage);
    for _ in 0..ATTEMPTS {
        let lock = zarr_engine::lock(storage, key).await;
        let found = document(storage, key, &how.limits).await?;
        let old = found.as_ref().map(|(bytes, _)| &bytes[..]);
        let version = found.as_ref().map(|(_, version)| version.as_ref());
        let done = match (change(old)?, version) {
            (Some(text), _) if old == Some(text.as_bytes()) => true,
            (Some(text), version) => put(storage, key, text, version, how).await?,
            (None, Some(version)) => delete(storage, key, version, how).await?,
            (None, None) => true,
        };
        if done {
            return Ok(());
        }
        drop(lock);
        back_off.wait().await;
    }
    Err(ArrayError::new(ArrayErrorKind::Conflict, "other writers keep changing the object"))
}

/// Puts the documents that have changed. Returns `false` if another writer was faster.
async fn put_changed(
    storage: &Storage,
    prefix: &Prefix,
    node: &NodeMeta,
    stored: &[Stored],
    how: &Writing,
) -> ArrayResult<bool> {
    for (name, text) in node.documents() {
        let old = stored.iter().find(|stored| stored.name == name);
        let key = prefix.key(name.as_str())?;
        let done = match (text, old) {
            (Some(text), Some(old)) if text.as_bytes() == old.bytes => true,
            (Some(text), old) => put(storage, &key, text, old.map(|old| old.version.as_ref()), how).await?,
            (None, Some(old)) => delete(storage, &key, old.version.as_ref(), how).await?,
            (None, None) => true,
        };
        if !done {
            return Ok(false);
        }
    }
    Ok(true)
}
