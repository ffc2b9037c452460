//! Nodes as documents in a store: read, created, changed, erased. **For authors of crates that build on arrays**, such
//! as one for groups. Others use the handles.

mod create;
mod edit;
mod erase;
mod put;
mod step;

pub use create::{ExistingNode, create, create_above, create_in_empty, put_new};
pub use edit::{edit, edit_document};
pub use erase::erase;
pub use step::{ConsolidatedPolicy, above, refresh, refresh_all};

pub use crate::cpu::on_threads;

use futures_util::future::try_join_all;
use zarr_meta::path::DOCUMENT;
use zarr_meta::{Diagnostic, DocumentName, Documents, Format, NodeMeta, Sink, Strict};
use zarr_traits::{
    ByteRange, Bytes, Key, Limits, Located, Prefix, Storage, StoreResult, Version,
    store::{Listed, ReadVersion},
};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::settings::PartialWrites;

/// The documents that make a node, in the formats that can be written.
const MAKERS: [DocumentName; 3] = [DocumentName::Node, DocumentName::Array2, DocumentName::Group2];

/// How documents are written while other writers may write them, too.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Writing {
    /// The limits on the memory and work that stored documents may demand.
    pub limits: Limits,
    /// Whether a document is put only if the stored one has not changed since it was read.
    /// [`PartialWrites::Unchecked`] is for a single writer.
    pub partial_writes: PartialWrites,
    /// How consolidated metadata in the groups above the node is treated.
    pub consolidated: ConsolidatedPolicy,
}

/// Returns the prefix of the array at `path`.
pub(crate) fn prefix_of(storage: &Storage, path: &str) -> ArrayResult<Prefix> {
    Prefix::of_node(path).map_err(|mut e| {
        // The place names the path already.
        let _ = e.take_key();
        ArrayError::from(e).in_array(path, storage)
    })
}

/// Reads the documents of the node at `prefix`, in the order of [`Documents::steps`]: one request for `zarr.json`; if
/// it does not exist, the documents of format 2 at once.
///
/// # Errors
/// Those of the store; [`LimitExceeded`](crate::ArrayErrorKind::LimitExceeded) for a document beyond the limits.
pub async fn documents(
    storage: &Storage,
    prefix: &Prefix,
    format: Option<Format>,
    limits: &Limits,
) -> ArrayResult<Documents> {
    in_steps(storage, prefix, Documents::steps(format), limits).await
}

/// Checks that an object of a listing, neither a chunk nor a document, can be read. One that cannot, such as a link to
/// nowhere, may hide chunks. Makes a request only if the listing has no size of the object.
///
/// # Errors
/// Those of the store.
pub async fn check_stray(storage: &Storage, object: &Listed) -> StoreResult<()> {
    if object.meta.size.is_none() {
        storage.head(&object.key).await?;
    }
    Ok(())
}

async fn in_steps(
    storage: &Storage,
    prefix: &Prefix,
    steps: &[&[DocumentName]],
    limits: &Limits,
) -> ArrayResult<Documents> {
    let mut documents = Documents::new();
    for step in steps {
        let get = |name: &DocumentName| get(storage, prefix, *name, limits);
        let found = match step {
            // Needs no list of futures.
            [name] => vec![get(name).await?],
            names => try_join_all(names.iter().map(get)).await?,
        };
        for (name, bytes) in step.iter().zip(found) {
            if let Some(bytes) = bytes {
                documents.insert(*name, bytes);
            }
        }
        if documents.make_node() {
            break;
        }
    }
    Ok(documents)
}

async fn get(
    storage: &Storage,
    prefix: &Prefix,
    name: DocumentName,
    limits: &Limits,
) -> StoreResult<Option<Bytes>> {
    storage.get(&prefix.key(name.as_str())?, limits.metadata_bytes).await
}

/// Reads the metadata of the node at `prefix`, and the deviations that were tolerated. Returns `None` if no node
/// exists. A `strict` reader tolerates no deviation.
///
/// # Errors
/// Of kind [`Metadata`](crate::ArrayErrorKind::Metadata) when its documents are not valid, and those of the store.
pub async fn read(
    storage: &Storage,
    prefix: &Prefix,
    format: Option<Format>,
    limits: &Limits,
    strict: bool,
) -> ArrayResult<Option<(NodeMeta, Vec<Diagnostic>)>> {
    let documents = documents(storage, prefix, format, limits).await?;
    parsed(&documents, limits, strict)
}

/// As [`read`], for a node that is probably of the kind that the document `maker` of format 2 makes. In format 2 the
/// document of the other kind is requested only if there is no `maker`. So a node with both is read as the expected
/// kind, unless the reader is `strict`.
///
/// # Errors
/// As [`read`].
pub async fn read_expected(
    storage: &Storage,
    prefix: &Prefix,
    format: Option<Format>,
    maker: DocumentName,
    limits: &Limits,
    strict: bool,
) -> ArrayResult<Option<(NodeMeta, Vec<Diagnostic>)>> {
    let other = if maker == DocumentName::Array2 { DocumentName::Group2 } else { DocumentName::Array2 };
    let (first, second) = ([maker, DocumentName::Attributes2], [other]);
    let documents = match format {
        None if !strict => {
            in_steps(storage, prefix, &[&[DocumentName::Node], &first, &second], limits).await?
        }
        Some(Format::V2) if !strict => in_steps(storage, prefix, &[&first, &second], limits).await?,
        _ => documents(storage, prefix, format, limits).await?,
    };
    parsed(&documents, limits, strict)
}

fn parsed(
    documents: &Documents,
    limits: &Limits,
    strict: bool,
) -> ArrayResult<Option<(NodeMeta, Vec<Diagnostic>)>> {
    let mut diagnostics = Vec::new();
    let sink: &mut dyn Sink = if strict { &mut Strict } else { &mut diagnostics };
    let node = NodeMeta::parse(documents, limits, sink)?;
    Ok(node.map(|node| (node, diagnostics)))
}

/// Returns the format that a URL asks for, or `None` if it asks for none.
///
/// # Errors
/// [`Unsupported`](ArrayErrorKind::Unsupported) for a number that is no format.
pub fn format_at(located: &Located) -> ArrayResult<Option<Format>> {
    let Some(number) = located.format else { return Ok(None) };
    let unknown = || {
        let message = format!("the URL asks for format {number}, which is not known");
        ArrayError::new(ArrayErrorKind::Unsupported, message)
    };
    Format::of(number).ok_or_else(unknown).map(Some)
}

/// Returns how many documents to request from a store at once.
pub fn at_once(storage: &Storage) -> usize {
    storage.capabilities().drive.in_flight()
}

/// Whether `key` is the key of a metadata document of format 2 or 3: of a node, or consolidated metadata.
pub fn is_document(key: &Key) -> bool {
    zarr_meta::is_document(key.name())
}

/// The message for a missing node.
pub(crate) fn absent(what: &str, format: Option<Format>) -> String {
    match format {
        None => format!("there is no {what}: no {DOCUMENT}, and no document of format 2"),
        Some(format) => format!("there is no {what} of format {format}"),
    }
}

/// A document with its version in the store.
#[derive(Debug)]
pub(crate) struct Stored {
    name: DocumentName,
    bytes: Bytes,
    version: Option<Version>,
}

/// Reads the document at `key` with its version, bypassing caches.
async fn document(
    storage: &Storage,
    key: &Key,
    limits: &Limits,
) -> StoreResult<Option<(Bytes, Option<Version>)>> {
    let limit = limits.metadata_bytes;
    let reply = storage.get_ranges(key, &[ByteRange::All], ReadVersion::Report, limit).await?;
    Ok(reply.map(|reply| (reply.bytes.into_iter().next().unwrap_or_default(), reply.version)))
}

/// Reads those of the named documents that exist, bypassing caches.
pub(crate) async fn stored(
    storage: &Storage,
    prefix: &Prefix,
    names: &[DocumentName],
    limits: &Limits,
) -> ArrayResult<Vec<Stored>> {
    let get = async |name: &DocumentName| document(storage, &prefix.key(name.as_str())?, limits).await;
    let found = names.iter().zip(try_join_all(names.iter().map(get)).await?);
    let there = found.filter_map(|(name, document)| {
        document.map(|(bytes, version)| Stored { name: *name, bytes, version })
    });
    Ok(there.collect())
}

/// The documents without their versions.
pub(crate) fn bare(stored: &[Stored]) -> Documents {
    stored.iter().fold(Documents::new(), |all, one| all.with(one.name, one.bytes.clone()))
}
