//! The guarantees of a cache.

use std::future::poll_fn;
use std::ops::Range;
use std::task::{Context, Waker};

use zarr_traits::{
    Reply, block_on,
    store::{Outcome, PutMode, Stored},
};

use super::*;
use crate::MemoryStore;
use zarr_conformance::instruments::{Counting, Fault, Faulty, Network, Simulated};

fn span(offset: u64, len: u64) -> ByteRange {
    ByteRange::Span { offset, len }
}

fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

/// A store, a cache over it, and a counter of the requests to the store.
struct Setup {
    below: Storage,
    storage: Storage,
    cached: Cached,
    counting: Counting,
}

impl Setup {
    fn new(options: CacheOptions) -> Self {
        Self::over(Storage::from(MemoryStore::new()), options)
    }

    fn over(below: Storage, options: CacheOptions) -> Self {
        let (counted, counting) = Counting::over(&below);
        let (storage, cached) = Cached::over(&counted, options);
        Self { below, storage, cached, counting }
    }

    fn put(&self, name: &str, value: impl Into<Bytes>) {
        block_on(self.below.put(&key(name), value)).unwrap();
    }

    fn read(&self, name: &str, ranges: &[ByteRange], version: ReadVersion<'_>) -> StoreResult<Option<Reply>> {
        block_on(self.storage.get_ranges(&key(name), ranges, version, u64::MAX))
    }

    fn get(&self, name: &str) -> Option<Bytes> {
        block_on(self.storage.get(&key(name), u64::MAX)).unwrap()
    }

    /// Returns the requests and the bytes that `work` costs.
    fn cost(&self, work: impl FnOnce()) -> (u64, u64) {
        let before = self.counting.counts();
        work();
        let used = self.counting.counts() - before;
        (used.requests(), used.bytes_read)
    }
}

/// A store that notes the limit of each read.
#[derive(Debug)]
struct Limited(Storage, Arc<Mutex<Vec<u64>>>);

impl Limited {
    fn over(below: &Storage) -> (Storage, Arc<Mutex<Vec<u64>>>) {
        let limits = Arc::default();
        (Storage::from(Self(below.clone(), Arc::clone(&limits))), limits)
    }
}

impl Store for Limited {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        if let Op::Read(read) = &op {
            self.1.lock().unwrap().push(read.into.limit());
        }
        self.0.call(op)
    }
}

/// A store that copies values into the memory of the reader, like a store of files.
#[derive(Debug)]
struct Copying(Storage);

impl Store for Copying {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        let Op::Read(Read { key, ranges, version, into, .. }) = op else { return self.0.call(op) };
        Box::pin(async move {
            let reply = self.0.get_ranges(key, ranges, version, into.limit()).await?;
            let Some(Reply { bytes, size, version, .. }) = reply else { return Ok(Answer::Read(None)) };
            into.append(&bytes.concat())?;
            Ok(Answer::Read(Some(ObjectMeta::new(size, version))))
        })
    }
}

#[test]
fn values_that_were_read_cost_no_second_request() {
    let all = [ByteRange::All];
    let s = span;
    // Ranges of an object of 100 bytes, read one after the other, with the requests and the bytes of each read.
    let reads: [(Vec<ByteRange>, u64, u64); 10] = [
        (vec![s(10, 20)], 1, 20),
        (vec![s(10, 20), s(12, 3), s(29, 1)], 0, 0),
        (vec![s(12, 3), s(28, 4)], 1, 4),
        (vec![ByteRange::Suffix(8)], 1, 8),
        (vec![s(92, 8), s(20, 1), ByteRange::Suffix(3), ByteRange::Suffix(0), s(50, 0)], 0, 0),
        (vec![], 0, 0),
        (vec![s(40, 10), s(10, 5)], 1, 10),
        (all.to_vec(), 1, 100),
        (all.to_vec(), 0, 0),
        (vec![s(0, 100), ByteRange::Suffix(1000)], 0, 0),
    ];
    for version in [ReadVersion::Any, ReadVersion::Report] {
        let setup = Setup::new(CacheOptions::default());
        let value = Bytes::from_iter(0..100);
        setup.put("k", value.clone());
        for (ranges, requests, bytes) in &reads {
            let cost = setup.cost(|| {
                let reply = setup.read("k", ranges, version).unwrap().unwrap();
                let plain = block_on(setup.below.get_ranges(&key("k"), ranges, version, u64::MAX));
                let plain = plain.unwrap().unwrap();
                assert_eq!((reply.bytes, reply.size), (plain.bytes, plain.size), "{ranges:?}");
                assert_eq!(reply.version, plain.version);
            });
            assert_eq!(cost, (*requests, *bytes), "{ranges:?}");
        }
        assert_eq!(setup.cost(|| drop(block_on(setup.storage.head(&key("k"))))), (0, 0));
        let again = || {
            assert_eq!(setup.read("k", &[s(5, 20)], version).unwrap().unwrap().bytes, [value.slice(5..25)])
        };
        assert_eq!(setup.cost(again), (0, 0));
        let counts = setup.cached.counts();
        assert_eq!((counts.hits, counts.misses), (7, 5));
    }
}

#[test]
fn values_read_into_a_buffer_are_kept_as_well() {
    let setup =
        Setup::over(Storage::from(Copying(Storage::from(MemoryStore::new()))), CacheOptions::default());
    let value = Vec::from_iter(0..100);
    setup.put("k", value.clone());
    let k = key("k");
    // Reads into reused memory. Returns whether the store filled that memory, and the bytes.
    let read = |ranges: &[ByteRange], limit: u64| {
        let memory = vec![0xA5; 200];
        let address = memory.as_ptr();
        let mut buffer = ReadBuffer::reusing(memory, limit);
        let meta = block_on(setup.storage.read(Read::new(&k, ranges, &mut buffer)))?;
        assert_eq!(meta.unwrap().size, Some(100));
        Ok::<_, StoreError>(match buffer.into_stored() {
            Stored::Memory { memory, len } => (memory.as_ptr() == address, memory[..len].to_vec()),
            Stored::Shared { parts, .. } => (false, parts.concat()),
            _ => panic!("neither memory of the reader nor of the store"),
        })
    };
    let parts = |first: Range<usize>, second: Range<usize>| [&value[first], &value[second]].concat();
    let all = [ByteRange::All];
    let refused = || assert!(matches!(read(&all, 20).unwrap_err().kind(), StoreErrorKind::TooLarge { .. }));

    let first = || assert_eq!(read(&[span(7, 3), span(1, 4)], 20).unwrap(), (true, parts(7..10, 1..5)));
    assert_eq!(setup.cost(first), (1, 7));
    let inside = || assert_eq!(read(&[span(2, 2), span(8, 2)], 20).unwrap(), (false, parts(2..4, 8..10)));
    assert_eq!(setup.cost(inside), (0, 0));
    assert_eq!(setup.cost(refused), (1, 0), "a value beyond the limit is not read");
    assert_eq!(setup.cost(|| assert_eq!(read(&all, 100).unwrap(), (true, value.clone()))), (1, 100));
    assert_eq!(setup.cost(|| assert_eq!(read(&all, 100).unwrap(), (false, value.clone()))), (0, 0));
    assert_eq!(setup.cost(refused), (0, 0), "its size is known");
}

/// If a value is kept in part, the limit for reading the rest is smaller by the kept part.
#[test]
fn kept_bytes_count_towards_the_limit() {
    let (below, limits) = Limited::over(&Storage::from(MemoryStore::new()));
    let setup = Setup::over(below, CacheOptions::default());
    setup.put("k", Vec::from_iter(0..100));
    setup.read("k", &[span(0, 60)], ReadVersion::Any).unwrap();
    let read = |limit| {
        let ranges = [span(0, 60), span(60, 40)];
        block_on(setup.storage.get_ranges(&key("k"), &ranges, ReadVersion::Any, limit)).map(Option::unwrap)
    };
    assert!(matches!(read(99).unwrap_err().kind(), StoreErrorKind::TooLarge { .. }));
    assert_eq!(read(100).unwrap().bytes.concat(), Vec::from_iter(0..100));
    assert_eq!(*limits.lock().unwrap(), [u64::MAX, 39, 40]);
}

#[test]
fn absent_keys_are_kept_if_the_option_says_so() {
    for absent in [true, false] {
        let setup = Setup::new(CacheOptions::default().absent(absent));
        let again = setup.cost(|| {
            assert!(setup.get("k").is_none() && setup.get("k").is_none());
            assert!(block_on(setup.storage.head(&key("k"))).unwrap().is_none());
        });
        assert_eq!(again.0, if absent { 1 } else { 3 });
        block_on(setup.storage.put(&key("k"), "v")).unwrap();
        assert_eq!(setup.get("k").unwrap(), "v", "own writes are seen");
    }
}

#[test]
fn a_written_key_is_forgotten_however_the_write_ends() {
    type Write = fn(&Storage);
    let writes: [(&str, Write); 4] = [
        ("put", |storage| block_on(storage.put(&key("a/k"), "new")).unwrap()),
        ("delete", |storage| {
            let _ = block_on(storage.delete_if(&key("a/k"), None)).unwrap();
        }),
        ("delete_prefix", |storage| {
            block_on(storage.delete_prefix(&Prefix::new("a/").unwrap())).unwrap();
        }),
        ("a dropped put", |storage| {
            let key = key("a/k");
            let mut put = Box::pin(storage.put(&key, "new"));
            assert!(put.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }),
    ];
    for (name, write) in writes {
        let below = Storage::from(MemoryStore::new());
        block_on(below.put(&key("a/k"), "old")).unwrap();
        let hangs = name == "a dropped put";
        let (faulty, _) =
            Faulty::over(&below, move |_, op| (hangs && op.writes()).then_some(Fault::HangAfter));
        let (storage, _) = Cached::over(&faulty, CacheOptions::default());
        assert_eq!(block_on(storage.get(&key("a/k"), u64::MAX)).unwrap().unwrap(), "old");
        write(&storage);
        let get = |storage: &Storage| block_on(storage.get(&key("a/k"), u64::MAX)).unwrap();
        assert_eq!(get(&storage), get(&below), "{name}");
    }
    // A conflict shows that another writer has changed the object.
    let setup = Setup::new(CacheOptions::default());
    setup.put("a/k", "old");
    let old = setup.read("a/k", &[ByteRange::All], ReadVersion::Report).unwrap().unwrap().version.unwrap();
    setup.put("a/k", "of others");
    assert_eq!(setup.get("a/k").unwrap(), "old", "the value is kept without a limit of age");
    let (key, parts) = (key("a/k"), ["new".into()]);
    let put = setup.storage.put_if(&key, &parts, PutMode::IfUnchanged(&old));
    assert_eq!(block_on(put).unwrap(), Outcome::Conflict);
    assert_eq!(setup.get("a/k").unwrap(), "of others");
}

#[test]
fn a_read_that_a_write_has_overtaken_is_not_kept() {
    let below = Storage::from(MemoryStore::new());
    block_on(below.put(&key("k"), vec![0; 1000])).unwrap();
    // Both reach the store at once, but the old value takes long to arrive.
    let network = Network::default().bandwidth(1000);
    let (slow, simulated) = Simulated::virtually(&below, network);
    let (storage, _) = Cached::over(&slow, CacheOptions::default());
    let k = key("k");
    let (mut read, mut put) = (Box::pin(storage.get(&k, u64::MAX)), Box::pin(storage.put(&k, "new")));
    let mut written = false;
    let old = simulated.run(poll_fn(|context| {
        let answer = read.as_mut().poll(context);
        written = written || put.as_mut().poll(context).is_ready();
        answer
    }));
    assert!(written && old.unwrap().unwrap() == vec![0; 1000]);
    assert_eq!(simulated.run(storage.get(&k, u64::MAX)).unwrap().unwrap(), "new");
}

#[test]
fn pinned_reads_get_their_version_or_an_error() {
    let setup = Setup::new(CacheOptions::default());
    setup.put("k", "0123456789");
    let first = setup.read("k", &[span(0, 4)], ReadVersion::Report).unwrap().unwrap().version.unwrap();
    setup.put("k", "abcdefghij");
    let pinned = |ranges: &[ByteRange], version: &Version| {
        setup.read("k", ranges, ReadVersion::Pinned(version)).map(|reply| reply.unwrap().bytes)
    };
    assert_eq!(setup.cost(|| assert_eq!(pinned(&[span(1, 2)], &first).unwrap(), ["12"])), (0, 0));
    // The rest of that version is gone: this is an error, and the cache forgets the version.
    assert_eq!(pinned(&[span(1, 2), span(4, 2)], &first).unwrap_err().kind(), StoreErrorKind::Changed);
    let second = setup.read("k", &[span(0, 4)], ReadVersion::Report).unwrap().unwrap();
    assert_eq!(second.bytes, ["abcd"]);
    assert_eq!(pinned(&[span(0, 2)], &first).unwrap_err().kind(), StoreErrorKind::Changed);
    assert_eq!(pinned(&[span(2, 6)], second.version.as_ref().unwrap()).unwrap(), ["cdefgh"]);
}

#[test]
fn parts_of_two_versions_are_never_one_answer() {
    let setup = Setup::new(CacheOptions::default());
    setup.put("k", "0123456789");
    setup.read("k", &[span(0, 4)], ReadVersion::Any).unwrap();
    setup.put("k", "abcdefghij");
    let reply = setup.read("k", &[span(0, 4), span(4, 4)], ReadVersion::Any).unwrap().unwrap();
    assert_eq!(reply.bytes, ["abcd", "efgh"]);
    assert_eq!(setup.cost(|| drop(setup.read("k", &[span(2, 2)], ReadVersion::Any))).0, 0);
}

#[test]
fn old_values_are_read_again() {
    let setup = Setup::new(CacheOptions::default().max_age(Duration::ZERO));
    assert!(setup.get("k").is_none());
    setup.put("k", "one");
    assert_eq!(setup.get("k").unwrap(), "one");
    setup.put("k", "two");
    assert_eq!(setup.get("k").unwrap(), "two");
    let setup = Setup::new(CacheOptions::default().max_age(Duration::from_secs(3600)));
    setup.put("k", "one");
    assert_eq!(setup.cost(|| assert_eq!(setup.get("k"), setup.get("k"))).0, 1);
}

#[test]
fn memory_stays_within_the_budget_and_used_values_stay() {
    let options = CacheOptions::default().budget(10_000).largest(3000);
    let setup = Setup::new(options);
    for i in 0..100 {
        setup.put(&format!("{i}"), vec![i; 1000]);
    }
    setup.put("large", vec![0; 3001]);
    for i in 0..100 {
        setup.get(&format!("{i}"));
        setup.get("0");
        setup.get(&format!("none/{i}"));
        assert!(setup.cached.counts().held <= 10_000);
    }
    assert_eq!(setup.cost(|| drop(setup.get("0"))).0, 0, "used all the time");
    assert_eq!(setup.cost(|| drop(setup.get("99"))).0, 0, "used lately");
    assert_eq!(setup.cost(|| drop(setup.get("1"))).0, 1, "used long ago");
    assert_eq!(setup.cost(|| drop((setup.get("large"), setup.get("large")))).0, 2, "too large");
    assert!(setup.cached.counts().evictions > 100);
    setup.cached.clear();
    assert_eq!(setup.cached.counts().held, 0);
    assert_eq!(setup.cost(|| drop(setup.get("0"))).0, 1);
}

#[test]
fn answers_that_are_too_short_are_not_kept() {
    let below = Storage::from(MemoryStore::new());
    block_on(below.put(&key("k"), "0123456789")).unwrap();
    let (faulty, _) = Faulty::over(&below, |number, _| (number <= 2).then_some(Fault::Short));
    let (storage, cached) = Cached::over(&faulty, CacheOptions::default());
    let spans = [span(0, 4), span(6, 4)];
    let read = || {
        let reply = block_on(storage.get_ranges(&key("k"), &spans, ReadVersion::Any, u64::MAX));
        reply.map(|reply| reply.unwrap().bytes)
    };
    for _ in 0..2 {
        assert_eq!(read().unwrap_err().kind(), StoreErrorKind::Io, "the store breaks its contract");
        assert_eq!(cached.counts().held, 0);
    }
    assert_eq!(read().unwrap(), ["0123", "6789"]);
    assert_eq!(cached.counts().hits, 0);
}

/// After each of these answers the kept bytes may be of another version.
#[test]
fn an_answer_that_cannot_be_kept_removes_what_it_contradicts() {
    let setup = Setup::new(CacheOptions::default());
    let (key, other) = (key("k"), Version::new(&b"other"[..]));
    let young = other.clone().young();
    for (what, version, part, ranges) in [
        ("too young", Some(&young), &b"ab"[..], [span(4, 2)]),
        ("too short", Some(&other), b"a", [span(4, 2)]),
        ("a suffix of unknown size", Some(&other), b"ab", [ByteRange::Suffix(2)]),
    ] {
        setup.put("k", "0123456789");
        setup.read("k", &[span(0, 4)], ReadVersion::Any).unwrap();
        let Seen { found, asked } = setup.cached.find(&key, &[span(0, 4)], ReadVersion::Any);
        assert_eq!(found.missing(), Some(0), "{what}");
        let (parts, wanted) = (vec![part], ReadVersion::Report);
        let answer = Answered { ranges: &ranges, parts, version, size: None, wanted };
        setup.cached.keep(&key, asked, &answer);
        assert_eq!(setup.cached.find(&key, &[span(0, 4)], ReadVersion::Any).found.missing(), None, "{what}");
    }
}
