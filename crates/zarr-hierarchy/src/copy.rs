//! Copying and moving nodes with all that is below them, object by object.

use std::cmp::Reverse;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::meta::DocumentName;
use zarr_array::meta::consolidated::Form;
use zarr_array::meta::path::check_new_path;
use zarr_array::node::{self, Writing};
use zarr_array::traits::{Key, Prefix, StoreErrorKind};
use zarr_array::{ArrayErrorKind, Consolidated, ExistingNode, Format, Storage};

use crate::erase::{EraseOptions, erase};
use crate::error::{HierarchyError, HierarchyResult};
use crate::group::Group;

/// How nodes are copied.
#[derive(Debug, Clone, Default)]
pub struct CopyOptions {
    existing: ExistingNode,
    at_once: Option<usize>,
    writing: Writing,
}

impl CopyOptions {
    /// Nothing may be at the destination, and consolidated metadata above it is kept up to date.
    pub fn new() -> Self {
        Self::default()
    }

    /// What becomes of a node at the destination: an error, or replaced.
    #[must_use]
    pub fn existing(mut self, existing: ExistingNode) -> Self {
        self.existing = existing;
        self
    }

    /// How many objects are copied at once, each of them in memory; by default as many as the stores say are worth it, 16
    /// at most.
    #[must_use]
    pub fn at_once(mut self, objects: usize) -> Self {
        self.at_once = Some(objects.max(1));
        self
    }

    /// What becomes of consolidated metadata above the destination.
    #[must_use]
    pub fn consolidated(mut self, consolidated: Consolidated) -> Self {
        self.writing.consolidated = consolidated;
        self
    }
}

/// What was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Copied {
    /// Documents of nodes.
    pub documents: u64,
    /// Other objects: chunks, and whatever else lies there.
    pub objects: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// Copies the node at `path` with everything below it to `to_path`, object by object, within a store or to another one.
/// Nothing is decoded, and what is not understood is copied as well.
///
/// The documents come last, and that of the node itself as the last one: an interrupted copy leaves no half node. Consolidated
/// metadata of format 2 comes behind them.
///
/// # Errors
/// [`NotFound`](ArrayErrorKind::NotFound) when there is no node; [`Exists`](ArrayErrorKind::Exists) when there is one at
/// the destination, and as [`Group::create_group`]; [`InvalidArgument`](ArrayErrorKind::InvalidArgument) when one of the
/// paths lies in the other one, in one storage; [`Unsupported`](ArrayErrorKind::Unsupported) when the source cannot list
/// or the destination cannot be written; those of the stores.
pub async fn copy(
    storage: impl Into<Storage>,
    path: &str,
    to: impl Into<Storage>,
    to_path: &str,
    options: &CopyOptions,
) -> HierarchyResult<Copied> {
    let (from, to) = (storage.into(), to.into());
    let (source, target) = (Prefix::of_node(path)?, Prefix::of_node(to_path)?);
    copy_at(&from, &source, &to, &target, options).await
}

async fn copy_at(
    from: &Storage,
    source: &Prefix,
    to: &Storage,
    target: &Prefix,
    options: &CopyOptions,
) -> HierarchyResult<Copied> {
    let at_target = |e: HierarchyError| e.at(&target.node_path());
    let format = source_format(from, source).await.map_err(|e| e.at(&source.node_path()))?;
    prepare(from, source, to, target, options).await.map_err(at_target)?;
    let keys = from.list_all(source).await.map_err(|e| match e.kind() {
        StoreErrorKind::Unsupported => HierarchyError::new(
            ArrayErrorKind::Unsupported,
            "the store cannot list, so that what belongs to the node is not known",
        ),
        _ => e.into(),
    });
    let (mut documents, objects): (Vec<Key>, Vec<Key>) =
        keys.map_err(|e| e.at(&source.node_path()))?.into_iter().partition(node::is_document);
    // The deepest first, what makes the node itself last.
    documents.sort_by_cached_key(|key| {
        let makes = DocumentName::of(key.name()).is_some_and(DocumentName::makes_node);
        (Reverse(key.as_str().matches('/').count()), makes)
    });
    let own = documents.pop();
    // Consolidated metadata of a group that is not there yet would be taken for it.
    let (consolidated, objects): (Vec<Key>, Vec<Key>) =
        objects.into_iter().partition(|key| key.name() == Form::Object.holder());
    let mut created = node::create_above(to, target, format, &options.writing).await?;
    let most = options.at_once.unwrap_or_else(|| node::at_once(from).max(node::at_once(to)).min(16));
    let mut copied = Copied {
        objects: (objects.len() + consolidated.len()) as u64,
        documents: documents.len() as u64 + 1,
        bytes: 0,
    };
    let transfers = objects.into_iter().map(|key| transfer(from, source, to, target, key));
    let mut sizes = stream::iter(transfers).buffer_unordered(most);
    while let Some(size) = sizes.try_next().await.map_err(at_target)? {
        copied.bytes += size;
    }
    for key in &documents {
        copied.bytes += transfer(from, source, to, target, key.clone()).await.map_err(at_target)?;
    }
    if let Some(own) = own {
        copied.bytes += last(from, to, target, &own).await.map_err(at_target)?;
        documents.push(own);
    }
    for key in consolidated {
        copied.bytes += transfer(from, source, to, target, key).await.map_err(at_target)?;
    }
    let nodes = documents.iter().map(|key| moved(source, target, &key.parent()));
    created.extend(nodes.collect::<HierarchyResult<Vec<_>>>()?);
    created.sort_unstable();
    created.dedup();
    node::refresh(to, target, &created, format, &options.writing).await?;
    Ok(copied)
}

/// The format of the node at the source.
async fn source_format(from: &Storage, source: &Prefix) -> HierarchyResult<Format> {
    let format = node::documents(from, source, None).await?.format();
    format.ok_or_else(|| HierarchyError::not_found("there is no node"))
}

/// Whatever can be refused is refused before anything is erased.
async fn prepare(
    from: &Storage,
    source: &Prefix,
    to: &Storage,
    target: &Prefix,
    options: &CopyOptions,
) -> HierarchyResult<()> {
    to.writer()?;
    from.lister()?;
    check_new_path(&target.node_path())?;
    let nested = source.as_str().starts_with(target.as_str()) || target.as_str().starts_with(source.as_str());
    if nested && is_one(from, to) {
        let message = format!("{:?} and the destination lie one in the other", source.node_path());
        return Err(HierarchyError::invalid(message));
    }
    let there = node::documents(to, target, None).await?.make_node();
    match options.existing {
        _ if !there => Ok(()),
        ExistingNode::Replace => {
            let options = EraseOptions::new().root(true).consolidated(options.writing.consolidated);
            erase(to.clone(), &target.node_path(), &options).await
        }
        _ => Err(HierarchyError::new(ArrayErrorKind::Exists, "there is a node already")),
    }
}

/// Whether two handles are of one storage.
fn is_one(a: &Storage, b: &Storage) -> bool {
    /// What handles of one storage share.
    #[derive(Default)]
    struct Identity;
    Arc::ptr_eq(&a.shared::<Identity>(), &b.shared::<Identity>())
}

/// The place of something below the source at the destination.
pub(crate) fn moved(source: &Prefix, target: &Prefix, inner: &Prefix) -> HierarchyResult<Prefix> {
    Ok(Prefix::new(format!("{target}{}", &inner.as_str()[source.as_str().len()..]))?)
}

/// Copies one object and gives its size.
async fn transfer(
    from: &Storage,
    source: &Prefix,
    to: &Storage,
    target: &Prefix,
    key: Key,
) -> HierarchyResult<u64> {
    let Some(bytes) = from.get(&key).await? else {
        // Deleted since it was listed.
        return Ok(0);
    };
    let size = bytes.len() as u64;
    to.put(&target.key(source.strip(&key).unwrap_or_default())?, bytes).await?;
    Ok(size)
}

/// Copies the document that makes the node, unless somebody else has made one meanwhile, and gives its size.
async fn last(from: &Storage, to: &Storage, target: &Prefix, key: &Key) -> HierarchyResult<u64> {
    let gone = || HierarchyError::not_found("the node was erased while it was copied");
    let bytes = from.get(key).await?.ok_or_else(gone)?;
    let size = bytes.len() as u64;
    match node::put_new(to, &target.key(key.name())?, bytes).await? {
        true => Ok(size),
        false => Err(HierarchyError::new(ArrayErrorKind::Exists, "there is a node by now")),
    }
}

impl Group {
    /// Copies a node below this group, with everything below it, to a path below another group, in whatever store.
    ///
    /// # Errors
    /// As [`copy`].
    pub async fn copy_to(&self, path: &str, to: &Group, to_path: &str) -> HierarchyResult<Copied> {
        let options = CopyOptions { writing: to.shared.options.writing.clone(), ..CopyOptions::new() };
        copy_at(self.store(), &self.below(path)?, to.storage(), &to.child(to_path)?, &options).await
    }

    /// Moves a node below this group, with everything below it, to a path below another group: a copy that is followed by
    /// erasing the original.
    ///
    /// # Errors
    /// As [`copy`] and [`erase`]. When erasing fails there are both.
    pub async fn move_to(&self, path: &str, to: &Group, to_path: &str) -> HierarchyResult<Copied> {
        self.child(path)?;
        let copied = self.copy_to(path, to, to_path).await?;
        self.erase(path).await?;
        Ok(copied)
    }
}
