//! Storage transformers: what an array puts between itself and its store (checklist K7; none is registered yet).

use std::fmt::Debug;
use std::sync::Arc;

use crate::codec::{Configuration, Context};
use crate::error::CodecResult;
use crate::key::Prefix;
use crate::storage::Storage;

/// Wraps the storage of one array.
pub trait StorageTransformer: Debug + Send + Sync {
    /// The storage that the chunks of the array at `node` are read from and written to.
    fn wrap(&self, storage: &Storage, node: &Prefix) -> Storage;
}

/// Makes a storage transformer from its configuration.
#[derive(Debug, Clone, Copy)]
pub struct TransformerEntry {
    /// The name in metadata documents.
    pub name: &'static str,
    /// Builds it.
    pub build: fn(&mut Configuration<'_>, &Context<'_>) -> CodecResult<Arc<dyn StorageTransformer>>,
}
