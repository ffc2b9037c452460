//! Creating a node: writes the documents of missing parent groups, then those of the node.

use futures_util::future::try_join_all;
use zarr_meta::{DocumentName, Format, GroupMeta, Ignore, NodeMeta};
use zarr_traits::{
    ByteRange, Bytes, Key, Prefix, Storage,
    store::{Outcome, PutMode, ReadVersion},
};

use super::erase::delete_node;
use super::{MAKERS, Writing, above, bare, refresh, stored};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};

/// How an existing node is treated where a node is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ExistingNode {
    /// It is an error of kind [`Exists`](ArrayErrorKind::Exists).
    #[default]
    #[doc(alias = "refuse")]
    Fail,
    /// It is deleted with everything below it. Its metadata is deleted first, so that an interruption never leaves a
    /// node without its chunks. Objects without a node are not deleted but are an error of kind
    /// [`Exists`](ArrayErrorKind::Exists), because readers would take them for chunks of the new array. Objects whose
    /// names begin with a period are ignored.
    Replace,
    /// It is opened if it is a node of the same kind. An array must have the same data type, fill value, chunk grid,
    /// chunk keys and codecs.
    Open,
}

/// Creates the node at `prefix`, after the missing groups above it: an interruption can leave empty groups, but no
/// incomplete node. Returns an existing node if `existing` is [`ExistingNode::Open`].
///
/// If all groups exist, the cost is one read for each group, three concurrent reads that look for a node of the other
/// format, one put (two in format 2 with attributes), and the cost of [`refresh`]. `Replace` without an existing node
/// also lists.
///
/// # Errors
/// [`Exists`](ArrayErrorKind::Exists) when a node exists, or above it an array or a group of another format;
/// [`InvalidArgument`](ArrayErrorKind::InvalidArgument) for an invalid name; and those of the store. If consolidated
/// metadata cannot be updated, the node is already created.
pub async fn create(
    storage: &Storage,
    prefix: &Prefix,
    node: &NodeMeta,
    existing: ExistingNode,
    how: &Writing,
) -> ArrayResult<Option<NodeMeta>> {
    zarr_meta::path::check_new_path(&prefix.node_path())?;
    let format = node.format();
    let documents = new_documents(node)?;
    let replace = existing == ExistingNode::Replace;
    let names = MAKERS.into_iter().chain([DocumentName::Attributes2]);
    let names: Vec<_> = names.filter(|name| replace || *name != documents[0].0).collect();
    let beside = stored(storage, prefix, &names, &how.limits).await?;
    let attributes = beside.iter().any(|beside| !beside.name.makes_node());
    let is_node = beside.iter().any(|beside| beside.name.makes_node());
    if replace && !is_node {
        check_empty(storage, prefix).await?;
    }
    let mut written = create_above(storage, prefix, format, how).await?;
    if replace && is_node {
        delete_node(storage, prefix, &MAKERS).await?;
        // The nodes below it are deleted as well.
        refresh(storage, prefix, std::slice::from_ref(prefix), format, how).await?;
    } else if is_node {
        return found(storage, prefix, existing, how).await;
    }
    let has_attributes = documents.len() > 1;
    if !put_documents(storage, prefix, documents).await? {
        return found(storage, prefix, existing, how).await;
    }
    if attributes && !has_attributes && format == Format::V2 {
        // Attributes without a node, left behind by an earlier one.
        storage.delete(&prefix.key(DocumentName::Attributes2.as_str())?).await?;
    }
    written.push(prefix.clone());
    refresh(storage, prefix, &written, format, how).await?;
    Ok(None)
}

/// Creates a node where the caller knows that there are no objects, below groups that exist: nothing is looked for, and
/// consolidated metadata stays as it is.
///
/// # Errors
/// [`Exists`](ArrayErrorKind::Exists) when another writer has created the node meanwhile;
/// [`InvalidArgument`](ArrayErrorKind::InvalidArgument) for an invalid name; and those of the store.
pub async fn create_in_empty(storage: &Storage, prefix: &Prefix, node: &NodeMeta) -> ArrayResult<()> {
    zarr_meta::path::check_new_path(&prefix.node_path())?;
    match put_documents(storage, prefix, new_documents(node)?).await? {
        true => Ok(()),
        false => Err(ArrayError::new(ArrayErrorKind::Exists, "there is a node already")),
    }
}

/// Returns the documents of a new node, beginning with the one that makes the node.
fn new_documents(node: &NodeMeta) -> ArrayResult<Vec<(DocumentName, String)>> {
    let mut documents: Vec<(DocumentName, String)> =
        node.documents().into_iter().filter_map(|(name, text)| Some((name, text?))).collect();
    documents.sort_by_key(|(name, _)| !name.makes_node());
    if node.format() == Format::V1 || documents.is_empty() {
        return Err(ArrayError::new(
            ArrayErrorKind::Unsupported,
            "nodes of format 1 can be read, but not written",
        ));
    }
    Ok(documents)
}

/// Puts the documents of a new node. The first one decides which of several writers creates the node; attributes are put
/// after that. Returns `false` if another writer was first.
async fn put_documents(
    storage: &Storage,
    prefix: &Prefix,
    documents: Vec<(DocumentName, String)>,
) -> ArrayResult<bool> {
    let mut documents = documents.into_iter();
    for (name, text) in documents.by_ref().take(1) {
        if !put_new(storage, &prefix.key(name.as_str())?, text).await? {
            return Ok(false);
        }
    }
    for (name, text) in documents {
        storage.put(&prefix.key(name.as_str())?, text).await?;
    }
    Ok(true)
}

/// Checks that a place without a node holds no other objects.
async fn check_empty(storage: &Storage, prefix: &Prefix) -> ArrayResult<()> {
    // A store that cannot list cannot delete these objects either.
    if !storage.capabilities().list {
        return Ok(());
    }
    let dir = storage.list_dir(prefix).await?;
    let objects = dir.objects.iter().map(|listed| listed.key.as_str());
    let mut names = objects.chain(dir.prefixes.iter().map(Prefix::as_str));
    // Names with a period are attributes that were left behind or system files, not chunks.
    match names.find(|name| !name[prefix.as_str().len()..].starts_with('.')) {
        None => Ok(()),
        Some(name) => {
            let message = format!("{name:?} exists but belongs to no node, so it is not replaced");
            Err(ArrayError::new(ArrayErrorKind::Exists, message))
        }
    }
}

/// Returns the result for an existing node.
async fn found(
    storage: &Storage,
    prefix: &Prefix,
    existing: ExistingNode,
    how: &Writing,
) -> ArrayResult<Option<NodeMeta>> {
    let exists = || ArrayError::new(ArrayErrorKind::Exists, "there is a node already");
    if existing != ExistingNode::Open {
        return Err(exists());
    }
    let names: Vec<DocumentName> = MAKERS.into_iter().chain([DocumentName::Attributes2]).collect();
    let stored = stored(storage, prefix, &names, &how.limits).await?;
    NodeMeta::parse(&bare(&stored), &how.limits, &mut Ignore)?.ok_or_else(exists).map(Some)
}

/// Creates the missing groups above `prefix`, the root first, and returns their prefixes. Leaves consolidated metadata
/// alone.
///
/// # Errors
/// [`Exists`](ArrayErrorKind::Exists) when one of them is an array or of another format, and those of the store.
pub async fn create_above(
    storage: &Storage,
    prefix: &Prefix,
    format: Format,
    how: &Writing,
) -> ArrayResult<Vec<Prefix>> {
    let groups = above(prefix);
    let looks = groups.iter().map(|group| look(storage, group, format, how));
    let missing: Vec<bool> = try_join_all(looks).await?;
    let mut created = Vec::new();
    for (group, _) in groups.into_iter().zip(missing).filter(|(_, missing)| *missing) {
        for (name, text) in GroupMeta::new(format)?.documents() {
            if let Some(text) = text {
                // Another writer may have created it meanwhile.
                let _ = put_new(storage, &group.key(name.as_str())?, text).await?;
            }
        }
        created.push(group);
    }
    Ok(created)
}

/// Whether no group of this format exists.
async fn look(storage: &Storage, group: &Prefix, format: Format, how: &Writing) -> ArrayResult<bool> {
    let (ours, others): (Vec<_>, Vec<_>) = MAKERS.into_iter().partition(|name| name.format() == format);
    let found = stored(storage, group, &ours, &how.limits).await?;
    let path = group.node_path();
    if !found.is_empty() {
        // An invalid document also counts as a group here.
        let node = NodeMeta::parse(&bare(&found), &how.limits, &mut Ignore);
        return match node {
            Ok(Some(NodeMeta::Array(_))) => Err(in_the_way(format!("{path:?} is an array"))),
            _ => Ok(false),
        };
    }
    match stored(storage, group, &others, &how.limits).await?.first() {
        None => Ok(true),
        Some(other) => {
            let message = format!("{path:?} is a node of format {}, not of {format}", other.name.format());
            Err(in_the_way(message))
        }
    }
}

fn in_the_way(what: String) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Exists, format!("{what}: the new node cannot be below it"))
}

/// A range without bytes. Reading it tells whether an object exists, bypassing caches.
const NOTHING: ByteRange = ByteRange::Span { offset: 0, len: 0 };

/// Puts a document if none exists at `key`. Returns `false` if one exists.
///
/// # Errors
/// Those of the store.
pub async fn put_new(storage: &Storage, key: &Key, document: impl Into<Bytes>) -> ArrayResult<bool> {
    let how = if storage.capabilities().put_create {
        PutMode::Create
    } else if storage.get_ranges(key, &[NOTHING], ReadVersion::Report, 0).await?.is_some() {
        return Ok(false);
    } else {
        PutMode::Replace
    };
    let outcome = storage.put_if(key, &[document.into()], how).await?;
    Ok(matches!(outcome, Outcome::Done(_)))
}
