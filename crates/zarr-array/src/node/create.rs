//! Creating a node: its documents, after the groups that it lies in.

use futures_util::future::try_join_all;
use zarr_meta::{DocumentName, Format, GroupMeta, Ignore, NodeMeta};
use zarr_traits::{
    ByteRange, Bytes, Key, Prefix, Storage,
    store::{Outcome, PutMode, ReadVersion},
};

use super::erase::delete_node;
use super::{MAKERS, Writing, above, bare, refresh, stored};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};

/// What happens to a node that exists where one is to be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ExistingNode {
    /// It is an error of kind [`Exists`](ArrayErrorKind::Exists).
    #[default]
    Fail,
    /// It is deleted with everything below it. Its metadata is deleted first, so that an interruption never leaves a
    /// node without its chunks. Objects without a node are not deleted: they would be taken for chunks of the new
    /// array, and are an error of kind [`Exists`](ArrayErrorKind::Exists). Objects whose names begin with a period do
    /// not count.
    Replace,
    /// It is opened if it is a node of the same kind. An array must have the same chunks: data type, fill value, grid,
    /// keys and codecs.
    Open,
}

/// Creates the node at `prefix`, after the groups above it that are not there (checklist F11, H40): an interrupted
/// creation leaves empty groups, no half node. Gives the node that is there instead when that is what `existing` wants.
///
/// With all groups there the cost is a read for each of them, three reads at once that look for a node of the other
/// format, and a put, or two in format 2 with attributes; and what [`refresh`] costs. To replace what is not there
/// costs a listing.
///
/// # Errors
/// [`Exists`](ArrayErrorKind::Exists) when there is a node, an array above it, or a group of another format above it;
/// [`InvalidArgument`](ArrayErrorKind::InvalidArgument) for a name that must not be created; those of the store. When
/// consolidated metadata cannot be kept in step the node has been created already.
pub async fn create(
    storage: &Storage,
    prefix: &Prefix,
    node: &NodeMeta,
    existing: ExistingNode,
    how: &Writing,
) -> ArrayResult<Option<NodeMeta>> {
    zarr_meta::path::check_new_path(&prefix.node_path())?;
    let format = node.format();
    let mut documents: Vec<(DocumentName, String)> =
        node.documents().into_iter().filter_map(|(name, text)| Some((name, text?))).collect();
    // The document that makes the node decides who has created it; only then attributes are put.
    documents.sort_by_key(|(name, _)| !name.makes_node());
    if format == Format::V1 || documents.is_empty() {
        return Err(ArrayError::new(ArrayErrorKind::Unsupported, "nodes of format 1 are read, not written"));
    }
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
        // What lay below it is gone as well.
        refresh(storage, prefix, std::slice::from_ref(prefix), format, how).await?;
    } else if is_node {
        return found(storage, prefix, existing, how).await;
    }
    let mut documents = documents.into_iter();
    for (name, text) in documents.by_ref().take(1) {
        if !put_new(storage, &prefix.key(name.as_str())?, text).await? {
            return found(storage, prefix, existing, how).await;
        }
    }
    if attributes && documents.len() == 0 && format == Format::V2 {
        // Nobody's so far: left behind.
        storage.delete(&prefix.key(DocumentName::Attributes2.as_str())?).await?;
    }
    for (name, text) in documents {
        storage.put(&prefix.key(name.as_str())?, text).await?;
    }
    written.push(prefix.clone());
    refresh(storage, prefix, &written, format, how).await?;
    Ok(None)
}

/// Refuses a place that holds no node, but other objects.
async fn check_empty(storage: &Storage, prefix: &Prefix) -> ArrayResult<()> {
    // A store that cannot list cannot delete what it holds either.
    if !storage.capabilities().list {
        return Ok(());
    }
    let dir = storage.list_dir(prefix).await?;
    let objects = dir.objects.iter().map(|listed| listed.key.as_str());
    let mut names = objects.chain(dir.prefixes.iter().map(Prefix::as_str));
    // Attributes that were left behind, files of the system: no chunks.
    match names.find(|name| !name[prefix.as_str().len()..].starts_with('.')) {
        None => Ok(()),
        Some(name) => {
            let message = format!("there is no node to replace, but {name:?}, which is not deleted");
            Err(ArrayError::new(ArrayErrorKind::Exists, message))
        }
    }
}

/// What comes of a node that is there already.
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

/// Creates the groups above `prefix` that are missing, the root first, and says which. Consolidated metadata is not
/// touched.
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
                // Somebody else may have created it meanwhile.
                let _ = put_new(storage, &group.key(name.as_str())?, text).await?;
            }
        }
        created.push(group);
    }
    Ok(created)
}

/// Whether there is no group of this format.
async fn look(storage: &Storage, group: &Prefix, format: Format, how: &Writing) -> ArrayResult<bool> {
    let (ours, others): (Vec<_>, Vec<_>) = MAKERS.into_iter().partition(|name| name.format() == format);
    let found = stored(storage, group, &ours, &how.limits).await?;
    let path = group.node_path();
    if !found.is_empty() {
        // A document that is broken is not ours to judge.
        let node = NodeMeta::parse(&bare(&found), &how.limits, &mut Ignore);
        return match node {
            Ok(Some(NodeMeta::Array(_))) => Err(in_the_way(format!("{path:?} is an array"))),
            _ => Ok(false),
        };
    }
    match stored(storage, group, &others, &how.limits).await?.first() {
        None => Ok(true),
        Some(other) => {
            let message =
                format!("{path:?} is a node of format {}, and this one of {format}", other.name.format());
            Err(in_the_way(message))
        }
    }
}

fn in_the_way(what: String) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Exists, format!("{what}, nothing can be created below it"))
}

/// A range without bytes: reading it tells whether there is an object, past any layer that answers from memory.
const NOTHING: ByteRange = ByteRange::Span { offset: 0, len: 0 };

/// Puts a document where there is none; false when there is one.
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
