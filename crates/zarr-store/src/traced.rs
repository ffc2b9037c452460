//! Traces every call, for stores that do not trace themselves.

use crate::{Trace, TracedRequest};
use zarr_traits::{
    BoxFuture, ByteRange, Storage, StoreErrorKind, StoreResult,
    store::{Answer, Capabilities, Copied, Op, Outcome, Store},
};

/// The layer that traces every call to a store when it ends. A dropped future is not traced.
///
/// Methods have the names of HTTP: `GET`, `HEAD`, `LIST`, `PUT`, `DELETE`, and `SYNC`, `ORIGIN` and `COPY`. The target is
/// the key, or the prefix, which ends in `/`. A call with several ranges is one request here, even if the store makes several.
///
/// ```
/// # use std::sync::{Arc, Mutex};
/// # use zarr_store::{MemoryStore, Trace, Traced};
/// # use zarr_traits::{Key, Storage, block_on};
/// let log = Arc::new(Mutex::new(Vec::new()));
/// let lines = log.clone();
/// let trace = Trace::new(move |request| {
///     lines.lock().unwrap().push(format!("{} {}: {}", request.method, request.target, request.status));
/// });
/// let storage = Traced::over(&Storage::from(MemoryStore::new()), trace);
/// block_on(storage.get(&Key::new("a/zarr.json")?, 100))?;
/// assert_eq!(*log.lock().unwrap(), ["GET a/zarr.json: absent"]);
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Traced {
    storage: Storage,
    trace: Trace,
}

impl Traced {
    /// Returns `storage` with every call reported to `trace`.
    pub fn over(storage: &Storage, trace: Trace) -> Storage {
        storage.overlay(Self { storage: storage.clone(), trace })
    }
}

impl Store for Traced {
    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    fn call<'a>(&'a self, mut op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            let underway = self.trace.begin(asked(&op));
            let answer = self.storage.call(op.reborrow()).await;
            let received = match (&op, &answer) {
                (Op::Read(read), Ok(_)) => read.into.len() as u64,
                _ => 0,
            };
            underway.end(answer.as_ref().map_or_else(|e| failed(e.kind()), status), received);
            answer
        })
    }
}

/// Returns the record of a request before its answer.
fn asked(op: &Op<'_>) -> TracedRequest {
    let mut request = TracedRequest::new(method(op), op.target());
    match op {
        Op::Read(read) => request.range = range(read.ranges),
        Op::Put(put) => request.sent = put.len(),
        Op::PutRanges(put) => request.sent = put.bytes.len() as u64,
        _ => {}
    }
    request
}

fn method(op: &Op<'_>) -> &'static str {
    match op {
        Op::Read(_) => "GET",
        Op::Head(_) => "HEAD",
        Op::List(_) | Op::ListDir(_) => "LIST",
        Op::Put(_) => "PUT",
        Op::PutRanges(_) => "PUT RANGES",
        Op::Delete(_) | Op::DeletePrefix(_) => "DELETE",
        Op::Sync => "SYNC",
        Op::Origin(_) => "ORIGIN",
        Op::Copy(_) => "COPY",
        _ => "OTHER",
    }
}

fn status(answer: &Answer) -> &'static str {
    match answer {
        Answer::Read(None) | Answer::Head(None) | Answer::Origin(None) => "absent",
        Answer::Copied(Copied::Absent) => "absent",
        Answer::Copied(Copied::Unable) => "unable",
        Answer::Write(Outcome::Conflict) => "conflict",
        _ => "ok",
    }
}

/// Returns the name of a kind of error.
fn failed(kind: StoreErrorKind) -> &'static str {
    match kind {
        StoreErrorKind::Unsupported => "unsupported",
        StoreErrorKind::InvalidArgument => "invalid argument",
        StoreErrorKind::Changed => "changed",
        StoreErrorKind::RangeNotSatisfiable { .. } => "range not satisfiable",
        StoreErrorKind::Uncertain => "uncertain",
        StoreErrorKind::PermissionDenied => "permission denied",
        StoreErrorKind::TooLarge { .. } => "too large",
        StoreErrorKind::LimitExceeded => "limit exceeded",
        StoreErrorKind::Unavailable => "unavailable",
        _ => "error",
    }
}

/// Returns ranges as HTTP writes them (RFC 9110, section 14.1.2), or `None` for whole objects. An empty span, which
/// HTTP does not have, ends before it starts.
fn range(ranges: &[ByteRange]) -> Option<String> {
    if matches!(ranges, [] | [ByteRange::All]) {
        return None;
    }
    let text = ranges.iter().map(|range| match *range {
        ByteRange::All => "0-".to_owned(),
        ByteRange::Suffix(n) => format!("-{n}"),
        ByteRange::Span { offset, len } => {
            let end = (u128::from(offset) + u128::from(len)).saturating_sub(1);
            format!("{offset}-{end}")
        }
    });
    Some(format!("bytes={}", text.collect::<Vec<_>>().join(",")))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use zarr_traits::{
        Key, Prefix, block_on,
        store::{PutMode, ReadVersion},
    };

    use super::*;
    use crate::MemoryStore;

    #[test]
    fn every_call_is_traced_like_a_request_of_http() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let log = told.clone();
        let trace = Trace::new(move |r: &TracedRequest| {
            assert!(r.attempt == 1 && r.began > Duration::ZERO);
            let range = r.range.clone().unwrap_or_default();
            let line = format!("{} {} {range} {} {}/{}", r.method, r.target, r.status, r.sent, r.received);
            log.lock().unwrap().push(line);
        });
        let storage = Traced::over(&Storage::from(MemoryStore::new()), trace);
        let (key, root) = (Key::new("a/k").unwrap(), Prefix::new("a/").unwrap());
        let spans = [ByteRange::Span { offset: 1, len: 2 }, ByteRange::Suffix(4)];
        let beyond = [ByteRange::Span { offset: 9, len: 1 }];
        block_on(async {
            let _ = storage.put_if(&key, &["val".into(), "ue".into()], PutMode::Create).await;
            let _ = storage.put_if(&key, &["v".into()], PutMode::Create).await;
            let _ = storage.get_ranges(&key, &spans, ReadVersion::Any, 6).await;
            let _ = storage.get(&key, 5).await;
            let _ = storage.get(&key, 4).await;
            let _ = storage.get_ranges(&key, &beyond, ReadVersion::Any, 5).await;
            let _ = storage.head(&key).await;
            let _ = storage.list(&root, None).await;
            let _ = storage.list_dir(&root).await;
            let _ = storage.delete(&key).await;
            let _ = storage.delete_prefix(&root).await;
            let _ = storage.sync().await;
            let _ = storage.head(&key).await;
            let _ = storage.get(&key, 5).await;
        });
        let expected = [
            "PUT a/k  ok 5/0",
            "PUT a/k  conflict 1/0",
            "GET a/k bytes=1-2,-4 ok 0/6",
            "GET a/k  ok 0/5",
            "GET a/k  too large 0/0",
            "GET a/k bytes=9-9 range not satisfiable 0/0",
            "HEAD a/k  ok 0/0",
            "LIST a/  ok 0/0",
            "LIST a/  ok 0/0",
            "DELETE a/k  ok 0/0",
            "DELETE a/  ok 0/0",
            "SYNC   ok 0/0",
            "HEAD a/k  absent 0/0",
            "GET a/k  absent 0/0",
        ];
        assert_eq!(*told.lock().unwrap(), expected);
    }
}
