//! One call to a store, as a layer sees it that treats all of them alike.

use zarr_traits::{ByteRange, Bytes, Dir, Filled, Outcome, Page, Reply, Stat, StoreError, StoreErrorKind};

/// The methods of the three traits of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// [`ReadStore::get_ranges`](zarr_traits::ReadStore::get_ranges).
    GetRanges,
    /// [`ReadStore::read_into`](zarr_traits::ReadStore::read_into).
    ReadInto,
    /// [`ReadStore::size`](zarr_traits::ReadStore::size).
    Size,
    /// [`ListStore::list`](zarr_traits::ListStore::list).
    List,
    /// [`ListStore::list_dir`](zarr_traits::ListStore::list_dir).
    ListDir,
    /// [`WriteStore::put`](zarr_traits::WriteStore::put).
    Put,
    /// [`WriteStore::delete`](zarr_traits::WriteStore::delete).
    Delete,
    /// [`WriteStore::delete_prefix`](zarr_traits::WriteStore::delete_prefix).
    DeletePrefix,
    /// [`WriteStore::sync`](zarr_traits::WriteStore::sync).
    Sync,
}

impl Operation {
    /// Whether it changes what is stored.
    pub fn writes(self) -> bool {
        matches!(self, Self::Put | Self::Delete | Self::DeletePrefix | Self::Sync)
    }
}

/// One call to a store.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The method.
    pub operation: Operation,
    /// The key or prefix; empty for what is about the whole store.
    pub target: &'a str,
    /// The ranges that are read.
    pub ranges: &'a [ByteRange],
    /// Bytes of the value that is put.
    pub sent: u64,
}

impl<'a> Call<'a> {
    pub(crate) fn new(operation: Operation, target: &'a str) -> Self {
        Self { operation, target, ranges: &[], sent: 0 }
    }

    pub(crate) fn reading(self, ranges: &'a [ByteRange]) -> Self {
        Self { ranges, ..self }
    }

    /// The error, with what it is about.
    pub(crate) fn blamed(&self, error: StoreError) -> StoreError {
        if self.target.is_empty() { error } else { error.with_key(self.target) }
    }

    pub(crate) fn sending(self, parts: &[Bytes]) -> Self {
        Self { sent: parts.iter().map(|part| part.len() as u64).sum(), ..self }
    }
}

/// What a call is answered with.
pub(crate) trait Answer {
    /// What came of it, in a word.
    fn status(&self) -> &'static str {
        "ok"
    }

    /// Bytes of values that came.
    fn received(&self) -> u64 {
        0
    }

    /// Takes a byte away from what came.
    fn shorten(&mut self) {}
}

fn presence<T>(answer: Option<&T>) -> &'static str {
    if answer.is_some() { "ok" } else { "absent" }
}

impl Answer for Option<Reply> {
    fn status(&self) -> &'static str {
        presence(self.as_ref())
    }

    fn received(&self) -> u64 {
        self.iter().flat_map(|reply| &reply.bytes).map(|bytes| bytes.len() as u64).sum()
    }

    fn shorten(&mut self) {
        let bytes = self.iter_mut().flat_map(|reply| &mut reply.bytes);
        if let Some(last) = bytes.rev().find(|bytes| !bytes.is_empty()) {
            last.truncate(last.len() - 1);
        }
    }
}

impl Answer for Option<Filled> {
    fn status(&self) -> &'static str {
        presence(self.as_ref())
    }

    fn received(&self) -> u64 {
        self.as_ref().map_or(0, |filled| filled.len as u64)
    }

    fn shorten(&mut self) {
        if let Some(filled) = self {
            filled.len = filled.len.saturating_sub(1);
        }
    }
}

impl Answer for Option<Stat> {
    fn status(&self) -> &'static str {
        presence(self.as_ref())
    }
}

impl Answer for Page {}

impl Answer for Dir {}

impl Answer for Outcome {
    fn status(&self) -> &'static str {
        if *self == Self::Conflict { "conflict" } else { "ok" }
    }
}

impl Answer for () {}

/// A kind of error in a word or two.
pub(crate) fn failed(kind: StoreErrorKind) -> &'static str {
    match kind {
        StoreErrorKind::Unsupported => "unsupported",
        StoreErrorKind::InvalidArgument => "invalid argument",
        StoreErrorKind::Changed => "changed",
        StoreErrorKind::RangeNotSatisfiable { .. } => "range not satisfiable",
        StoreErrorKind::Uncertain => "uncertain",
        StoreErrorKind::PermissionDenied => "permission denied",
        StoreErrorKind::LimitExceeded => "limit exceeded",
        StoreErrorKind::Unavailable => "unavailable",
        _ => "error",
    }
}

/// The reading half of a layer that has a `storage`, says what it `can` do, and treats all calls alike: by a macro that
/// gets the layer, the [`Call`], and an expression that makes it.
macro_rules! reads_around {
    ($layer:ty, $around:ident) => {
        impl zarr_traits::ReadStore for $layer {
            fn capabilities(&self) -> zarr_traits::Capabilities {
                self.can()
            }

            fn get_ranges<'a>(
                &'a self,
                key: &'a zarr_traits::Key,
                ranges: &'a [zarr_traits::ByteRange],
                condition: zarr_traits::If<'a>,
            ) -> zarr_traits::BoxFuture<'a, zarr_traits::StoreResult<Option<zarr_traits::Reply>>> {
                Box::pin(async move {
                    let call = Call::new(Operation::GetRanges, key.as_str()).reading(ranges);
                    $around!(self, call, self.storage.reader().get_ranges(key, ranges, condition))
                })
            }

            fn read_into<'a>(
                &'a self,
                key: &'a zarr_traits::Key,
                ranges: &'a [zarr_traits::ByteRange],
                condition: zarr_traits::If<'a>,
                into: &'a mut [u8],
            ) -> zarr_traits::BoxFuture<'a, zarr_traits::StoreResult<Option<zarr_traits::Filled>>> {
                Box::pin(async move {
                    let call = Call::new(Operation::ReadInto, key.as_str()).reading(ranges);
                    $around!(self, call, self.storage.reader().read_into(key, ranges, condition, into))
                })
            }

            fn size<'a>(
                &'a self,
                key: &'a zarr_traits::Key,
            ) -> zarr_traits::BoxFuture<'a, zarr_traits::StoreResult<Option<zarr_traits::Stat>>> {
                Box::pin(async move {
                    let call = Call::new(Operation::Size, key.as_str());
                    $around!(self, call, self.storage.reader().size(key))
                })
            }
        }
    };
}

/// The listing half.
macro_rules! lists_around {
    ($layer:ty, $around:ident) => {
        impl zarr_traits::ListStore for $layer {
            fn list<'a>(
                &'a self,
                prefix: &'a zarr_traits::Prefix,
                after: Option<&'a zarr_traits::Key>,
            ) -> zarr_traits::BoxFuture<'a, zarr_traits::StoreResult<zarr_traits::Page>> {
                Box::pin(async move {
                    let call = Call::new(Operation::List, prefix.as_str());
                    $around!(self, call, self.storage.lister()?.list(prefix, after))
                })
            }

            fn list_dir<'a>(
                &'a self,
                prefix: &'a zarr_traits::Prefix,
            ) -> zarr_traits::BoxFuture<'a, zarr_traits::StoreResult<zarr_traits::Dir>> {
                Box::pin(async move {
                    let call = Call::new(Operation::ListDir, prefix.as_str());
                    $around!(self, call, self.storage.lister()?.list_dir(prefix))
                })
            }
        }
    };
}

/// The writing half.
macro_rules! writes_around {
    ($layer:ty, $around:ident) => {
        impl zarr_traits::WriteStore for $layer {
            fn put<'a>(
                &'a self,
                key: &'a zarr_traits::Key,
                parts: &'a [zarr_traits::Bytes],
                how: zarr_traits::Put<'a>,
            ) -> zarr_traits::BoxFuture<'a, zarr_traits::StoreResult<zarr_traits::Outcome>> {
                Box::pin(async move {
                    let call = Call::new(Operation::Put, key.as_str()).sending(parts);
                    $around!(self, call, self.storage.writer()?.put(key, parts, how))
                })
            }

            fn delete<'a>(
                &'a self,
                key: &'a zarr_traits::Key,
                version: Option<&'a zarr_traits::Version>,
            ) -> zarr_traits::BoxFuture<'a, zarr_traits::StoreResult<zarr_traits::Outcome>> {
                Box::pin(async move {
                    let call = Call::new(Operation::Delete, key.as_str());
                    $around!(self, call, self.storage.writer()?.delete(key, version))
                })
            }

            fn delete_prefix<'a>(
                &'a self,
                prefix: &'a zarr_traits::Prefix,
            ) -> zarr_traits::BoxFuture<'a, zarr_traits::StoreResult<()>> {
                Box::pin(async move {
                    let call = Call::new(Operation::DeletePrefix, prefix.as_str());
                    $around!(self, call, self.storage.writer()?.delete_prefix(prefix))
                })
            }

            fn sync(&self) -> zarr_traits::BoxFuture<'_, zarr_traits::StoreResult<()>> {
                Box::pin(async move {
                    let call = Call::new(Operation::Sync, "");
                    $around!(self, call, self.storage.writer()?.sync())
                })
            }
        }
    };
}

/// For a layer with a method `around` that is given the call and its future.
macro_rules! once {
    ($layer:expr, $call:expr, $future:expr) => {
        $layer.around($call, $future).await
    };
}

/// For a layer that passes calls on as they are.
macro_rules! pass {
    ($layer:expr, $call:expr, $future:expr) => {{
        let _ = $call;
        $future.await
    }};
}

pub(crate) use {lists_around, once, pass, reads_around, writes_around};
