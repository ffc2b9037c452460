//! Reads of ranges of one object by several callers, joined into one request.
//!
//! Neighbouring chunks are neighbouring keys, and the engine joins only ranges of one key. A read puts its ranges into the
//! list of its object and waits for some turns of its executor. Meanwhile the other reads in flight do the same. The first
//! that sees the list grow no more takes it, merges the ranges and starts the requests, whose answers all reads of the list
//! share. A read that is dropped leaves the others alive: each of them can drive the request on.

use std::collections::HashMap;
use std::future::poll_fn;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::Poll;

use futures_util::FutureExt;
use futures_util::future::{Shared, join_all};
use zarr_traits::lock::unpoisoned;
use zarr_traits::strided::to_usize;
use zarr_traits::{
    BoxFuture, ByteRange, Bytes, Fetching, Key, Storage, StoreError, StoreErrorKind, StoreId, StoreResult,
    store::{ObjectMeta, ReadVersion},
};

/// The lists of the reads that wait for their turn, by object.
#[derive(Debug, Default)]
pub(super) struct Joined(Mutex<Lists>);

/// The turns in which the list must not grow. In the first one, an executor that starts its futures one by one may not have polled
/// the second.
const QUIET: u32 = 2;

type Lists = HashMap<(StoreId, Key), Vec<Weak<Waiting>>>;

/// A read that waits for its turn.
struct Waiting {
    spans: Vec<Range<u64>>,
    requests: OnceLock<Arc<[Request]>>,
}

/// One request for the merged ranges of several reads.
struct Request {
    span: Range<u64>,
    answer: Shared<BoxFuture<'static, Found>>,
}

/// The bytes of a request, or `None` if there is no such object.
type Found = StoreResult<Option<(Bytes, ObjectMeta)>>;

impl std::fmt::Debug for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Waiting({:?})", self.spans)
    }
}

impl Joined {
    /// Returns the bytes of `spans` of the object at `key`, and its version; or `None` if there is no such object.
    pub(super) async fn read(
        &self,
        storage: &Storage,
        key: &Key,
        spans: &[Range<u64>],
    ) -> StoreResult<Option<(Vec<Bytes>, ObjectMeta)>> {
        let waiting = Arc::new(Waiting { spans: spans.to_vec(), requests: OnceLock::new() });
        let list = (storage.store_id(), key.clone());
        unpoisoned(self.0.lock()).entry(list.clone()).or_default().push(Arc::downgrade(&waiting));
        self.gathered(&list, &waiting).await;
        let fetching = storage.capabilities().drive.fetching();
        {
            // Another thread that takes the list starts its requests before this one can see that the list is gone.
            let mut lists = unpoisoned(self.0.lock());
            if waiting.requests.get().is_none() {
                start(storage, key, fetching, &lists.remove(&list).unwrap_or_default());
            }
        }
        let requests = waiting.requests.get().cloned().unwrap_or_default();
        let needed = |request: &&Request| spans.iter().any(|span| holds(&request.span, span));
        let answers: Vec<_> =
            requests.iter().filter(needed).map(|r| r.answer.clone().map(|a| (r.span.clone(), a))).collect();
        let mut parts = Vec::with_capacity(answers.len());
        let mut meta = ObjectMeta::default();
        for (span, answer) in join_all(answers).await {
            let Some((bytes, of)) = answer? else { return Ok(None) };
            meta = of;
            parts.push((span, bytes));
        }
        let part = |span: &Range<u64>| {
            let found = parts.iter().find(|(whole, _)| holds(whole, span));
            let (whole, bytes) = found.ok_or_else(unanswered)?;
            Ok(bytes.slice(to_usize(span.start - whole.start)..to_usize(span.end - whole.start)))
        };
        Ok(Some((spans.iter().map(part).collect::<StoreResult<_>>()?, meta)))
    }

    /// Waits until the executor has polled its other futures, and none of them has put a read into the list, or another read
    /// has taken it.
    async fn gathered(&self, list: &(StoreId, Key), waiting: &Waiting) {
        let (mut known, mut quiet) = (0, 0);
        poll_fn(|context| {
            let len = unpoisoned(self.0.lock()).get(list).map_or(0, Vec::len);
            quiet = if len == known { quiet + 1 } else { 0 };
            known = len;
            if quiet == QUIET || waiting.requests.get().is_some() {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

/// The error of a read without a request, which would be a mistake of this module.
fn unanswered() -> StoreError {
    StoreError::new(StoreErrorKind::Io, "no request was made for a range")
}

/// Starts the requests of all reads that are still wanted.
fn start(storage: &Storage, key: &Key, fetching: Fetching, together: &[Weak<Waiting>]) {
    let together: Vec<_> = together.iter().filter_map(Weak::upgrade).collect();
    let spans = together.iter().flat_map(|waiting| &waiting.spans).cloned().collect();
    let requests = merged(fetching, spans).into_iter().map(|span| {
        let (storage, key, range) = (storage.clone(), key.clone(), ByteRange::from(span.clone()));
        let answer = async move { request(&storage, &key, range).await };
        Request { span, answer: answer.boxed().shared() }
    });
    let requests: Arc<[Request]> = requests.collect();
    for waiting in together {
        // No other read took the list.
        let _ = waiting.requests.set(Arc::clone(&requests));
    }
}

async fn request(storage: &Storage, key: &Key, range: ByteRange) -> Found {
    let limit = match range {
        ByteRange::Span { len, .. } => len,
        _ => u64::MAX,
    };
    let reply = storage.get_ranges(key, &[range], ReadVersion::Report, limit).await?;
    Ok(reply.map(|reply| {
        let meta = ObjectMeta::new(reply.size, reply.version);
        (reply.bytes.into_iter().next().unwrap_or_default(), meta)
    }))
}

/// Returns the ranges to read for `spans`. Other than ranges of one key, those that touch are not merged without a bound: one
/// request for all chunks of a file would be no faster than several at the same time, and hold all their memory.
fn merged(fetching: Fetching, mut spans: Vec<Range<u64>>) -> Vec<Range<u64>> {
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    let mut merged: Vec<Range<u64>> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if holds(last, &span) => {}
            Some(last)
                if span.start <= last.end.saturating_add(fetching.gap)
                    && span.end - last.start <= fetching.span.max(last.end - last.start) =>
            {
                last.end = last.end.max(span.end);
            }
            _ => merged.push(span),
        }
    }
    merged
}

fn holds(whole: &Range<u64>, part: &Range<u64>) -> bool {
    whole.start <= part.start && part.end <= whole.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_close_together_are_one_request_up_to_a_bound() {
        let fetching = Fetching::new(4, 20, 0);
        type Spans = &'static [(u64, u64)];
        let table: [(Spans, Spans); 6] = [
            (&[], &[]),
            (&[(5, 9), (0, 3)], &[(0, 9)]),
            (&[(0, 5), (10, 12)], &[(0, 5), (10, 12)]),
            (&[(0, 10), (2, 4), (0, 10)], &[(0, 10)]),
            (&[(0, 10), (10, 20), (20, 30)], &[(0, 20), (20, 30)]),
            (&[(0, 100), (50, 60), (98, 110)], &[(0, 100), (98, 110)]),
        ];
        let spans = |spans: Spans| spans.iter().map(|&(start, end)| start..end).collect::<Vec<_>>();
        for (wanted, read) in table {
            assert_eq!(merged(fetching, spans(wanted)), spans(read), "{wanted:?}");
        }
    }
}
