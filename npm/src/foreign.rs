//! A store that is written in JavaScript.

use std::fmt;

use bytes::Bytes;
use futures_channel::mpsc::{UnboundedSender, unbounded};
use futures_channel::oneshot;
use futures_util::StreamExt;
use js_sys::{Error, Function, Promise, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use zarr_array::traits::store::{Answer, Capabilities, Head, ObjectMeta, Op, Read, ReadVersion, Store};
use zarr_array::traits::{BoxFuture, ByteRange, StoreError, StoreErrorKind, StoreResult};

use crate::error::{number, object};
use crate::store::member;

/// Ranges with a smaller gap between them are read as one.
const MERGE_GAP: u64 = 64 << 10;
const IN_FLIGHT: usize = 16;

/// A store whose requests are methods of an object: `get` and, if it has one, `getRange`.
///
/// The object stays with a task of its thread, because values of JavaScript are not `Send`. The task ends with the store.
pub(crate) struct Foreign {
    requests: UnboundedSender<Request>,
    has_ranges: bool,
}

struct Request {
    key: String,
    range: ByteRange,
    limit: u64,
    reply: oneshot::Sender<Replied>,
}

/// The bytes, or `None` if there is no object.
type Replied = StoreResult<Option<Vec<u8>>>;

impl Foreign {
    pub(crate) fn start(store: JsValue) -> Self {
        let has_ranges = member(&store, "getRange").is_function();
        let (requests, mut received) = unbounded::<Request>();
        spawn_local(async move {
            while let Some(request) = received.next().await {
                let store = store.clone();
                spawn_local(async move {
                    let replied = reply(&store, &request).await;
                    // The caller may have given up.
                    let _ = request.reply.send(replied);
                });
            }
        });
        Self { requests, has_ranges }
    }

    async fn get(&self, key: &str, range: ByteRange, limit: u64) -> StoreResult<Option<Bytes>> {
        let ended = || failed("the task of the store has ended");
        let (sender, receiver) = oneshot::channel();
        let request = Request { key: key.to_owned(), range, limit, reply: sender };
        self.requests.unbounded_send(request).map_err(|_| ended())?;
        Ok(receiver.await.map_err(|_| ended())??.map(Bytes::from))
    }

    async fn read(&self, read: Read<'_>) -> StoreResult<Answer> {
        if matches!(read.version, ReadVersion::Pinned(_)) {
            return Err(StoreError::new(StoreErrorKind::Changed, "the store has no versions"));
        }
        let key = read.key.as_str();
        let is_whole = matches!(read.ranges, [ByteRange::All]);
        if is_whole || read.ranges.is_empty() || !self.has_ranges {
            // Without ranges, an object may be larger than its wanted parts.
            let limit = if is_whole { read.into.limit() } else { u64::MAX };
            return match self.get(key, ByteRange::All, limit).await? {
                Some(value) => read.answer(&value, None),
                None => Ok(Answer::Read(None)),
            };
        }
        for range in read.ranges {
            let Some(value) = self.get(key, *range, read.into.limit()).await? else {
                return Ok(Answer::Read(None));
            };
            check_length(*range, value.len() as u64)?;
            read.into.share(value)?;
        }
        Ok(Answer::Read(Some(ObjectMeta::default())))
    }

    async fn head(&self, head: Head<'_>) -> StoreResult<Answer> {
        let value = self.get(head.key.as_str(), ByteRange::All, u64::MAX).await?;
        Ok(Answer::Head(value.map(|value| ObjectMeta::new(value.len() as u64, None))))
    }
}

impl Store for Foreign {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::remote(IN_FLIGHT, MERGE_GAP).read_only().without_list();
        capabilities.suffix = true;
        capabilities
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            let target = op.target();
            let answered = match op {
                Op::Read(read) => self.read(read).await,
                Op::Head(head) => self.head(head).await,
                op => op.unsupported(),
            };
            answered.map_err(|e| e.with_key(target))
        })
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foreign").field("has_ranges", &self.has_ranges).finish_non_exhaustive()
    }
}

/// Calls the method of the object and returns its bytes.
async fn reply(store: &JsValue, request: &Request) -> Replied {
    let value = call(store, request).await.map_err(|e| failed(&said(&e)))?;
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    let value: Uint8Array = value.dyn_into().map_err(|_| failed("the store returned no Uint8Array"))?;
    let (size, limit) = (u64::from(value.length()), request.limit);
    if size > limit {
        let text = format!("the store returned {size} bytes, at most {limit} are accepted");
        return Err(StoreError::new(StoreErrorKind::TooLarge { size: None }, text));
    }
    Ok(Some(value.to_vec()))
}

async fn call(store: &JsValue, request: &Request) -> Result<JsValue, JsValue> {
    let key = JsValue::from_str(&format!("/{}", request.key));
    let method = |name: &str| member(store, name).dyn_into::<Function>();
    let range = match request.range {
        ByteRange::All => None,
        ByteRange::Span { offset, len } => {
            Some(object(&[("offset", number(offset)), ("length", number(len))]))
        }
        ByteRange::Suffix(n) => Some(object(&[("suffixLength", number(n))])),
    };
    let called = match range {
        None => method("get")?.call1(store, &key)?,
        Some(range) => method("getRange")?.call2(store, &key, &range)?,
    };
    JsFuture::from(Promise::resolve(&called)).await
}

fn check_length(range: ByteRange, got: u64) -> StoreResult<()> {
    let (fits, size) = match range {
        ByteRange::All => (true, got),
        ByteRange::Span { offset, len } => (got == len, offset.saturating_add(got)),
        ByteRange::Suffix(n) => (got <= n, got),
    };
    if fits {
        return Ok(());
    }
    let kind = StoreErrorKind::RangeNotSatisfiable { size };
    Err(StoreError::new(kind, format!("the store returned {got} bytes for the range {range:?}")))
}

fn failed(text: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Io, text)
}

/// Returns the message of what JavaScript threw.
fn said(e: &JsValue) -> String {
    let text = e.dyn_ref::<Error>().map(|e| String::from(e.message())).or_else(|| e.as_string());
    format!("the store failed: {}", text.as_deref().unwrap_or("no message"))
}
