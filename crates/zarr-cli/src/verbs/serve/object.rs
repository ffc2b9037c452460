//! Objects: read in parts of bounded size, all of one version.

use std::ops::Range;

use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::HeaderMap;
use hyper::body::{Bytes, Frame};
use zarr_array::traits::store::{ObjectMeta, ReadVersion};
use zarr_array::traits::{ByteRange, Key, StoreError, StoreErrorKind, StoreResult, Version};
use zarr_array::{Storage, block_on};

use super::conditions::{Wanted, etag, wanted};

pub(super) type Body = UnsyncBoxBody<Bytes, StoreError>;

/// The bytes of an object that are in memory for a connection.
const PART: u64 = 1 << 20;

/// An object, or the part of it that was requested.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) etag: Option<String>,
    pub(super) size: u64,
    pub(super) wanted: Wanted,
    /// Empty if the request is for the head only.
    pub(super) body: Body,
}

/// Reads what a request asks of an object. Returns `None` if there is no such object.
pub(super) async fn object(
    storage: &Storage,
    key: &Key,
    headers: &HeaderMap,
    only_head: bool,
) -> StoreResult<Option<Object>> {
    let Some(ObjectMeta { size, version, .. }) = head(storage, key).await? else { return Ok(None) };
    let no_size = || StoreError::new(StoreErrorKind::Unsupported, "the store does not report the size");
    let size = size.ok_or_else(|| no_size().with_key(key))?;
    let etag = version.as_ref().and_then(etag);
    let wanted = wanted(headers, etag.as_deref(), size);
    let range = match &wanted {
        Wanted::Whole => 0..size,
        Wanted::Part(range) => range.clone(),
        _ => 0..0,
    };
    let body = if only_head { empty() } else { body(storage, key, version, range).await? };
    Ok(Some(Object { etag, size, wanted, body }))
}

pub(super) fn empty() -> Body {
    full(Bytes::new())
}

pub(super) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Runs an operation of the store on a thread that may wait.
pub(super) async fn waiting<T: Send + 'static>(
    run: impl FnOnce() -> StoreResult<T> + Send + 'static,
) -> StoreResult<T> {
    let stopped = |_| StoreError::new(StoreErrorKind::Unavailable, "the server is ending");
    tokio::task::spawn_blocking(run).await.map_err(stopped)?
}

async fn head(storage: &Storage, key: &Key) -> StoreResult<Option<ObjectMeta>> {
    let (storage, key) = (storage.clone(), key.clone());
    waiting(move || block_on(storage.head(&key))).await
}

/// Reads the first part, so that an error still becomes the status of the answer; the others are read when the client
/// has taken those before. An error there ends the connection before its announced length.
async fn body(
    storage: &Storage,
    key: &Key,
    version: Option<Version>,
    range: Range<u64>,
) -> StoreResult<Body> {
    let Some((first, rest)) = next(storage, key, version.clone(), range).await? else { return Ok(empty()) };
    if rest.is_empty() {
        return Ok(full(first));
    }
    let (storage, key) = (storage.clone(), key.clone());
    let parts = stream::try_unfold((Some(first), rest), move |(read, rest)| {
        let (storage, key, version) = (storage.clone(), key.clone(), version.clone());
        async move {
            let next = match read {
                Some(first) => Some((first, rest)),
                None => next(&storage, &key, version, rest).await?,
            };
            Ok(next.map(|(bytes, rest)| (Frame::data(bytes), (None, rest))))
        }
    });
    Ok(StreamBody::new(parts).boxed_unsync())
}

/// Reads the next part of a range. Returns it with the rest of the range, or `None` at the end.
async fn next(
    storage: &Storage,
    key: &Key,
    version: Option<Version>,
    range: Range<u64>,
) -> StoreResult<Option<(Bytes, Range<u64>)>> {
    let (storage, key) = (storage.clone(), key.clone());
    let len = range.end.saturating_sub(range.start).min(PART);
    if len == 0 {
        return Ok(None);
    }
    let span = ByteRange::Span { offset: range.start, len };
    let read = waiting(move || {
        let version = version.as_ref().map_or(ReadVersion::Any, ReadVersion::Pinned);
        let reply = block_on(storage.get_ranges(&key, &[span], version, len))?;
        let bytes = reply.and_then(|reply| reply.bytes.into_iter().next());
        let gone = || StoreError::new(StoreErrorKind::Changed, "the object was deleted while it was read");
        bytes.ok_or_else(|| gone().with_key(&key))
    });
    Ok(Some((read.await?, range.start + len..range.end)))
}
