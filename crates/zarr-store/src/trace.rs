//! Telling about every call: for stores that tell nothing themselves.

use zarr_traits::{BoxFuture, ByteRange, Capabilities, Request, Storage, StoreResult, Trace};

use crate::call::{Answer, Call, Operation, failed, lists_around, once, reads_around, writes_around};

/// The layer that tells about every call to a store, after it has ended; a future that is dropped is not told of.
///
/// Methods are called as HTTP calls them: `GET`, `HEAD`, `LIST`, `PUT`, `DELETE`, and `SYNC`. The target is the key, or the
/// prefix, which ends in `/`. A call with several ranges is one request here, also where the store makes several of it.
///
/// ```
/// # use std::sync::{Arc, Mutex};
/// # use zarr_store::{MemoryStore, Traced};
/// # use zarr_traits::{Key, Storage, Trace, block_on};
/// let log = Arc::new(Mutex::new(Vec::new()));
/// let lines = log.clone();
/// let trace = Trace::new(move |request| {
///     lines.lock().unwrap().push(format!("{} {}: {}", request.method, request.target, request.status));
/// });
/// let storage = Traced::over(&Storage::from(MemoryStore::new()), trace);
/// block_on(storage.get(&Key::new("a/zarr.json")?))?;
/// assert_eq!(*log.lock().unwrap(), ["GET a/zarr.json: absent"]);
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Traced {
    storage: Storage,
    trace: Trace,
}

impl Traced {
    /// `storage` with `trace` told about every call.
    pub fn over(storage: &Storage, trace: Trace) -> Storage {
        storage.overlay(Self { storage: storage.clone(), trace })
    }

    fn can(&self) -> Capabilities {
        self.storage.capabilities()
    }

    async fn around<T: Answer>(
        &self,
        call: Call<'_>,
        future: BoxFuture<'_, StoreResult<T>>,
    ) -> StoreResult<T> {
        let mut request = Request::new(method(call.operation), call.target);
        (request.range, request.sent) = (range(call.ranges), call.sent);
        let underway = self.trace.begin(request);
        let answer = future.await;
        match &answer {
            Ok(answer) => underway.end(answer.status(), answer.received()),
            Err(e) => underway.end(failed(e.kind()), 0),
        }
        answer
    }
}

reads_around!(Traced, once);
lists_around!(Traced, once);
writes_around!(Traced, once);

fn method(operation: Operation) -> &'static str {
    match operation {
        Operation::GetRanges | Operation::ReadInto => "GET",
        Operation::Size => "HEAD",
        Operation::List | Operation::ListDir => "LIST",
        Operation::Put => "PUT",
        Operation::Delete | Operation::DeletePrefix => "DELETE",
        Operation::Sync => "SYNC",
    }
}

/// As HTTP writes ranges (RFC 9110, section 14.1.2); `None` where that says nothing. What HTTP cannot say, a span of no
/// bytes, ends before it begins.
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

    use zarr_traits::{If, Key, Prefix, Put, block_on};

    use super::*;
    use crate::MemoryStore;

    #[test]
    fn every_call_is_told_as_http_would_say_it() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let log = told.clone();
        let trace = Trace::new(move |r: &Request| {
            assert!(r.attempt == 1 && r.began > Duration::ZERO);
            let range = r.range.clone().unwrap_or_default();
            let line = format!("{} {} {range} {} {}/{}", r.method, r.target, r.status, r.sent, r.received);
            log.lock().unwrap().push(line);
        });
        let storage = Traced::over(&Storage::from(MemoryStore::new()), trace);
        let (key, root) = (Key::new("a/k").unwrap(), Prefix::new("a/").unwrap());
        let (reader, lister, writer) =
            (storage.reader(), storage.lister().unwrap(), storage.writer().unwrap());
        let spans = [ByteRange::Span { offset: 1, len: 2 }, ByteRange::Suffix(4)];
        block_on(async {
            let _ = writer.put(&key, &["val".into(), "ue".into()], Put::Create).await;
            let _ = writer.put(&key, &["v".into()], Put::Create).await;
            let _ = reader.get_ranges(&key, &spans, If::Any).await;
            let _ = reader.read_into(&key, &[ByteRange::All], If::Any, &mut [0; 9]).await;
            let _ = reader.get_ranges(&key, &[ByteRange::Span { offset: 9, len: 1 }], If::Any).await;
            let _ = reader.size(&key).await;
            let _ = lister.list(&root, None).await;
            let _ = lister.list_dir(&root).await;
            let _ = writer.delete(&key, None).await;
            let _ = writer.delete_prefix(&root).await;
            let _ = writer.sync().await;
            let _ = reader.size(&key).await;
        });
        let expected = [
            "PUT a/k  ok 5/0",
            "PUT a/k  conflict 1/0",
            "GET a/k bytes=1-2,-4 ok 0/6",
            "GET a/k  ok 0/5",
            "GET a/k bytes=9-9 range not satisfiable 0/0",
            "HEAD a/k  ok 0/0",
            "LIST a/  ok 0/0",
            "LIST a/  ok 0/0",
            "DELETE a/k  ok 0/0",
            "DELETE a/  ok 0/0",
            "SYNC   ok 0/0",
            "HEAD a/k  absent 0/0",
        ];
        assert_eq!(*told.lock().unwrap(), expected);
    }
}
