//! The trait of stores: one method that performs operations, and a contract of numbered rules. **For store authors.**
//!
//! `zarr-conformance` checks every rule.
//!
//! 1. Futures complete on any executor, also under [`block_on`](crate::block_on) on a bare thread. A store that needs a
//!    reactor owns one.
//! 2. An absent key is `None`, for every form of range and every version asked for. Only a key without an object is
//!    absent: missing permission, a broken connection and a file that is not a regular file are errors.
//! 3. A value of zero bytes is present.
//! 4. A read returns its ranges in the order of the request. Ranges may overlap, repeat and come in any order.
//! 5. A [`Span`](crate::ByteRange::Span) that does not lie inside the object is an error of kind
//!    [`RangeNotSatisfiable`](crate::StoreErrorKind::RangeNotSatisfiable). It is never cut short.
//! 6. A [`Suffix`](crate::ByteRange::Suffix) longer than the object returns the whole object.
//! 7. All ranges of one read come from one version of the object.
//! 8. [`ReadVersion::Pinned`]: the bytes come from exactly that version, or the error is of kind
//!    [`Changed`](crate::StoreErrorKind::Changed).
//! 9. A store without versions reports none. Readers then rely on checksums. While a caller holds a version, the store
//!    gives no equal version to other content of the key, also not after a delete. A store that counts its puts uses one
//!    counter for all keys. Equal content may have an equal version, such as an entity tag that is a digest. A version says
//!    the entity tag and the time of the last change of the object, if the store knows them.
//! 10. A put is atomic, also across a crash: a reader sees the old value or the new value, whole.
//! 11. [`Outcome::Conflict`] is definite: this call changed nothing. A write that may have been applied is an error of
//!     kind [`Uncertain`](crate::StoreErrorKind::Uncertain).
//! 12. Deleting an absent key succeeds, also when a version was given.
//! 13. The prefix `a/` covers the key `a/b`. It covers neither `a` nor `ab/c`.
//! 14. A listing never hides an error. Internal objects of a store (temporary files, locks) are not listed and cannot be
//!     read by a key.
//! 15. Errors and logs never contain credentials.
//! 16. A read never holds more than the [limit](ReadBuffer::limit) of its buffer. A larger answer is an error of kind
//!     [`TooLarge`](crate::StoreErrorKind::TooLarge), raised before the memory for it is taken.
//! 17. A copy has all bytes of its object when the call returns, and is atomic as a put. [`Copied::Unable`] changes nothing.
//!     A layer that changes keys or values answers operations it does not know with [`Op::unsupported`].
//! 18. A [`PutRanges`] keeps rules 10 and 11: it changes all its ranges, or nothing. No update of another writer is lost.
//!
//! # A store
//!
//! A complete store that can be written, listed and deleted from. Each put gives the object a new version, so several
//! writers can change one object without lost updates:
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::{Mutex, PoisonError};
//! use zarr_traits::{store::*, *};
//!
//! #[derive(Debug, Default)]
//! struct Plain(Mutex<Content>);
//!
//! #[derive(Debug, Default)]
//! struct Content {
//!     objects: BTreeMap<Key, (Bytes, Version)>,
//!     puts: u64,
//! }
//!
//! impl Store for Plain {
//!     fn capabilities(&self) -> Capabilities {
//!         Capabilities::inline()
//!     }
//!
//!     fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
//!         ready(self.0.lock().unwrap_or_else(PoisonError::into_inner).answer(op))
//!     }
//! }
//!
//! impl Content {
//!     fn answer(&mut self, op: Op<'_>) -> StoreResult<Answer> {
//!         match op {
//!             Op::Read(read) => match self.objects.get(read.key) {
//!                 Some((value, version)) => read.answer(value, Some(version.clone())),
//!                 None => Ok(Answer::Read(None)),
//!             },
//!             Op::Head(head) => Ok(Answer::Head(self.objects.get(head.key).map(|(value, version)| {
//!                 ObjectMeta::new(value.len() as u64, Some(version.clone()))
//!             }))),
//!             Op::List(list) => Ok(list.answer(self.objects.keys())),
//!             Op::ListDir(list) => list.answer(self.objects.keys()),
//!             Op::Put(put) => self.put(put).map(Answer::Write),
//!             Op::Delete(delete) => Ok(Answer::Write(self.delete(delete))),
//!             Op::DeletePrefix(prefix) => {
//!                 self.objects.retain(|key, _| prefix.strip(key).is_none());
//!                 Ok(Answer::Done)
//!             }
//!             Op::Sync => Ok(Answer::Done),
//!             op => op.unsupported(),
//!         }
//!     }
//!
//!     fn put(&mut self, put: Put<'_>) -> StoreResult<Outcome> {
//!         let now = self.objects.get(put.key).map(|(_, version)| version);
//!         let holds = match put.mode {
//!             PutMode::Replace => true,
//!             PutMode::Create => now.is_none(),
//!             PutMode::IfUnchanged(version) => now == Some(version),
//!             _ => return put.unsupported_mode(),
//!         };
//!         if !holds {
//!             return Ok(Outcome::Conflict);
//!         }
//!         self.puts += 1;
//!         let version = Version::new(&self.puts.to_be_bytes()[..]);
//!         self.objects.insert(put.key.clone(), (put.parts.concat().into(), version.clone()));
//!         Ok(Outcome::Done(Some(version)))
//!     }
//!
//!     fn delete(&mut self, delete: Delete<'_>) -> Outcome {
//!         let now = self.objects.get(delete.key).map(|(_, version)| version);
//!         if now.is_some_and(|now| delete.version.is_some_and(|version| version != now)) {
//!             return Outcome::Conflict;
//!         }
//!         self.objects.remove(delete.key);
//!         Outcome::Done(None)
//!     }
//! }
//!
//! let storage = Storage::from(Plain::default());
//! let key = Key::new("a/zarr.json")?;
//! block_on(storage.put(&key, Bytes::from_static(b"{}")))?;
//! assert_eq!(block_on(storage.get(&key, 100))?.as_deref(), Some(&b"{}"[..]));
//! # Ok::<(), StoreError>(())
//! ```
//!
//! A database does the same in a transaction: it compares the version, and stores the value with the next one. The next
//! version comes from a counter that no delete turns back: a sequence, or `AUTOINCREMENT` in SQLite. Without that word SQLite
//! gives the row id of a deleted row again, and an update by `IfUnchanged` is lost.

mod answer;
mod buffer;
mod capabilities;
mod op;
mod origin;

use std::fmt::Debug;

pub use answer::{Answer, Copied, Dir, Listed, ObjectMeta, Outcome, Page, ready};
pub use buffer::{ReadBuffer, Stored};
pub use capabilities::{Capabilities, Drive};
pub use op::{CopyFrom, Delete, Head, List, ListDir, Op, Put, PutMode, PutRanges, Read, ReadVersion};
pub use origin::Origin;

use crate::error::StoreResult;
use crate::future::BoxFuture;

/// A store: byte values under keys.
///
/// A store returns the [`Answer`] of each operation that it supports, and [`Op::unsupported`] for all others. Its
/// [capabilities](Self::capabilities) state which it supports. A layer changes some operations and passes on the rest:
///
/// ```
/// use zarr_traits::{BoxFuture, Storage, StoreResult, store::{Answer, Capabilities, Op, Store}};
///
/// /// A layer that performs each sync twice.
/// #[derive(Debug)]
/// struct Careful(Storage);
///
/// impl Store for Careful {
///     fn capabilities(&self) -> Capabilities {
///         self.0.capabilities()
///     }
///
///     fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
///         match op {
///             Op::Sync => Box::pin(async {
///                 self.0.call(Op::Sync).await?;
///                 self.0.call(Op::Sync).await
///             }),
///             op => self.0.call(op),
///         }
///     }
/// }
/// ```
pub trait Store: Debug + Send + Sync + 'static {
    /// The operations that this store supports.
    fn capabilities(&self) -> Capabilities;

    /// Where the store is, for messages: a path, or a URL without credentials. `None`, the default, if it has no name.
    fn location(&self) -> Option<String> {
        None
    }

    /// Performs one operation.
    ///
    /// # Errors
    /// As the [contract](self) states; [`Unsupported`](crate::StoreErrorKind::Unsupported) for an operation that the
    /// store does not know.
    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>>;
}
