//! Archives: those of other programs, invalid ones, the cost of reads, and packing.

use std::fs;
use std::ops::Range;

use zarr_conformance::instruments::{Counting, Fault, Faulty};
use zarr_conformance::store::check_reading;
use zarr_store::zip::{PackOptions, ZipLimits, ZipStore, pack, write_file};
use zarr_store::{Access, PathEncoding, Scheme, Schemes};
use zarr_store::{MemoryStore, SCHEMES};
use zarr_traits::{
    BoxFuture, ByteRange, Bytes, Key, Prefix, Storage, StoreErrorKind, StoreResult, block_on,
    store::{Answer, Capabilities, ObjectMeta, Op, Read, ReadBuffer, ReadVersion, Store, Stored, ready},
};

/// Archives of CPython's `zipfile` and of Info-ZIP; see `make.py` in their folder.
const MEMBERS: &[u8] = include_bytes!("../testdata/zip/members.zip");
const STREAMED: &[u8] = include_bytes!("../testdata/zip/streamed.zip");
const INFO_ZIP: &[u8] = include_bytes!("../testdata/zip/info_zip.zip");
const ZIP64: &[u8] = include_bytes!("../testdata/zip/zip64.zip");

fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

fn prefix(prefix: &str) -> Prefix {
    Prefix::new(prefix).unwrap()
}

fn archive() -> Key {
    key("d/x.zip")
}

/// Creates a store that holds an archive.
fn holding(bytes: &[u8]) -> Storage {
    filled(&[(archive(), Bytes::copy_from_slice(bytes))])
}

fn filled(objects: &[(Key, Bytes)]) -> Storage {
    let storage = Storage::from(MemoryStore::new());
    for (key, value) in objects {
        block_on(storage.put(key, value.clone())).unwrap();
    }
    storage
}

fn open(storage: &Storage, below: &str) -> StoreResult<Storage> {
    block_on(ZipStore::open(storage, archive(), prefix(below)))
}

fn options() -> PackOptions {
    PackOptions::new(|key| ["zarr.json", ".zgroup", ".zarray", ".zattrs", ".zmetadata"].contains(&key.name()))
}

fn packed(objects: &[(Key, Bytes)], deflate: Option<u8>) -> Vec<u8> {
    let mut options = options();
    options.deflate = deflate;
    let mut bytes = Vec::new();
    block_on(pack(&filled(objects), &Prefix::root(), &mut bytes, &options)).unwrap();
    bytes
}

/// Creates an archive with a single member.
fn single(value: &[u8], deflate: Option<u8>) -> Vec<u8> {
    packed(&[(key("k"), Bytes::copy_from_slice(value))], deflate)
}

fn get(storage: &Storage, name: &str) -> StoreResult<Option<Bytes>> {
    block_on(storage.get(&key(name), u64::MAX))
}

fn names(storage: &Storage) -> Vec<String> {
    let keys = block_on(storage.list_all(&Prefix::root())).unwrap();
    keys.into_iter().map(|listed| String::from(listed.key)).collect()
}

/// A store like a plain web server, without suffixes and versions.
#[derive(Debug)]
struct Plain(Storage);

impl Store for Plain {
    fn capabilities(&self) -> Capabilities {
        Capabilities::remote(4, 0).read_only().without_list()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        match op {
            Op::Read(read) => {
                assert!(!read.ranges.iter().any(|range| matches!(range, ByteRange::Suffix(_))));
                self.0.call(Op::Read(read.version(ReadVersion::Any)))
            }
            Op::Head(head) => Box::pin(async move {
                let size = self.0.size(head.key).await?;
                Ok(Answer::Head(size.map(|size| ObjectMeta::new(size, None))))
            }),
            op => ready(op.unsupported()),
        }
    }
}

#[test]
fn a_store_in_an_archive_keeps_the_contract() {
    for deflate in [None, Some(1), Some(9)] {
        check_reading(|objects| open(&holding(&packed(objects, deflate)), "").unwrap()).unwrap();
        check_reading(|objects| {
            let plain = Storage::from(Plain(holding(&packed(objects, deflate))));
            open(&plain, "").unwrap()
        })
        .unwrap();
        check_reading(|objects| {
            let inside =
                |(key, value): &(Key, Bytes)| (prefix("in/x.zarr/").key(key.as_str()), value.clone());
            let mut objects: Vec<_> =
                objects.iter().map(inside).map(|(key, value)| (key.unwrap(), value)).collect();
            objects.push((key("in/other"), "outside".into()));
            open(&holding(&packed(&objects, deflate)), "in/x.zarr/").unwrap()
        })
        .unwrap();
    }
}

#[test]
fn e44_members_of_other_writers_are_read() {
    let storage = open(&holding(MEMBERS), "").unwrap();
    let all =
        ["empty", "folder/deflated", "folder/stored", "twice", "wide", "é/🦀"].map(str::to_owned).to_vec();
    assert_eq!(names(&storage), all, "without folders and invalid keys");
    for (name, value) in [
        ("twice", &b"the last"[..]),
        ("folder/stored", b"0123456789"),
        ("folder/deflated", &b"abc".repeat(200)),
        ("empty", b""),
        ("wide", b"with zip64 in its header"),
        ("é/🦀", b"a name beyond ASCII"),
    ] {
        // In the second read the position of the data is known.
        for _ in 0..2 {
            assert_eq!(get(&storage, name).unwrap().unwrap(), value, "{name}");
        }
    }
    assert!(get(&storage, "folder").unwrap().is_none());
    assert!(!storage.capabilities().write);

    let (below, counting) = Counting::over(&holding(INFO_ZIP));
    let storage = open(&below, "x.zarr/").unwrap();
    assert_eq!(names(&storage), ["c/0", "zarr.json"]);
    let before = counting.counts();
    assert_eq!(get(&storage, "c/0").unwrap().unwrap(), "abc".repeat(200));
    assert_eq!(
        (counting.counts() - before).requests(),
        1,
        "its header is longer than its entry in the directory"
    );

    // Sizes after the data.
    let storage = open(&holding(STREAMED), "").unwrap();
    assert_eq!(get(&storage, "stored").unwrap().unwrap(), "0123456789");
    assert_eq!(get(&storage, "deflated").unwrap().unwrap(), "abc".repeat(200));
}

#[test]
fn e44_e50_a_hierarchy_may_be_in_a_folder_of_the_archive() {
    fn fixture(_: &str, _: &Access) -> StoreResult<Storage> {
        Ok(filled(&[(key("x.zip"), Bytes::from_static(ZIP64))]))
    }
    let fixtures = [Scheme::root("fixture", PathEncoding::Plain, fixture)];
    let schemes = Schemes::new(&[SCHEMES, &fixtures]);
    let open = |path: &str| {
        let located = block_on(schemes.open(&format!("fixture://d/x.zip|zip:{path}"), &Access::new()));
        located.map(|located| located.storage)
    };
    for path in ["a.zarr", "a.zarr/", "/a.zarr/"] {
        assert_eq!(names(&open(path).unwrap()), ["c/0", "zarr.json"], "{path}");
    }
    assert_eq!(names(&open("").unwrap()).len(), 3);
    let e = open("c").unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::InvalidArgument);
    let said = "key \"x.zip\": the archive has nothing below \"c/\"; its folders are a.zarr, b.zarr";
    assert_eq!(format!("{e:#}"), said);
}

#[test]
fn opening_and_reading_cost_few_requests() {
    let objects: Vec<_> = (0..3).map(|i| (key(&format!("c/{i}")), Bytes::from(vec![i; 1000]))).collect();
    let many: Vec<_> = (0..20_000).map(|i| (key(&format!("c/{i}")), Bytes::new())).collect();
    let opening = |bytes: &[u8], plain: bool| {
        let (mut storage, counting) = Counting::over(&holding(bytes));
        if plain {
            storage = Storage::from(Plain(storage));
        }
        let before = counting.counts();
        let opened = open(&storage, "").unwrap();
        ((counting.counts() - before).requests(), opened, counting)
    };
    let (small, large) = (packed(&objects, None), packed(&many, None));
    assert_eq!(opening(&large, false).0, 2, "its directory is larger than the first read");
    assert_eq!(opening(&small, true).0, 2, "one request for its size");
    let (requests, storage, counting) = opening(&small, false);
    assert_eq!(requests, 1);

    let used = |read: &dyn Fn()| {
        let before = counting.counts();
        read();
        let used = counting.counts() - before;
        (used.requests(), used.ranges, used.bytes_read)
    };
    let whole = || assert_eq!(get(&storage, "c/1").unwrap().unwrap(), vec![1; 1000]);
    let span = |offset| ByteRange::Span { offset, len: 10 };
    let parts = || {
        let ranges = [span(500), ByteRange::Suffix(4)];
        let reply =
            block_on(storage.get_ranges(&key("c/2"), &ranges, ReadVersion::Any, u64::MAX)).unwrap().unwrap();
        assert_eq!(reply.bytes, [vec![2; 10], vec![2; 4]]);
    };
    let header = 30 + "c/1".len() as u64;
    assert_eq!(used(&whole), (1, 1, header + 1000), "with its header, in one range");
    assert_eq!(used(&whole), (1, 1, 1000));
    assert_eq!(used(&parts), (1, 3, header + 14));
    assert_eq!(used(&parts), (1, 2, 14));
    assert_eq!(used(&|| assert!(get(&storage, "c/3").unwrap().is_none())).0, 0);
    assert_eq!(used(&|| assert_eq!(names(&storage).len(), 3)).0, 0);
    let refused = || {
        let e = block_on(storage.get(&key("c/1"), 999)).unwrap_err();
        assert_eq!(e.kind(), StoreErrorKind::TooLarge { size: Some(1000) });
    };
    assert_eq!(used(&refused).0, 0, "sizes are known");

    // Padding before the data: if it is longer than the guess, the first read costs one more request.
    for (extra, first) in [(100, 1), (5000, 2)] {
        let (_, storage, counting) = opening(&with_extra(single(b"value", None), extra), false);
        for requests in [first, 1] {
            let before = counting.counts();
            assert_eq!(get(&storage, "k").unwrap().unwrap(), "value");
            assert_eq!((counting.counts() - before).requests(), requests, "{extra}");
        }
    }
}

/// Returns the archive of a [single] member with an extra field in its header.
fn with_extra(mut bytes: Vec<u8>, len: u16) -> Vec<u8> {
    let at = directory(&bytes);
    let end = bytes.len() - 22;
    let moved = u32::try_from(at).unwrap() + u32::from(len);
    bytes[end + 16..end + 20].copy_from_slice(&moved.to_le_bytes());
    bytes[28..30].copy_from_slice(&len.to_le_bytes());
    bytes.splice(31..31, vec![0; len.into()]);
    bytes
}

/// Returns the position of the directory in an archive without a comment.
fn directory(bytes: &[u8]) -> usize {
    let end = bytes.len() - 22;
    u32::from_le_bytes(bytes[end + 16..end + 20].try_into().unwrap()).try_into().unwrap()
}

/// Returns an archive with other bytes at `at` of the first entry of its directory.
fn with_entry(mut bytes: Vec<u8>, at: usize, with: &[u8]) -> Vec<u8> {
    let at = directory(&bytes) + at;
    bytes[at..at + with.len()].copy_from_slice(with);
    bytes
}

/// Returns an archive with other bytes at `at` of its end record.
fn with_end(mut bytes: Vec<u8>, at: usize, with: &[u8]) -> Vec<u8> {
    let at = bytes.len() - 22 + at;
    bytes[at..at + with.len()].copy_from_slice(with);
    bytes
}

#[test]
fn unreadable_members_fail_when_they_are_read() {
    let zeros = vec![0; 1 << 20];
    let stored = || single(b"0123456789", None);
    let deflated = || single(&zeros, Some(9));
    let size = |size: u32| size.to_le_bytes();
    for (bytes, kind, said) in [
        (with_entry(stored(), 8, &[1]), StoreErrorKind::Unsupported, "is encrypted"),
        (with_entry(stored(), 10, &[14]), StoreErrorKind::Unsupported, "method 14 (lzma)"),
        (with_entry(stored(), 10, &[77]), StoreErrorKind::Unsupported, "method 77 of"),
        (with_entry(stored(), 10, &[8]), StoreErrorKind::Corrupt, "differs from the directory"),
        (with_entry(stored(), 16, &[0; 4]), StoreErrorKind::Corrupt, "instead of 00000000"),
        (with_entry(stored(), 24, &size(11)), StoreErrorKind::Corrupt, "10 bytes, not the stated 11"),
        (with_entry(stored(), 20, &size(11)), StoreErrorKind::Corrupt, "overlaps the next member"),
        (with_entry(stored(), 42, &size(1)), StoreErrorKind::Corrupt, "overlaps the next member"),
        (with_entry(stored(), 42, &size(u32::MAX - 1)), StoreErrorKind::Corrupt, "overlaps the next member"),
        (with_entry(stored(), 46, b"x"), StoreErrorKind::Corrupt, "differs from the directory"),
        // Bombs: impossible sizes, sizes beyond the limit, and more data than stated.
        (
            with_entry(deflated(), 24, &size(u32::MAX - 1)),
            StoreErrorKind::Corrupt,
            "deflated bytes cannot inflate to",
        ),
        (
            with_entry(deflated(), 24, &size((1 << 20) + 1)),
            StoreErrorKind::LimitExceeded,
            "the limit of 1048576",
        ),
        (with_entry(deflated(), 24, &size(1 << 19)), StoreErrorKind::Corrupt, "larger than its stated size"),
    ] {
        let mut limits = ZipLimits::default();
        limits.inflated_bytes = 1 << 20;
        let storage = holding(&bytes);
        let storage = block_on(ZipStore::open_with(&storage, archive(), Prefix::root(), limits)).unwrap();
        let name = key(&names(&storage)[0]);
        let e = get(&storage, name.as_str()).unwrap_err();
        assert!(format!("{e:#}").contains(said) && e.kind() == kind, "{e:?} instead of {said}");
        assert_eq!(e.key(), Some(name.as_str()));
        let mut buffer = ReadBuffer::reusing(vec![0; 1 << 20], u64::MAX);
        let read = storage.read(Read::new(&name, &[ByteRange::All], &mut buffer));
        assert!(block_on(read).is_err(), "{said}");
        // A part of a stored member is returned without its checksum.
        if said != "instead of 00000000" {
            let e = parts(&storage, name.as_str(), &[2..4]).unwrap_err();
            assert!(format!("{e:#}").contains(said) && e.kind() == kind, "{e:?} instead of {said}");
        }
    }
    let mut hidden = stored();
    hidden[6] = 1;
    assert!(
        get(&open(&holding(&hidden), "").unwrap(), "k").is_err(),
        "only its own header says it is encrypted"
    );
    // Deflated data that is too short, too long, or has another checksum.
    for (at, with) in [(24, size((1 << 20) - 1)), (24, size((1 << 20) + 1)), (16, size(1))] {
        let storage = open(&holding(&with_entry(deflated(), at, &with)), "").unwrap();
        assert_eq!(get(&storage, "k").unwrap_err().kind(), StoreErrorKind::Corrupt);
        assert_eq!(parts(&storage, "k", &[2..4]).unwrap_err().kind(), StoreErrorKind::Corrupt);
    }
}

/// Reads parts of a member into a buffer.
fn parts(storage: &Storage, name: &str, spans: &[Range<u64>]) -> StoreResult<Stored> {
    let spans = spans.iter().map(|span| ByteRange::Span { offset: span.start, len: span.end - span.start });
    let (name, spans) = (key(name), spans.collect::<Vec<_>>());
    let mut buffer = ReadBuffer::new(u64::MAX);
    block_on(storage.read(Read::new(&name, &spans, &mut buffer)))?;
    Ok(buffer.into_stored())
}

#[test]
fn a_part_of_a_deflated_member_takes_no_memory_for_the_rest() {
    let value: Vec<u8> = (0..1_000_000_u32).map(|n| (n.wrapping_mul(n) / 7).to_le_bytes()[1]).collect();
    let storage = open(&holding(&single(&value, Some(6))), "").unwrap();
    for spans in [
        vec![500_000..500_004],
        vec![0..1, 999_999..1_000_000],
        // In any order, across pieces, repeated, one inside of another, empty.
        vec![65_530..65_545, 3..9, 131_000..262_200, 3..9, 140_000..140_001, 7..7, 0..1],
    ] {
        let at = |n: u64| usize::try_from(n).unwrap();
        let expected: Vec<u8> =
            spans.iter().flat_map(|s: &Range<u64>| &value[at(s.start)..at(s.end)]).copied().collect();
        let Stored::Memory { memory, len } = parts(&storage, "k", &spans).unwrap() else {
            panic!("the parts share the memory of the whole member: {spans:?}")
        };
        assert!(memory[..len] == expected, "{spans:?}");
        assert_eq!(memory.len(), expected.len(), "{spans:?}");
    }
}

#[test]
fn members_do_not_share_bytes() {
    let bytes = packed(&[(key("a"), "0123456789".into()), (key("b"), "0123456789".into())], None);
    let (directory, header) = (directory(&bytes), 30 + 1 + 10);
    let second = directory + 46 + 1 + 42;
    assert_eq!(bytes[second], header);
    // The header of the second member inside the data of the first one, and at the header of the first one.
    for (at, readable) in [(header - 1, None), (0, Some("a"))] {
        let mut bytes = bytes.clone();
        bytes[second] = at;
        let storage = open(&holding(&bytes), "").unwrap();
        for name in ["a", "b"] {
            assert_eq!(get(&storage, name).is_ok(), readable == Some(name), "{name} {at}");
        }
    }
}

#[test]
fn wrong_zip64_records_are_refused() {
    let record = ZIP64.windows(4).position(|window| window == b"PK\x06\x06").unwrap();
    let locator = record + 56;
    for at in [24, 32, 40, 48].map(|field| record + field).into_iter().chain([locator + 8]) {
        for lie in [u64::MAX, 1 << 60, 1 << 32, ZIP64.len() as u64, 1] {
            let mut bytes = ZIP64.to_vec();
            bytes[at..at + 8].copy_from_slice(&lie.to_le_bytes());
            assert!(open(&holding(&bytes), "").is_err(), "{lie} at {at}");
        }
    }
}

#[test]
fn invalid_archives_fail_when_they_are_opened() {
    let stored = || single(b"0123456789", None);
    let mut fake = stored();
    let end = fake.len();
    fake[end - 2] = 30;
    fake.extend(b"a comment with PK\x05\x06 in it, ok?");
    assert_eq!(names(&open(&holding(&fake), "").unwrap()), ["k"], "rule E44");

    for (bytes, kind, said) in [
        (Vec::new(), StoreErrorKind::Corrupt, "it is not a ZIP archive"),
        (vec![0; 100_000], StoreErrorKind::Corrupt, "it is not a ZIP archive"),
        (with_end(stored(), 4, &[1]), StoreErrorKind::Unsupported, "in several parts"),
        (with_end(stored(), 8, &[2]), StoreErrorKind::Unsupported, "in several parts"),
        (with_end(stored(), 8, &[2, 0, 2]), StoreErrorKind::Corrupt, "names 1 members instead of 2"),
        (with_end(stored(), 12, &[0xff; 4]), StoreErrorKind::Corrupt, "past the start of its end record"),
        (with_end(stored(), 16, &[0xff; 4]), StoreErrorKind::Corrupt, "past the start of its end record"),
        (with_end(stored(), 16, &[0]), StoreErrorKind::Corrupt, "cannot be read from byte 0 on"),
        (with_entry(stored(), 28, &[0xff; 2]), StoreErrorKind::Corrupt, "cannot be read from byte 0 on"),
        (with_entry(stored(), 34, &[1]), StoreErrorKind::Corrupt, "cannot be read from byte 0 on"),
        (with_entry(stored(), 24, &[0xff; 4]), StoreErrorKind::Corrupt, "cannot be read from byte 0 on"),
    ] {
        let e = open(&holding(&bytes), "").unwrap_err();
        assert!(format!("{e:#}").contains(said) && e.kind() == kind, "{e:?} instead of {said}");
        assert_eq!(e.key(), Some("d/x.zip"));
    }
    assert!(format!("{:#}", open(&filled(&[]), "").unwrap_err()).contains("no such archive"));
    let mut limits = ZipLimits::default();
    limits.directory_bytes = 10;
    let e = block_on(ZipStore::open_with(&holding(MEMBERS), archive(), Prefix::root(), limits)).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::LimitExceeded);
}

#[test]
fn a_truncated_archive_cannot_be_opened() {
    for bytes in [MEMBERS, STREAMED, INFO_ZIP, ZIP64] {
        for len in 0..bytes.len() {
            assert!(open(&holding(&bytes[..len]), "").is_err(), "{len}");
        }
    }
}

#[test]
fn a_flipped_bit_never_gives_another_value() {
    let objects =
        [("zarr.json", "{}".into()), ("c/0", "abc".repeat(50)), ("c/1", String::new()), ("d", "12".into())];
    let objects = objects.map(|(name, value)| (key(name), Bytes::from(value)));
    for deflate in [None, Some(6)] {
        let bytes = packed(&objects, deflate);
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(storage) = open(&holding(&bytes), "") else { continue };
            for (key, value) in &objects {
                let read = block_on(storage.get(key, u64::MAX));
                assert!(
                    read.is_err() || read.is_ok_and(|read| read.is_none_or(|read| read == value)),
                    "{bit}"
                );
            }
        }
    }
}

#[test]
fn a_flipped_bit_in_any_archive_causes_no_panic() {
    for bytes in [MEMBERS, STREAMED, INFO_ZIP, ZIP64] {
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(storage) = open(&holding(&bytes), "") else { continue };
            for name in names(&storage) {
                let size = block_on(storage.size(&key(&name)));
                let read = get(&storage, &name).map(|value| value.map(|value| value.len() as u64));
                assert!(read.is_err() || read.unwrap() == size.unwrap(), "{bit}");
            }
        }
    }
}

#[test]
fn an_archive_that_was_replaced_is_noticed() {
    let changed = |storage: &Storage| {
        assert_eq!(get(storage, "k").unwrap_err().kind(), StoreErrorKind::Changed);
    };
    let below = holding(&single(b"old", None));
    let (storage, plain) =
        (open(&below, "").unwrap(), open(&Storage::from(Plain(below.clone())), "").unwrap());
    let reply = block_on(storage.get_ranges(&key("k"), &[ByteRange::All], ReadVersion::Report, u64::MAX));
    let version = reply.unwrap().unwrap().version.unwrap();
    block_on(below.put(&archive(), single(b"new", None))).unwrap();
    changed(&storage);
    // Without versions only the checksum shows the change.
    assert!(get(&plain, "k").is_err());
    let new = open(&below, "").unwrap();
    let read =
        block_on(new.get_ranges(&key("k"), &[ByteRange::All], ReadVersion::Pinned(&version), u64::MAX));
    assert_eq!(read.unwrap_err().kind(), StoreErrorKind::Changed);
    block_on(below.put(&archive(), "")).unwrap();
    changed(&plain);
    let _ = block_on(below.delete_if(&archive(), None)).unwrap();
    changed(&plain);
}

#[test]
fn a_part_of_a_member_is_never_cut_short() {
    let span = [ByteRange::Span { offset: 2, len: 5 }];
    // Before the position of the data is known, and after that. The first call opens the archive.
    for short in [2, 3] {
        let (below, _) = Faulty::nth(&holding(&single(b"0123456789", None)), short, Fault::Short);
        let storage = open(&below, "").unwrap();
        for number in 2..5 {
            let read = block_on(storage.get_ranges(&key("k"), &span, ReadVersion::Any, u64::MAX));
            match number == short {
                true => assert!(read.is_err(), "{read:?}"),
                false => assert_eq!(read.unwrap().unwrap().bytes, ["23456"]),
            }
        }
    }
}

/// Returns the names and compression methods of members in the order of the archive. Each follows a header of 30 bytes.
fn headers(bytes: &[u8]) -> Vec<(&str, u8)> {
    let starts = bytes.windows(4).enumerate().filter(|(_, window)| *window == b"PK\x03\x04");
    let name = |at: usize| std::str::from_utf8(&bytes[at + 30..at + 30 + usize::from(bytes[at + 26])]);
    starts.map(|(at, _)| (name(at).unwrap(), bytes[at + 8])).collect()
}

#[test]
fn documents_come_first_level_by_level_and_equal_stores_give_equal_archives() {
    let mut objects: Vec<_> = [
        "c/0/0",
        "zarr.json",
        "b/a/zarr.json",
        "b/c/0",
        "a/zarr.json",
        "b/.zattrs",
        "b/zarr.json",
        "a/c/zarr",
    ]
    .map(|name| (key(name), Bytes::from(name)))
    .to_vec();
    let bytes = packed(&objects, None);
    objects.reverse();
    assert_eq!(packed(&objects, None), bytes);
    let names: Vec<_> = headers(&bytes).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "zarr.json",
            "a/zarr.json",
            "b/.zattrs",
            "b/zarr.json",
            "b/a/zarr.json",
            "a/c/zarr",
            "b/c/0",
            "c/0/0"
        ]
    );
}

#[test]
fn a_part_of_a_store_can_be_packed_and_only_members_that_shrink_are_deflated() {
    let storage =
        filled(&[(key("a/k"), "0".repeat(100).into()), (key("a/l"), "1".into()), (key("b"), "".into())]);
    let mut options = options();
    options.deflate = Some(9);
    let mut bytes = Vec::new();
    block_on(pack(&storage, &prefix("a/"), &mut bytes, &options)).unwrap();
    let unpacked = open(&holding(&bytes), "").unwrap();
    assert_eq!(names(&unpacked), ["k", "l"]);
    assert_eq!(get(&unpacked, "k").unwrap().unwrap(), "0".repeat(100));
    assert_eq!(headers(&bytes), [("k", 8), ("l", 0)]);
    options.deflate = Some(10);
    let e = block_on(pack(&storage, &Prefix::root(), Vec::new(), &options)).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::InvalidArgument);
    // More members than fit 16 bits need zip64.
    let many: Vec<_> = (0..70_000).map(|i| (key(&i.to_string()), Bytes::new())).collect();
    assert_eq!(names(&open(&holding(&packed(&many, None)), "").unwrap()).len(), 70_000);
}

/// A store that lists objects but cannot read them.
#[derive(Debug)]
struct Lying(Storage);

impl Store for Lying {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        match op {
            Op::Read(_) => ready(Ok(Answer::Read(None))),
            op => self.0.call(op),
        }
    }
}

#[test]
fn a_file_gets_its_name_once_it_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let objects = [(key("zarr.json"), "{}".into()), (key("c/0"), Bytes::from_static(b"0123"))];
    let write = |storage: &Storage| block_on(write_file(storage, &Prefix::root(), &path, &options()));
    fs::write(&path, "what was there").unwrap();
    let alone = || assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    let below = filled(&objects);
    let lying = Storage::from(Lying(below.clone()));
    assert_eq!(write(&lying).unwrap_err().kind(), StoreErrorKind::Changed);
    assert_eq!(fs::read(&path).unwrap(), b"what was there");
    alone();

    write(&below).unwrap();
    assert_eq!(fs::read(&path).unwrap(), packed(&objects, None));
    alone();
}
