//! What the tests of this crate share.
#![allow(dead_code, reason = "every test file uses some of it")]
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_array::meta::v3::Extension;
use zarr_array::traits::{
    BoxFuture, ByteRange, Capabilities, Dir, Filled, If, Key, ListStore, Outcome, Page, Prefix, Put,
    ReadStore, Reply, Stat, StoreResult, WriteStore,
};
use zarr_array::{ArrayMeta, DataType, Storage, standard};
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
    vec![
        vec![bytes("little")],
        vec![bytes("big")],
        vec![transpose(), bytes("little")],
        vec![transpose(), bytes("big"), zstd()],
        vec![bytes("little"), zstd()],
        vec![bytes("little"), blosc()],
        vec![bytes("big"), Extension::new("gzip").with("level", 1), Extension::new("crc32c")],
        vec![bytes("little"), Extension::new("crc32c")],
    ]
}

/// `0, 1, 2 …` in C order.
pub(crate) fn numbers(shape: &[u64]) -> Vec<u16> {
    (0..shape.iter().product::<u64>()).map(|i| u16::try_from(i % 65_536).unwrap()).collect()
}

/// A store that answers later, from another thread, as one behind a network does.
#[derive(Debug)]
pub(crate) struct Slow {
    pub(crate) inner: Storage,
    pub(crate) delay: Duration,
    pub(crate) in_flight: usize,
}

impl Slow {
    pub(crate) fn storage(inner: &Storage, delay: Duration, in_flight: usize) -> Storage {
        inner.layer(Self { inner: inner.clone(), delay, in_flight })
    }

    async fn wait(&self) {
        let delay = self.delay;
        let state = Arc::new(std::sync::Mutex::new((false, None::<std::task::Waker>)));
        let woken = state.clone();
        thread::spawn(move || {
            thread::sleep(delay);
            let mut state = woken.lock().unwrap();
            state.0 = true;
            state.1.take().into_iter().for_each(std::task::Waker::wake);
        });
        std::future::poll_fn(|context| {
            let mut state = state.lock().unwrap();
            state.1 = Some(context.waker().clone());
            if state.0 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}

impl ReadStore for Slow {
    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        let mut remote = Capabilities::remote(self.in_flight, 1 << 20);
        (remote.put_create, remote.put_if, remote.delete_if) =
            (inner.put_create, inner.put_if, inner.delete_if);
        remote
    }

    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        Box::pin(async move {
            self.wait().await;
            self.inner.reader().get_ranges(key, ranges, condition).await
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
            self.inner.reader().read_into(key, ranges, condition, into).await
        })
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        self.inner.reader().size(key)
    }
}

impl ListStore for Slow {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        Box::pin(async move { self.inner.lister()?.list(prefix, after).await })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        Box::pin(async move { self.inner.lister()?.list_dir(prefix).await })
    }
}

impl WriteStore for Slow {
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [zarr_array::traits::Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            self.wait().await;
            self.inner.writer()?.put(key, parts, how).await
        })
    }

    fn delete<'a>(
        &'a self,
        key: &'a Key,
        version: Option<&'a zarr_array::traits::Version>,
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
