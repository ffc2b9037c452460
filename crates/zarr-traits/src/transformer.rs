//! Storage transformers: what an array puts between itself and its store (specification, "Storage transformers"; checklist
//! K7; none is registered yet).
//!
//! A transformer sees the chunks of an array under the keys that the array gives them, and changes keys, objects, or
//! both. The document of the array never goes through it.

use std::fmt::Debug;
use std::sync::Arc;

use crate::codec::{Configuration, Context};
use crate::error::CodecResult;
use crate::key::Prefix;
use crate::registry::NamedEntry;
use crate::storage::Storage;

/// Wraps the storage of one array.
pub trait StorageTransformer: Debug + Send + Sync {
    /// The storage that the chunks of the array at `node` are read from and written to, made of `storage`: the store, or what
    /// the next transformer of the document makes of it. For a type that implements [`Store`](crate::store::Store) it is
    /// `Storage::from(layer)`.
    ///
    /// It keeps the contract of a [store](crate::store), as the array sees it: what is listed are the array's keys, in
    /// order. Below, it keeps to keys under `node`, and treats them alike wherever that lies: so that an array is erased and
    /// copied with everything below it, by who knows nothing of transformers.
    fn wrap(&self, storage: &Storage, node: &Prefix) -> Storage;
}

/// Makes a storage transformer from its configuration.
pub type TransformerEntry =
    NamedEntry<fn(&mut Configuration<'_>, &Context<'_>) -> CodecResult<Arc<dyn StorageTransformer>>>;
