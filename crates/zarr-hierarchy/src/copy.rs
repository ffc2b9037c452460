//! Copying and moving nodes with everything below them, object by object.

use std::cmp::Reverse;

use futures_util::stream;
use zarr_array::meta::DocumentName;
use zarr_array::meta::consolidated::ConsolidatedForm;
use zarr_array::meta::path::check_new_path;
use zarr_array::node::{self, Writing};
use zarr_array::traits::store::Listed;
use zarr_array::traits::{Key, Limits, Prefix, StoreErrorKind};
use zarr_array::{ArrayErrorKind, ConsolidatedPolicy, ExistingNode, Format, Storage};

use crate::erase::{EraseOptions, erase};
use crate::error::{HierarchyError, HierarchyResult, prefix_of};
use crate::group::Group;
use crate::objects::{Moved, Transfer, TransferError, whole};
use crate::overlap::{is_same_store, overlap};

/// Options for copying nodes.
#[derive(Debug, Clone, Default)]
pub struct CopyOptions {
    existing: ExistingNode,
    at_once: Option<usize>,
    writing: Writing,
}

impl CopyOptions {
    /// Refuses an existing destination, and keeps consolidated metadata above it up to date.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what happens to an existing node at the destination.
    #[must_use]
    pub fn existing(mut self, existing: ExistingNode) -> Self {
        self.existing = existing;
        self
    }

    /// Sets how many objects are copied at once. Each is held in memory. The default is what the stores recommend, at most
    /// 16.
    #[must_use]
    pub fn at_once(mut self, objects: usize) -> Self {
        self.at_once = Some(objects.max(1));
        self
    }

    /// Sets what happens to consolidated metadata above the destination.
    #[must_use]
    pub fn consolidated(mut self, consolidated: ConsolidatedPolicy) -> Self {
        self.writing.consolidated = consolidated;
        self
    }

    fn transfer(&self, from: &Storage, to: &Storage) -> Transfer {
        let transfer = Transfer::new(from.clone(), to.clone());
        self.at_once.map_or(transfer.clone(), |objects| transfer.at_once(objects))
    }
}

/// The result of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CopyReport {
    /// The number of metadata documents.
    pub documents: u64,
    /// The number of other objects, such as chunks.
    pub objects: u64,
    /// The sum of their sizes in bytes.
    pub bytes: u64,
}

/// Copies the node at `path` with everything below it to `to_path`, object by object, within a store or to another one.
/// Nothing is decoded, so objects of unknown kinds are copied as well.
///
/// Documents are copied last, and the document of the node itself after all others, so an interrupted copy leaves no
/// incomplete node. Consolidated metadata of format 2 follows.
///
/// A node that is to be [replaced](CopyOptions::existing) is erased after the source has been listed, and only if it
/// shares no objects with the source. Two handles that were opened separately for one directory are recognised. If the
/// names of documents do not decide, an object is put into the destination for a moment.
///
/// # Errors
/// [`NotFound`](ArrayErrorKind::NotFound) if there is no node, or the store does not list it;
/// [`Exists`](ArrayErrorKind::Exists) if there is a node at the destination, and as [`Group::create_group`];
/// [`InvalidArgument`](ArrayErrorKind::InvalidArgument) if one of source and destination contains the other;
/// [`Unsupported`](ArrayErrorKind::Unsupported) if the source cannot list, the destination cannot be written, or a node
/// is to be replaced in a store that cannot list; and those of the stores.
pub async fn copy(
    storage: impl Into<Storage>,
    path: &str,
    to: impl Into<Storage>,
    to_path: &str,
    options: &CopyOptions,
) -> HierarchyResult<CopyReport> {
    let (from, to) = (storage.into(), to.into());
    let (source, target) = (prefix_of(&from, path)?, prefix_of(&to, to_path)?);
    copy_at(&from, &source, &to, &target, options).await
}

async fn copy_at(
    from: &Storage,
    source: &Prefix,
    to: &Storage,
    target: &Prefix,
    options: &CopyOptions,
) -> HierarchyResult<CopyReport> {
    let at_source = |e: HierarchyError| e.at(from, &source.node_path());
    let at_target = |e: HierarchyError| e.at(to, &target.node_path());
    let format = source_format(from, source, &options.writing.limits).await.map_err(at_source)?;
    check(from, source, to, target).map_err(at_target)?;
    let objects = list(from, source).await.map_err(at_source)?;
    let stages = Stages::of(source, &objects).map_err(at_source)?;
    make_room(from, source, &objects, to, target, options).await.map_err(at_target)?;
    let mut created = node::create_above(to, target, format, &options.writing).await?;
    let way = Way { transfer: options.transfer(from, to), source, target };
    let mut moved = way.take(&stages.objects).await?;
    for documents in &stages.documents {
        moved += way.take(documents).await?;
    }
    let own = last(from, to, target, &stages.own.key).await.map_err(at_target)?;
    moved += way.take(&stages.consolidated).await?;
    let documents: Vec<&Listed> = stages.documents.iter().flatten().copied().chain([stages.own]).collect();
    let nodes = documents.iter().map(|document| self::moved(source, target, &document.key.parent()));
    created.extend(nodes.collect::<HierarchyResult<Vec<_>>>()?);
    created.sort_unstable();
    created.dedup();
    node::refresh(to, target, &created, format, &options.writing).await?;
    Ok(CopyReport {
        documents: documents.len() as u64,
        objects: (objects.len() - documents.len()) as u64,
        bytes: moved.bytes + own,
    })
}

/// Returns the format of the node at the source.
async fn source_format(from: &Storage, source: &Prefix, limits: &Limits) -> HierarchyResult<Format> {
    let format = node::documents(from, source, None, limits).await?.format();
    format.ok_or_else(|| HierarchyError::not_found("there is no node"))
}

/// Makes the checks that need no look at the objects.
fn check(from: &Storage, source: &Prefix, to: &Storage, target: &Prefix) -> HierarchyResult<()> {
    to.check_writable()?;
    from.check_listable()?;
    check_new_path(&target.node_path())?;
    let nested = source.as_str().starts_with(target.as_str()) || target.as_str().starts_with(source.as_str());
    if nested && is_same_store(from, to) { Err(one_in_the_other(source)) } else { Ok(()) }
}

fn one_in_the_other(source: &Prefix) -> HierarchyError {
    HierarchyError::invalid(format!("one of {:?} and the destination contains the other", source.node_path()))
}

async fn list(from: &Storage, source: &Prefix) -> HierarchyResult<Vec<Listed>> {
    from.list_all(source).await.map_err(|e| match e.kind() {
        StoreErrorKind::Unsupported => HierarchyError::new(
            ArrayErrorKind::Unsupported,
            "the store cannot list, so the objects of the node are not known",
        ),
        _ => e.into(),
    })
}

/// The objects of a node and of all nodes below it, in the order in which they are copied.
struct Stages<'a> {
    /// Objects that are not documents, such as chunks.
    objects: Vec<&'a Listed>,
    /// Documents in stages: the deepest first, and within one depth those that make nodes last.
    documents: Vec<Vec<&'a Listed>>,
    /// The document that makes the node itself.
    own: &'a Listed,
    /// Consolidated metadata of format 2. Some readers take it for a group, so it follows its group.
    consolidated: Vec<&'a Listed>,
}

impl<'a> Stages<'a> {
    /// Fails if the document that makes the node at `source` is not among the objects.
    fn of(source: &Prefix, objects: &'a [Listed]) -> HierarchyResult<Self> {
        let (consolidated, objects): (Vec<_>, Vec<_>) =
            objects.iter().partition(|object| object.key.name() == ConsolidatedForm::Object.holder());
        let (mut documents, objects): (Vec<_>, Vec<_>) =
            objects.into_iter().partition(|object| node::is_document(&object.key));
        documents.sort_by_key(|document| stage(&document.key));
        let own = documents.pop().filter(|own| own.key.parent() == *source && stage(&own.key).1);
        let own =
            own.ok_or_else(|| HierarchyError::not_found("the listing of the store has no node there"))?;
        let stages = documents.chunk_by(|a, b| stage(&a.key) == stage(&b.key)).map(<[_]>::to_vec);
        Ok(Self { objects, documents: stages.collect(), own, consolidated })
    }
}

/// The position of a document in the copy: by its depth, and whether it makes a node.
fn stage(document: &Key) -> (Reverse<usize>, bool) {
    let makes = DocumentName::of(document.name()).is_some_and(DocumentName::makes_node);
    (Reverse(document.as_str().matches('/').count()), makes)
}

/// Erases the node at the destination if the options say so and the source does not share its objects.
async fn make_room(
    from: &Storage,
    source: &Prefix,
    objects: &[Listed],
    to: &Storage,
    target: &Prefix,
    options: &CopyOptions,
) -> HierarchyResult<()> {
    if !node::documents(to, target, None, &options.writing.limits).await?.make_node() {
        return Ok(());
    }
    if options.existing != ExistingNode::Replace {
        return Err(HierarchyError::new(ArrayErrorKind::Exists, "there is a node already"));
    }
    if overlap(from, source, objects, to, target).await? {
        return Err(one_in_the_other(source));
    }
    let options = EraseOptions::new().root(true).consolidated(options.writing.consolidated);
    erase(to.clone(), &target.node_path(), &options).await
}

/// A transfer from the keys of the source to those of the destination.
struct Way<'a> {
    transfer: Transfer,
    source: &'a Prefix,
    target: &'a Prefix,
}

impl Way<'_> {
    /// Copies objects, in any order.
    async fn take(&self, objects: &[&Listed]) -> HierarchyResult<Moved> {
        let pairs = objects.iter().map(|object| {
            let below = self.source.strip(&object.key).unwrap_or_default();
            Ok(((*object).clone(), self.target.key(below)?))
        });
        let pairs: Vec<_> = pairs.collect();
        self.transfer.copy(stream::iter(pairs), |_| ()).await.map_err(|e| match e {
            TransferError::From(e) => {
                HierarchyError::from(e).at(&self.transfer.from, &self.source.node_path())
            }
            TransferError::To(e) => HierarchyError::from(e).at(&self.transfer.to, &self.target.node_path()),
            e => HierarchyError::invalid(e.to_string()),
        })
    }
}

/// Returns the place at the destination of a prefix below the source.
pub(crate) fn moved(source: &Prefix, target: &Prefix, inner: &Prefix) -> HierarchyResult<Prefix> {
    Ok(Prefix::new(format!("{target}{}", &inner.as_str()[source.as_str().len()..]))?)
}

/// Copies the document that makes the node, unless another writer has made one meanwhile. Returns its size.
async fn last(from: &Storage, to: &Storage, target: &Prefix, key: &Key) -> HierarchyResult<u64> {
    let gone = || HierarchyError::not_found("the node was erased while it was copied");
    let bytes = whole(from, key).await?.ok_or_else(gone)?;
    let size = bytes.len() as u64;
    match node::put_new(to, &target.key(key.name())?, bytes).await? {
        true => Ok(size),
        false => Err(HierarchyError::new(ArrayErrorKind::Exists, "another writer has created a node there")),
    }
}

impl Group {
    /// Copies a node below this group, with everything below it, to a path below another group, in this or another store.
    ///
    /// # Errors
    /// As [`copy`].
    pub async fn copy_to(&self, path: &str, to: &Group, to_path: &str) -> HierarchyResult<CopyReport> {
        let options = CopyOptions { writing: to.shared.options.writing.clone(), ..CopyOptions::new() };
        copy_at(self.unconsolidated(), &self.below(path)?, to.storage(), &to.child(to_path)?, &options).await
    }

    /// Moves a node below this group, with everything below it, to a path below another group: copies it and erases the
    /// original.
    ///
    /// # Errors
    /// As [`copy`] and [`erase`]. If erasing fails, both nodes exist.
    #[doc(alias = "rename")]
    pub async fn move_to(&self, path: &str, to: &Group, to_path: &str) -> HierarchyResult<CopyReport> {
        self.child(path)?;
        let copied = self.copy_to(path, to, to_path).await?;
        self.erase(path).await?;
        Ok(copied)
    }
}
