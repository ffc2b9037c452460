//! What the tests of this crate share.
#![allow(dead_code, reason = "every test file uses some of it")]
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_array::meta::v3::Extension;
use zarr_array::traits::{
    BoxFuture, ByteRange, Bytes, Capabilities, Context, Dir, Drive, Filled, If, Key, ListStore, Outcome,
    Page, Prefix, Put, ReadStore, Reply, Spec, Stat, StoreResult, Version, WriteStore, serde_json,
};
use zarr_array::{ArrayErrorKind, ArrayMeta, ArrayResult, DataType, Limits, Storage, standard};
use zarr_store::{Counting, MemoryStore};

/// An array of `uint16` in memory, with the means to count requests.
pub(crate) fn counted(shape: &[u64], chunks: &[u64], codecs: &[Extension]) -> (Array, Counting) {
    let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
    let meta = meta(shape, chunks, codecs);
    (Array::create(storage, "/a", meta, &standard()).unwrap(), counting)
}

pub(crate) fn meta(shape: &[u64], chunks: &[u64], codecs: &[Extension]) -> ArrayMeta {
    ArrayMeta::builder(shape, DataType::UInt16)
        .chunks(chunks)
        .codecs(codecs.to_vec())
        .fill(7)
        .build()
        .unwrap()
}

/// A data type of the standard registry, by its name and configuration; null stands for none.
pub(crate) fn data_type(name: &str, configuration: serde_json::Value) -> DataType {
    let registry = standard();
    let context = Context { registry: &registry, limits: &Limits::default(), depth: 0 };
    let spec = match configuration {
        serde_json::Value::Null => Spec::named(name),
        members => Spec::new(name, members).unwrap(),
    };
    registry.data_type(&spec, &context).unwrap().0
}

/// The kind of an error and its message, without the name of the array, which is `/a`.
pub(crate) fn refused<T>(result: ArrayResult<T>) -> (ArrayErrorKind, String) {
    let e = result.err().unwrap();
    let text = e.to_string();
    (e.kind(), text.strip_prefix("array \"/a\": ").unwrap_or(&text).to_owned())
}

/// The message alone.
pub(crate) fn message<T>(result: ArrayResult<T>) -> String {
    refused(result).1
}

/// Chains that differ in every step of reading and writing.
pub(crate) fn chains() -> Vec<Vec<Extension>> {
    let bytes = |endian| Extension::new("bytes").with("endian", endian);
    let order = || [1_u64, 0].into_iter().collect::<Value>();
    let transpose = || Extension::new("transpose").with("order", order());
    let zstd = || Extension::new("zstd").with("level", 1).with("checksum", false);
    let blosc = || {
        Extension::new("blosc")
            .with("cname", "lz4")
            .with("clevel", 5)
            .with("shuffle", "shuffle")
            .with("typesize", 2)
            .with("blocksize", 0)
    };
    let json = |text: &str| Value::parse(text).unwrap();
    let reshape = |shape| Extension::new("reshape").with("shape", json(shape));
    let conditional = || {
        let codecs = r#"[{"name":"zstd","configuration":{"level":1}}]"#;
        Extension::new("conditional").with("codecs", json(codecs))
    };
    let n5 = || {
        let codecs = r#"[{"name":"transpose","configuration":{"order":[1,0]}},
            {"name":"bytes","configuration":{"endian":"big"}},{"name":"gzip","configuration":{"level":1}}]"#;
        Extension::new("n5_default").with("codecs", json(codecs))
    };
    vec![
        vec![bytes("little")],
        vec![bytes("big")],
        vec![transpose(), bytes("little")],
        vec![transpose(), bytes("big"), zstd()],
        vec![bytes("little"), zstd()],
        vec![bytes("little"), blosc()],
        vec![bytes("big"), Extension::new("gzip").with("level", 1), Extension::new("crc32c")],
        vec![bytes("little"), Extension::new("crc32c")],
        vec![reshape("[-1]"), bytes("little"), zstd()],
        vec![transpose(), reshape("[[0],1,[1]]"), bytes("big")],
        vec![reshape("[1,[0],[1]]"), bytes("little"), conditional()],
        vec![n5()],
        #[cfg(feature = "zfp")]
        vec![transpose(), Extension::new("zfp").with("mode", "reversible")],
    ]
}

/// `0, 1, 2 …` in C order.
pub(crate) fn numbers(shape: &[u64]) -> Vec<u16> {
    (0..shape.iter().product::<u64>()).map(|i| u16::try_from(i % 65_536).unwrap()).collect()
}

/// A store with what real ones have: an answer that comes later, from another thread; a capability that is missing;
/// somebody else who is faster.
#[derive(Clone)]
pub(crate) struct Odd {
    pub(crate) inner: Storage,
    pub(crate) delay: Duration,
    /// Requests in flight, of a store behind a network; `None`: a local one.
    pub(crate) in_flight: Option<usize>,
    pub(crate) capabilities: Capabilities,
    /// Whether versions are reported.
    pub(crate) versions: bool,
    /// Runs once, before the next put of a key that ends in this.
    pub(crate) before_put: Hook,
    puts: Arc<AtomicUsize>,
    pub(crate) most_puts: Arc<AtomicUsize>,
    reads: Arc<AtomicUsize>,
    pub(crate) most_reads: Arc<AtomicUsize>,
}

type Hook = Arc<Mutex<Option<(&'static str, Box<dyn FnOnce() + Send>)>>>;

impl std::fmt::Debug for Odd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Odd")
    }
}

impl Odd {
    pub(crate) fn new(inner: &Storage) -> Self {
        Self {
            inner: inner.clone(),
            delay: Duration::ZERO,
            in_flight: None,
            capabilities: inner.capabilities(),
            versions: true,
            before_put: Arc::default(),
            puts: Arc::default(),
            most_puts: Arc::default(),
            reads: Arc::default(),
            most_reads: Arc::default(),
        }
    }

    pub(crate) fn storage(&self) -> Storage {
        self.inner.layer(self.clone())
    }

    /// As behind a network.
    pub(crate) fn slow(inner: &Storage, delay: Duration, in_flight: usize) -> Storage {
        Self { delay, in_flight: Some(in_flight), ..Self::new(inner) }.storage()
    }

    pub(crate) fn before_put(&self, key: &'static str, hook: impl FnOnce() + Send + 'static) {
        *self.before_put.lock().unwrap() = Some((key, Box::new(hook)));
    }

    async fn wait(&self) {
        if self.in_flight.is_none() {
            return;
        }
        let delay = self.delay;
        let state = Arc::new(Mutex::new((false, None::<Waker>)));
        let woken = state.clone();
        thread::spawn(move || {
            thread::sleep(delay);
            let mut state = woken.lock().unwrap();
            state.0 = true;
            state.1.take().into_iter().for_each(Waker::wake);
        });
        std::future::poll_fn(|context| {
            let mut state = state.lock().unwrap();
            state.1 = Some(context.waker().clone());
            if state.0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

impl ReadStore for Odd {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.capabilities;
        if let Some(in_flight) = self.in_flight {
            capabilities.drive = Drive::Remote { in_flight, merge_gap: 1 << 20 };
        }
        capabilities
    }

    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        Box::pin(async move {
            assert!(self.capabilities.suffix || !ranges.iter().any(|r| matches!(r, ByteRange::Suffix(_))));
            let now = self.reads.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_reads.fetch_max(now, Ordering::SeqCst);
            self.wait().await;
            self.reads.fetch_sub(1, Ordering::SeqCst);
            let reply = self.inner.reader().get_ranges(key, ranges, condition).await?;
            Ok(reply.map(|r| Reply { version: r.version.filter(|_| self.versions), ..r }))
        })
    }

    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        Box::pin(async move {
            self.wait().await;
            let filled = self.inner.reader().read_into(key, ranges, condition, into).await?;
            Ok(filled.map(|f| Filled { version: f.version.filter(|_| self.versions), ..f }))
        })
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        self.inner.reader().size(key)
    }
}

impl ListStore for Odd {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        Box::pin(async move { self.inner.lister()?.list(prefix, after).await })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        Box::pin(async move { self.inner.lister()?.list_dir(prefix).await })
    }
}

impl WriteStore for Odd {
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            let hook = self.before_put.lock().unwrap().take_if(|(end, _)| key.as_str().ends_with(*end));
            if let Some((_, run)) = hook {
                run();
            }
            let now = self.puts.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_puts.fetch_max(now, Ordering::SeqCst);
            self.wait().await;
            self.puts.fetch_sub(1, Ordering::SeqCst);
            self.inner.writer()?.put(key, parts, how).await
        })
    }

    fn delete<'a>(
        &'a self,
        key: &'a Key,
        version: Option<&'a Version>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move { self.inner.writer()?.delete(key, version).await })
    }

    fn delete_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<()>> {
        Box::pin(async move { self.inner.writer()?.delete_prefix(prefix).await })
    }

    fn sync(&self) -> BoxFuture<'_, StoreResult<()>> {
        Box::pin(async move { self.inner.writer()?.sync().await })
    }
}

/// Shards of inner chunks of this shape, uncompressed, with a checksum over the index.
pub(crate) fn sharded(inner: &[u64], location: &str) -> Vec<Extension> {
    sharded_with(inner, location, &[Extension::new("bytes").with("endian", "little")])
}

pub(crate) fn sharded_with(inner: &[u64], location: &str, codecs: &[Extension]) -> Vec<Extension> {
    let index = [Extension::new("bytes").with("endian", "little"), Extension::new("crc32c")];
    let list = |codecs: &[Extension]| codecs.iter().map(Extension::to_value).collect::<Value>();
    vec![
        Extension::new("sharding_indexed")
            .with("chunk_shape", inner.iter().copied().collect::<Value>())
            .with("codecs", list(codecs))
            .with("index_codecs", list(&index))
            .with("index_location", location),
    ]
}
