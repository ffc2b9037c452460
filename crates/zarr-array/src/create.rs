//! Creating: the document of the array, after the groups that it lies in.

use zarr_meta::ArrayMeta;
use zarr_meta::path::DOCUMENT;
use zarr_meta::v3::{GroupDocument, NodeDocument};
use zarr_traits::{Bytes, Key, Limits, Outcome, Prefix, Put, Registry, Storage};

use crate::array::Array;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::open::OpenOptions;

impl Array {
    /// Creates an array at `path` and writes its metadata; no chunk is written. Groups that it lies in and that are not
    /// there are created first (checklist F11), so that an interrupted creation leaves empty groups, no half array.
    ///
    /// # Errors
    /// [`Exists`](ArrayErrorKind::Exists) when there is a node at `path`, or an array above it;
    /// [`UnknownExtension`](ArrayErrorKind::UnknownExtension) when `registry` does not know what `meta` uses; and those
    /// of the store.
    pub async fn create(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Self> {
        let (storage, prefix) = (storage.into(), Prefix::of_node(path)?);
        Self::make(&storage, &prefix, meta, registry, false)
            .await
            .map_err(|e| e.in_array(&prefix.node_path()))
    }

    /// Creates an array at `path` in the place of whatever is there: all of it is deleted, its metadata first, so that
    /// an interruption leaves no node and not a node without its chunks (checklist F17).
    ///
    /// # Errors
    /// As [`create`](Self::create), but not when there is a node already.
    pub async fn replace(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Self> {
        let (storage, prefix) = (storage.into(), Prefix::of_node(path)?);
        Self::make(&storage, &prefix, meta, registry, true).await.map_err(|e| e.in_array(&prefix.node_path()))
    }

    /// Everything that can be refused is refused before anything is deleted.
    async fn make(
        storage: &Storage,
        prefix: &Prefix,
        meta: ArrayMeta,
        registry: &Registry,
        replace: bool,
    ) -> ArrayResult<Self> {
        zarr_meta::path::check_new_path(&prefix.node_path())?;
        let document = meta.to_text();
        let key = prefix.key(DOCUMENT)?;
        let array =
            OpenOptions::new().resolve(storage.clone(), prefix.clone(), meta, registry, Vec::new())?;
        if let Some(skipped) = array.codecs().skipped().first() {
            let message = format!("codec {skipped:?} is unknown, an array that uses it cannot be created");
            return Err(ArrayError::new(ArrayErrorKind::UnknownExtension, message));
        }
        ancestors(storage, prefix).await?;
        if replace {
            let _ = storage.writer()?.delete(&key, None).await?;
            storage.writer()?.delete_prefix(prefix).await?;
        }
        if put_new(storage, &key, document).await? {
            return Ok(array);
        }
        Err(ArrayError::new(ArrayErrorKind::Exists, "there is a node already"))
    }
}

/// Creates the groups above `prefix` that are missing, the root first.
async fn ancestors(storage: &Storage, prefix: &Prefix) -> ArrayResult<()> {
    let path = prefix.as_str();
    let ends = path.char_indices().filter(|(_, c)| *c == '/').map(|(i, _)| i + 1);
    let above = std::iter::once(0).chain(ends).filter(|end| *end < path.len());
    for end in above {
        let group = Prefix::new(&path[..end])?;
        let key = group.key(DOCUMENT)?;
        match storage.get(&key).await? {
            None => {
                let _ = put_new(storage, &key, GroupDocument::new().to_text()).await?;
            }
            Some(document) => {
                let node = NodeDocument::parse(&document, &Limits::default(), &mut zarr_meta::Ignore);
                if let Ok(NodeDocument::Array(_)) = node {
                    let message = format!("{:?} is an array, nothing can lie below it", group.node_path());
                    return Err(ArrayError::new(ArrayErrorKind::Exists, message));
                }
            }
        }
    }
    Ok(())
}

/// Puts a document where there is none; false when there is one.
async fn put_new(storage: &Storage, key: &Key, document: String) -> ArrayResult<bool> {
    let how = if storage.capabilities().put_create {
        Put::Create
    } else if storage.reader().size(key).await?.is_some() {
        return Ok(false);
    } else {
        Put::Replace
    };
    let outcome = storage.writer()?.put(key, &[Bytes::from(document)], how).await?;
    Ok(matches!(outcome, Outcome::Done(_)))
}
