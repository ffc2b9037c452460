//! Helpers of the tests of this crate.
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
use zarr_array::traits::extension::{Context, Spec};
use zarr_array::traits::store::{Answer, Capabilities, Drive, Op, Store};
use zarr_array::traits::{BoxFuture, ByteRange, Key, Prefix, StoreResult, json};
use zarr_array::{ArrayErrorKind, ArrayMeta, ArrayResult, DataType, Limits, Storage, block_on, standard};
use zarr_conformance::instruments::Counting;
use zarr_store::MemoryStore;

/// Creates an array of `uint16` in memory, and a counter of its requests.
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

/// Returns a data type of the standard registry by its name and configuration. Null means no configuration.
pub(crate) fn data_type(name: &str, configuration: json::Value) -> DataType {
    let registry = standard();
    let limits = Limits::default();
    let context = Context::new(&registry, &limits);
    registry.data_type(&Spec::new(name, configuration).unwrap(), &context).unwrap().0
}

/// Returns the kind and the message of an error, without the name of the array, which is `/a`.
pub(crate) fn refused<T>(result: ArrayResult<T>) -> (ArrayErrorKind, String) {
    let e = result.err().unwrap();
    let text = format!("{e:#}");
    (e.kind(), text.strip_prefix("array \"/a\": ").unwrap_or(&text).to_owned())
}

/// Returns the message of an error.
pub(crate) fn message<T>(result: ArrayResult<T>) -> String {
    refused(result).1
}

/// Returns chains of codecs that cover every step of reading and writing.
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

/// Returns the keys of all objects, in ascending order.
pub(crate) fn keys(storage: &Storage) -> Vec<String> {
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    listed.iter().map(|object| object.key.to_string()).collect()
}

/// `0, 1, 2 …` in C order.
pub(crate) fn numbers(shape: &[u64]) -> Vec<u16> {
    (0..shape.iter().product::<u64>()).map(|i| u16::try_from(i % 65_536).unwrap()).collect()
}

/// A store with the difficulties of real stores: late answers from another thread, missing capabilities, and a
/// concurrent writer that is faster.
#[derive(Clone)]
pub(crate) struct Odd {
    pub(crate) inner: Storage,
    pub(crate) delay: Duration,
    /// The number of requests in flight of a remote store, or `None` for a local store.
    pub(crate) in_flight: Option<usize>,
    pub(crate) capabilities: Capabilities,
    /// Whether versions are reported.
    pub(crate) versions: bool,
    /// A function that runs once, before the next put of a key with the given end.
    pub(crate) before_put: Hook,
    puts: Arc<AtomicUsize>,
    pub(crate) most_puts: Arc<AtomicUsize>,
    reads: Arc<AtomicUsize>,
    pub(crate) most_reads: Arc<AtomicUsize>,
    deletes: Arc<AtomicUsize>,
    pub(crate) most_deletes: Arc<AtomicUsize>,
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
            deletes: Arc::default(),
            most_deletes: Arc::default(),
        }
    }

    pub(crate) fn storage(&self) -> Storage {
        Storage::from(self.clone())
    }

    /// Returns a store that cannot list.
    pub(crate) fn unlisted(inner: &Storage) -> Storage {
        Self { capabilities: inner.capabilities().without_list(), ..Self::new(inner) }.storage()
    }

    /// Returns a remote store.
    pub(crate) fn slow(inner: &Storage, delay: Duration, in_flight: usize) -> Storage {
        Self { delay, in_flight: Some(in_flight), ..Self::new(inner) }.storage()
    }

    pub(crate) fn before_put(&self, key: &'static str, hook: impl FnOnce() + Send + 'static) {
        *self.before_put.lock().unwrap() = Some((key, Box::new(hook)));
    }

    fn run_hook(&self, key: &Key) {
        let hook = self.before_put.lock().unwrap().take_if(|(end, _)| key.as_str().ends_with(*end));
        if let Some((_, run)) = hook {
            run();
        }
    }

    async fn wait(&self) {
        let delay = self.delay;
        if self.in_flight.is_none() {
            thread::sleep(delay);
            return;
        }
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

impl Store for Odd {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.capabilities;
        // The counts and the hook know only whole puts.
        capabilities.put_ranges = false;
        if let Some(in_flight) = self.in_flight {
            capabilities.drive = Drive::remote(in_flight, 1 << 20);
        }
        capabilities
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            let counters = match &op {
                Op::Read(read) => {
                    let suffix = read.ranges.iter().any(|range| matches!(range, ByteRange::Suffix(_)));
                    assert!(self.capabilities.suffix || !suffix, "a suffix range: {read:?}");
                    Some((&self.reads, &self.most_reads))
                }
                Op::Put(put) => {
                    self.run_hook(put.key);
                    Some((&self.puts, &self.most_puts))
                }
                Op::Delete(_) => Some((&self.deletes, &self.most_deletes)),
                op if op.lists() && !self.capabilities.list => return op.unsupported(),
                _ => None,
            };
            if let Some((now, most)) = counters {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                self.wait().await;
                now.fetch_sub(1, Ordering::SeqCst);
            }
            let mut answer = self.inner.call(op).await?;
            if let (false, Answer::Read(Some(meta)) | Answer::Head(Some(meta))) = (self.versions, &mut answer)
            {
                meta.version = None;
            }
            Ok(answer)
        })
    }
}

/// Returns the codecs of shards with uncompressed inner chunks of this shape and a checksum of the index.
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
