//! Storage transformers: layers between an array and its store (specification, "Storage transformers"). None is
//! registered yet.
//!
//! A transformer gets the chunks of an array under the array's keys, and changes keys, objects or both. The metadata
//! document of the array does not pass through it.

use std::fmt::Debug;

use crate::key::Prefix;
use crate::storage::Storage;

/// Wraps the storage of one array.
pub trait StorageTransformer: Debug + Send + Sync {
    /// Returns the storage for the chunks of the array at `node`. `storage` is the store, or the result of the next
    /// transformer in the document. For a layer that implements [`Store`](crate::store::Store), return
    /// `Storage::from(layer)`.
    ///
    /// The array sees a [store](crate::store) that keeps the contract; its listings return the array's keys, in order.
    /// In `storage` the transformer uses only keys under `node`. Their form must not depend on where `node` is, so that
    /// tools that do not know the transformer can copy or delete the array with everything below it.
    fn wrap(&self, storage: &Storage, node: &Prefix) -> Storage;
}
