//! Makes a node equal to another one, object by object: only what differs is written.

mod nodes;
mod pairs;

use std::pin::pin;

use futures_util::{StreamExt, TryStreamExt, future, stream};
use md5::{Digest, Md5};
use zarr_array::node::{self, Writing};
use zarr_array::traits::store::{Drive, Listed, PutMode};
use zarr_array::traits::{Bytes, Key, Prefix};
use zarr_array::{ArrayErrorKind, Format, Limits, Storage};
use zarr_hierarchy::objects::{Moved, Transfer, TransferError};

use self::nodes::{Nodes, is_document, is_valid, order};
use self::pairs::{Pair, Place, pairs};
use crate::digest::hex;
use crate::error::{CopyError, CopyErrorKind, CopyResult};
use crate::marker;
use crate::memory::Room;
use crate::pause::pause;

/// The largest number of objects at once.
const AT_ONCE: usize = 16;

/// The largest object that is compared, in bytes: it is in memory twice.
const LARGEST: u64 = 4 << 30;

/// The memory for objects under way, in bytes. A larger object is alone.
const MEMORY: u64 = 512 << 20;

/// Makes a node equal to another one with everything below it. Objects that are equal already are not written, so a mirror
/// can be repeated at any time, and costs little when little has changed.
///
/// ```
/// # use zarr_copy::zarr_hierarchy::zarr_array::{ArrayMeta, DataType, Storage, block_on, blocking::Array, standard};
/// # use zarr_store::MemoryStore;
/// use zarr_copy::Mirror;
///
/// # let (from, to) = (Storage::from(MemoryStore::new()), Storage::from(MemoryStore::new()));
/// # let meta = ArrayMeta::builder([4], DataType::Int32).chunks([2]).build()?;
/// # let array = Array::create(from.clone(), "/", meta, &standard())?;
/// # array.write(.., &[1, 2, 3, 4])?;
/// let mirror = Mirror::new(from, "/", to, "/")?;
/// assert_eq!(block_on(mirror.run(&|_, _| {}))?.new.objects, 3); // a document and two chunks
///
/// array.write(3, &[5])?;
/// let again = block_on(mirror.run(&|_, _| {}))?;
/// assert_eq!((again.changed.objects, again.unchanged.objects), (1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Chunks are written first, then the documents, those of children before those of their parents, and objects are deleted
/// last. Each step is durable before the next. So a new element is never announced before it is there; but readers meanwhile
/// may find old chunks beside new ones.
///
/// Bytes of the destination are not read where its ETag is the MD5 of the object, as S3 has it for objects of one part.
///
/// Chunks that the source does not store are deleted, because they would be read instead of the fill value; so are
/// documents that a node of the source lacks. Everything else that only the destination has stays, unless
/// [`delete`](Self::delete) is set. Only objects are deleted that the one listing held which was compared.
///
/// A link that leads nowhere, or a directory that cannot be read, does not count as absent: it is an error before
/// anything is deleted. Nothing is written or deleted behind a link to a directory below the destination: it is an error.
#[derive(Debug, Clone)]
pub struct Mirror {
    source: Place,
    there: Place,
    deletes: bool,
    by_size: bool,
    is_dry: bool,
    is_forced: bool,
}

/// The numbers of objects that a [`Mirror`] has written, compared and deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Mirrored {
    /// Objects that the destination lacked, with their bytes.
    pub new: Moved,
    /// Objects that differed.
    pub changed: Moved,
    /// Objects that were equal.
    pub unchanged: Moved,
    /// Objects that were deleted.
    pub deleted: Moved,
    /// Objects that only the destination has, and that stay.
    pub left: Moved,
}

/// A function that is called after each object, with its key below the node and its size in bytes.
pub type Mirroring<'a> = &'a (dyn Fn(&str, u64) + Sync);

/// The result of comparing all objects.
#[derive(Debug, Default)]
struct Compared {
    sum: Mirrored,
    nodes: Nodes,
    /// The documents of the source that differ, by their keys below it.
    documents: Vec<(String, Bytes)>,
    /// The objects of the destination that the source lacks, with their keys below it.
    others: Vec<Other>,
}

/// An object that only the destination has, with its key below it.
type Other = (String, Listed);

/// The outcome of a pair of objects.
enum Done {
    /// The object of the source, with its size, and the bytes of a document.
    Source {
        below: String,
        is: Is,
        size: u64,
        document: Option<Bytes>,
    },
    Other(Other),
}

/// The state of an object of the source, compared with the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    New,
    Changed,
    Unchanged,
}

impl Mirror {
    /// Makes a mirror at the node `path` of one storage for the node `source_path` of another one.
    ///
    /// # Errors
    /// [`Settings`](CopyErrorKind::Settings) for an invalid path;
    /// [`Unsupported`](ArrayErrorKind::Unsupported) if a storage cannot list, and for a destination that is read-only.
    pub fn new(
        source: impl Into<Storage>,
        source_path: &str,
        to: impl Into<Storage>,
        path: &str,
    ) -> CopyResult<Self> {
        let place = |storage: Storage, path: &str| {
            let root = Prefix::of_node(path).map_err(|e| CopyError::settings(format!("{e:#}")))?;
            storage.check_listable()?;
            Ok::<_, CopyError>(Place { storage, root })
        };
        let source = place(source.into(), source_path).map_err(CopyError::of_source)?;
        let there = place(to.into(), path)?;
        there.storage.check_writable()?;
        Ok(Self { source, there, deletes: false, by_size: false, is_dry: false, is_forced: false })
    }

    /// Sets whether to delete everything that the source lacks: nodes, and objects that belong to no node.
    #[must_use]
    pub fn delete(mut self, delete: bool) -> Self {
        self.deletes = delete;
        self
    }

    /// Sets whether objects of the same size count as equal. Nothing is read for that, but changed chunks without
    /// compression have the same size. Documents are compared in any case.
    #[must_use]
    pub fn by_size(mut self, by_size: bool) -> Self {
        self.by_size = by_size;
        self
    }

    /// Sets whether to compare only, and write nothing.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.is_dry = dry_run;
        self
    }

    /// Sets whether a document that can be read is replaced by one of the source that cannot: one that is empty or cut, for
    /// example.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.is_forced = force;
        self
    }

    /// Compares the objects, and writes those that differ.
    ///
    /// # Errors
    /// [`NotFound`](ArrayErrorKind::NotFound) if the source is no node; [`Taken`](CopyErrorKind::Taken) if one side is an
    /// unfinished copy, or if the destination is no node and has objects that would be deleted;
    /// [`Metadata`](ArrayErrorKind::Metadata) if a document of the source cannot be read, but that of the destination can,
    /// unless [`force`](Self::force) is set;
    /// [`Settings`](CopyErrorKind::Settings) if the group around the destination has another format; and those of the
    /// storages. What is written stays, and the next run goes on.
    pub async fn run(&self, progress: Mirroring<'_>) -> CopyResult<Mirrored> {
        let format = self.format().await?;
        let limits = Limits::default();
        let there = node::documents(&self.there.storage, &self.there.root, None, &limits).await?;
        if !self.is_dry {
            let Place { storage, root } = &self.there;
            node::create_above(storage, root, format, &Writing::default()).await?;
        }
        let Compared { mut sum, nodes, documents, others } = self.put_chunks(progress).await?;
        if !nodes.has_root() {
            let root = self.source.root.node_path();
            let message = format!("the listing lacks the document of the node {root:?}, which is there");
            return Err(CopyError::node(ArrayErrorKind::Conflict, message).of_source());
        }
        let is_doomed = |(below, _): &Other| self.deletes || nodes.owns(below);
        let (doomed, left): (Vec<_>, Vec<_>) = others.into_iter().partition(is_doomed);
        if let Some((_, there)) = doomed.first().filter(|_| !there.make_node()) {
            let message = format!(
                "there is no node at {:?}, so nothing is deleted there, but the source lacks {:?}",
                self.there.root.node_path(),
                there.key.as_str()
            );
            return Err(CopyError::new(CopyErrorKind::Taken, message));
        }
        (sum.deleted, sum.left) = (self.amount(&doomed).await?, self.amount(&left).await?);
        if self.is_dry {
            return Ok(sum);
        }
        if sum.new.objects + sum.changed.objects > 0 {
            self.there.storage.sync().await?;
        }
        let mut touched = self.put_documents(documents).await?;
        touched.extend(self.delete_all(&doomed, progress).await?);
        if !touched.is_empty() {
            touched.extend(node::above(&self.there.root));
            let Place { storage, root } = &self.there;
            node::refresh(storage, root, &touched, format, &Writing::default()).await?;
        }
        Ok(sum)
    }

    /// Returns the format of the source, after a look at both places.
    async fn format(&self) -> CopyResult<Format> {
        for place in [&self.source, &self.there] {
            if marker::unfinished(&place.storage, &place.root).await?.is_some() {
                let message = format!("an unfinished copy is at {:?}", place.root.node_path());
                return Err(CopyError::new(CopyErrorKind::Taken, message));
            }
        }
        let Place { storage, root } = &self.source;
        let found = node::documents(storage, root, None, &Limits::default()).await?;
        let Some(format) = found.format() else {
            let message = format!("there is no node at {:?}", root.node_path());
            return Err(CopyError::node(ArrayErrorKind::NotFound, message).of_source());
        };
        Ok(format)
    }

    /// Compares all objects, and writes those that differ, besides documents.
    async fn put_chunks(&self, progress: Mirroring<'_>) -> CopyResult<Compared> {
        let room = &Room::new(MEMORY);
        let transfer = &Transfer::new(self.source.storage.clone(), self.there.storage.clone()).at_once(1);
        let at_once =
            node::at_once(&self.source.storage).max(node::at_once(&self.there.storage)).min(AT_ONCE);
        let one = |pair: CopyResult<Pair>| async move {
            let Pair { below, source, there } = pair?;
            let (source, there) = match (source, there) {
                (Some(source), there) => (source, there),
                (None, Some(there)) => return Ok(Some(Done::Other((below, there)))),
                (None, None) => return Ok(None),
            };
            let size = size(&self.source, &source).await.map_err(CopyError::of_source)?;
            let _taken = room.take(size.saturating_mul(2)).await;
            let is_document = is_document(&below);
            let (is, document) = self.compare(&source, size, &below, there.as_ref()).await?;
            if is != Is::Unchanged && !is_document && !self.is_dry {
                let listed = stream::iter([Ok((source.clone(), self.there.key(&below)?))]);
                transfer.copy(listed, |_| {}).await.map_err(failed)?;
            }
            Ok::<_, CopyError>(Some(Done::Source { below, is, size, document }))
        };
        let mut compared = Compared::default();
        let mut all = pin!(pairs(&self.source, &self.there).map(one).buffer_unordered(at_once));
        while let Some(done) = all.try_next().await? {
            pause().await;
            let (below, is, size, bytes) = match done {
                Some(Done::Source { below, is, size, document }) => (below, is, size, document),
                Some(Done::Other(other)) => {
                    compared.others.push(other);
                    continue;
                }
                None => continue,
            };
            let sum = &mut compared.sum;
            progress(&below, size);
            let moved = Moved::new(1, size);
            match is {
                Is::New => sum.new += moved,
                Is::Changed => sum.changed += moved,
                Is::Unchanged => sum.unchanged += moved,
            }
            if let Some(bytes) = bytes {
                compared.nodes.add(&below, &bytes);
                if is != Is::Unchanged {
                    compared.documents.push((below, bytes));
                }
            }
        }
        Ok(compared)
    }

    /// Compares an object with that of the destination. Returns the bytes of a document.
    async fn compare(
        &self,
        source: &Listed,
        bytes: u64,
        below: &str,
        there: Option<&Listed>,
    ) -> CopyResult<(Is, Option<Bytes>)> {
        let is_document = is_document(below);
        let limit = if is_document { Limits::default().metadata_bytes } else { LARGEST };
        let of_source = || get(&self.source.storage, &source.key, limit);
        let Some(there) = there else {
            let document = if is_document { of_source().await.map_err(CopyError::of_source)? } else { None };
            return Ok((Is::New, document));
        };
        let mut read = None;
        if !is_document {
            if size(&self.there, there).await? != bytes {
                return Ok((Is::Changed, None));
            }
            let is_equal = self.by_size || self.is_known_equal(source, there, &mut read).await?;
            if is_equal {
                return Ok((Is::Unchanged, None));
            }
        }
        let of_source = async {
            match read {
                Some(bytes) => Ok(Some(bytes)),
                None => of_source().await.map_err(CopyError::of_source),
            }
        };
        let (one, other) = future::try_join(of_source, get(&self.there.storage, &there.key, limit)).await?;
        let is = if one == other { Is::Unchanged } else { Is::Changed };
        if is_document && is == Is::Changed && !self.is_forced {
            let [valid, other] =
                [&one, &other].map(|found| found.as_ref().is_some_and(|text| is_valid(below, text)));
            if other && !valid {
                let message = format!(
                    "the document {:?} cannot be read, but that of the destination can: it is not replaced, unless this \
                     is forced",
                    source.key.as_str()
                );
                return Err(CopyError::node(ArrayErrorKind::Metadata, message).of_source());
            }
        }
        Ok((is, one.filter(|_| is_document)))
    }

    /// Whether the ETag of the destination is the MD5 of the object of the source: then its bytes need not be read. A service
    /// has such a tag for what was put by one request without a key of the user. Another tag says nothing. The bytes of the
    /// source are left in `read` if they were needed.
    async fn is_known_equal(
        &self,
        source: &Listed,
        there: &Listed,
        read: &mut Option<Bytes>,
    ) -> CopyResult<bool> {
        let Some(tag) = digest(&self.there.storage, &there.key).await? else { return Ok(false) };
        let of_source = async {
            if let Some(own) = digest(&self.source.storage, &source.key).await? {
                return Ok(Some(own));
            }
            *read = get(&self.source.storage, &source.key, LARGEST).await?;
            Ok(read.as_deref().map(md5))
        };
        Ok(of_source.await.map_err(CopyError::of_source)? == Some(tag))
    }

    /// Counts objects of the destination and their bytes.
    async fn amount(&self, others: &[Other]) -> CopyResult<Moved> {
        let mut sum = Moved::default();
        for (_, there) in others {
            sum += Moved::new(1, size(&self.there, there).await?);
        }
        Ok(sum)
    }

    /// Writes documents, those of children first, and makes them durable. Returns the places of their nodes.
    async fn put_documents(&self, mut documents: Vec<(String, Bytes)>) -> CopyResult<Vec<Prefix>> {
        documents.sort_by(|a, b| order(&a.0).cmp(&order(&b.0)));
        let mut touched = Vec::new();
        for (below, bytes) in documents {
            let key = self.there.key(&below)?;
            let _ = self.there.storage.put_document(&key, bytes, PutMode::Replace).await?;
            touched.push(folder(&key)?);
        }
        if !touched.is_empty() {
            self.there.storage.sync().await?;
        }
        Ok(touched)
    }

    /// Deletes objects, documents first. Returns the places of nodes that lost documents.
    async fn delete_all(&self, others: &[Other], progress: Mirroring<'_>) -> CopyResult<Vec<Prefix>> {
        let mut touched = Vec::new();
        for documents in [true, false] {
            for (below, there) in others.iter().filter(|(below, _)| is_document(below) == documents) {
                self.there.storage.delete(&there.key).await?;
                progress(below, 0);
                if documents {
                    touched.push(folder(&there.key)?);
                }
            }
        }
        Ok(touched)
    }
}

/// Returns the size of a listed object. A directory is asked for it; zero if the object was deleted meanwhile.
async fn size(place: &Place, object: &Listed) -> CopyResult<u64> {
    match object.meta.size {
        Some(size) => Ok(size),
        None => Ok(place.storage.size(&object.key).await?.unwrap_or(0)),
    }
}

/// Returns the tag of an object in the network, if it has the form of an MD5.
async fn digest(storage: &Storage, key: &Key) -> CopyResult<Option<String>> {
    if storage.capabilities().drive == Drive::Inline {
        return Ok(None);
    }
    let version = storage.head(key).await?.and_then(|meta| meta.version);
    let tag = version.as_ref().and_then(|version| version.etag()).map(str::to_ascii_lowercase);
    Ok(tag.filter(|tag| tag.len() == 32 && tag.bytes().all(|byte| byte.is_ascii_hexdigit())))
}

fn md5(bytes: &[u8]) -> String {
    hex(&Md5::digest(bytes))
}

/// Returns the object at a key.
async fn get(storage: &Storage, key: &Key, limit: u64) -> CopyResult<Option<Bytes>> {
    Ok(storage.get(key, limit).await?)
}

/// Returns the place of the node whose document is at `key`.
fn folder(key: &Key) -> CopyResult<Prefix> {
    let text = key.as_str();
    Ok(Prefix::new(&text[..text.len() - key.name().len()])?)
}

fn failed(e: TransferError) -> CopyError {
    match e {
        TransferError::From(e) => CopyError::from(e).of_source(),
        TransferError::To(e) => e.into(),
        e => CopyError::new(CopyErrorKind::Differs, e.to_string()),
    }
}
