//! Nodes as the documents that a store has of them: read, created, changed. **For who builds on arrays**, such as a crate of
//! groups; everybody else uses the handles.

mod create;
mod edit;
mod erase;
mod step;

pub use create::{ExistingNode, create, create_above, put_new};
pub use edit::{edit, edit_document};
pub use erase::erase;
pub use step::{Consolidated, above, refresh};

use futures_util::future::try_join_all;
use zarr_meta::path::DOCUMENT;
use zarr_meta::{Diagnostic, DocumentName, Documents, Format, NodeMeta, Sink, Strict};
use zarr_traits::{ByteRange, Bytes, Drive, If, Limits, Prefix, Reply, Storage, StoreResult, Version};

use crate::core::PartialWrites;
use crate::error::ArrayResult;

/// The documents that make a node, of any format that is written.
const MAKERS: [DocumentName; 3] = [DocumentName::Node, DocumentName::Array2, DocumentName::Group2];

/// How documents are written beside others who write them.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Writing {
    /// The limits on what stored documents may make us do.
    pub limits: Limits,
    /// Whether a document is put only if it is still what was read; [`PartialWrites::Unchecked`] is for a single writer.
    pub partial_writes: PartialWrites,
    /// What becomes of consolidated metadata above the node.
    pub consolidated: Consolidated,
}

/// Reads the documents of the node at `prefix`, in the order of [`Documents::steps`]: one request when there is a
/// `zarr.json`, else those of format 2 at once.
///
/// # Errors
/// Those of the store.
pub async fn documents(storage: &Storage, prefix: &Prefix, format: Option<Format>) -> ArrayResult<Documents> {
    let mut documents = Documents::new();
    for step in Documents::steps(format) {
        let gets = step.iter().map(|name| get(storage, prefix, *name));
        for (name, bytes) in step.iter().zip(try_join_all(gets).await?) {
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

async fn get(storage: &Storage, prefix: &Prefix, name: DocumentName) -> StoreResult<Option<Bytes>> {
    storage.get(&prefix.key(name.as_str())?).await
}

/// Reads the metadata of the node at `prefix`, and what was tolerated about it; nothing when there is no node. A `strict`
/// reader tolerates nothing.
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
    let documents = documents(storage, prefix, format).await?;
    let mut diagnostics = Vec::new();
    let sink: &mut dyn Sink = if strict { &mut Strict } else { &mut diagnostics };
    let node = NodeMeta::parse(&documents, limits, sink)?;
    Ok(node.map(|node| (node, diagnostics)))
}

/// How many documents of a store are worth asking for at once.
pub fn at_once(storage: &Storage) -> usize {
    match storage.capabilities().drive {
        Drive::Inline => 1,
        Drive::Remote { in_flight, .. } => in_flight.max(1),
    }
}

/// Whether a key is that of a document of a node of format 2 or 3.
pub fn is_document(key: &zarr_traits::Key) -> bool {
    DocumentName::of(key.name()).is_some()
}

/// The message for a node that is not there.
pub(crate) fn absent(what: &str, format: Option<Format>) -> String {
    match format {
        None => format!("there is no {what}: no {DOCUMENT}, and no document of format 2"),
        Some(format) => format!("there is no {what} of format {format}"),
    }
}

/// A document with the version that it has in the store.
#[derive(Debug)]
struct Stored {
    name: DocumentName,
    bytes: Bytes,
    version: Option<Version>,
}

async fn versioned(storage: &Storage, prefix: &Prefix, name: DocumentName) -> StoreResult<Option<Reply>> {
    let key = prefix.key(name.as_str())?;
    storage.reader().get_ranges(&key, &[ByteRange::All], If::Versioned).await
}

/// Those of the named documents that are there, past any layer that answers from memory.
async fn stored(storage: &Storage, prefix: &Prefix, names: &[DocumentName]) -> ArrayResult<Vec<Stored>> {
    let gets = names.iter().map(|name| versioned(storage, prefix, *name));
    let replies = names.iter().zip(try_join_all(gets).await?);
    let there = replies.filter_map(|(name, reply)| {
        let reply = reply?;
        Some(Stored { name: *name, bytes: reply.bytes.into_iter().next()?, version: reply.version })
    });
    Ok(there.collect())
}

/// The documents without their versions.
fn bare(stored: &[Stored]) -> Documents {
    stored.iter().fold(Documents::new(), |all, one| all.with(one.name, one.bytes.clone()))
}
