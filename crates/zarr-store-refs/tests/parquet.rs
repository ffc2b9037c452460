//! Directories of references in Parquet: records, listings, requests, wrong files and bounds.

use std::time::Duration;

use futures_util::future::join_all;
use proptest::prelude::*;
use zarr_conformance::instruments::{Counting, Fault, Faulty, Network, Simulated};
use zarr_store::{Access, MemoryStore, OpenRootShared, PathEncoding, Scheme, Schemes, Targets};
use zarr_store_refs::{Refs, RefsLimits, SCHEMES};
use zarr_traits::store::Op;
use zarr_traits::{Bytes, Key, Prefix, Storage, StoreErrorKind, StoreResult, block_on};

use crate::cases::{self, text};
use crate::hostile::{bytes, hostile};
use crate::written::{
    Column, Page, Row, columns, file, integers, leveled, plain, references, texts, varint, zigzag,
};

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

fn put(storage: &Storage, name: &str, bytes: impl AsRef<[u8]>) {
    block_on(storage.put(&key(name), Bytes::copy_from_slice(bytes.as_ref()))).unwrap();
}

/// Returns a document `.zmetadata` of the array `a`.
fn metadata(shape: &str, chunks: &str, separator: &str, record_size: u64) -> String {
    format!(
        r#"{{"metadata": {{".zgroup": {{"zarr_format": 2}}, "a/.zarray": {{"shape": {shape}, "chunks": {chunks},
        "dimension_separator": "{separator}", "zarr_format": 2, "dtype": "|u1", "compressor": null, "filters": null,
        "fill_value": 0, "order": "C"}}}}, "record_size": {record_size}}}"#
    )
}

/// Returns a store with the directory `d/r.parq` of the array `a` of 5 chunks, and `d/x.bin` of 100 bytes beside it.
fn folder(file: impl AsRef<[u8]>) -> Storage {
    let storage = Storage::from(MemoryStore::new());
    put(&storage, "d/r.parq/.zmetadata", metadata("[10]", "[2]", ".", 5));
    put(&storage, "d/r.parq/a/refs.0.parq", file);
    put(&storage, "d/x.bin", (0..100).collect::<Vec<u8>>());
    storage
}

fn open_with(
    storage: &Storage,
    targets: Targets,
    change: impl FnOnce(&mut RefsLimits),
) -> StoreResult<Storage> {
    let mut limits = RefsLimits::default();
    change(&mut limits);
    block_on(Refs::open_parquet_with(storage, Prefix::new("d/r.parq/").unwrap(), targets, limits))
}

fn open(storage: &Storage) -> Storage {
    open_with(storage, Targets::none(), |_| ()).unwrap()
}

/// Returns what a read of a chunk says.
fn read(storage: &Storage, chunk: &str) -> String {
    match block_on(storage.get(&key(chunk), 1 << 20)) {
        Ok(Some(bytes)) => format!("{} bytes from {}", bytes.len(), bytes.first().copied().unwrap_or(0)),
        Ok(None) => "absent".to_owned(),
        Err(e) => format!("{:?}: {e:#}", e.kind()),
    }
}

#[test]
fn a_record_is_bytes_a_range_an_object_or_absent_and_a_wrong_one_hides_no_other() {
    let long = "x".repeat(9000);
    let table: [(Row<'_>, &str); 16] = [
        ((Some("x.bin"), 7, 5, None), "5 bytes from 7"),
        ((Some("x.bin"), 0, 0, None), "100 bytes from 0"),
        ((Some("./y/../x.bin"), 95, 5, None), "5 bytes from 95"),
        ((Some("x.bin"), 7, 5, Some(b"ab")), "2 bytes from 97"),
        ((None, 7, 5, Some(b"base64:BQD6/w==")), "4 bytes from 5"),
        ((None, 0, 0, Some(b"")), "0 bytes from 0"),
        ((None, 7, 5, None), "absent"),
        ((Some("x.bin"), 96, 5, None), "RangeNotSatisfiable"),
        ((Some("z.bin"), 0, 5, None), "the object that this key refers to does not exist"),
        ((Some("../../x.bin"), 0, 5, None), "PermissionDenied: key \"a/0\""),
        ((Some("file:///etc/passwd"), 0, 5, None), "PermissionDenied"),
        (
            (Some("x.bin"), 7, 0, None),
            "Corrupt: key \"a/0\": file \"d/r.parq/a/refs.0.parq\": column \"size\", row 0: the",
        ),
        ((Some("x.bin"), -7, 5, None), "column \"offset\", row 0: -7 is not an offset"),
        ((Some("x.bin"), i64::MIN, i64::MAX, None), "column \"offset\", row 0"),
        ((Some("x.bin"), 7, -5, None), "column \"size\", row 0: -5 is not a size"),
        ((Some(&long), 7, 5, None), "column \"path\", row 0: the location has 9000 bytes, at most 8192"),
    ];
    for (row, said) in table {
        let opened = open(&folder(references(&[row, (Some("x.bin"), 1, 2, None)])));
        let answer = read(&opened, "a/0");
        assert!(answer.contains(said), "{row:?}: {answer}");
        assert_eq!(read(&opened, "a/1"), "2 bytes from 1");
        // A row that the file does not have, and chunks that the grid does not have.
        for chunk in ["a/2", "a/5", "a/01", "a/0.0", "b/0", "a/x"] {
            assert_eq!(read(&opened, chunk), "absent", "{chunk}");
        }
    }
    let wrong = read(&open(&folder(references(&[(None, 0, 0, Some(b"base64:!"))]))), "a/0");
    assert!(wrong.contains("column \"raw\", row 0: the reference is not base64"), "{wrong}");
    let mut latin = columns(&[(None, 1, 2, None)]);
    latin[0] = texts("path", &[Some(b"\xe4.nc")]);
    let wrong = read(&open(&folder(file(&[(1, latin)], 1))), "a/0");
    assert!(wrong.contains("column \"path\", row 0: the location is not UTF-8"), "{wrong}");
}

/// A change of the columns of the file of two rows, and what a read says then.
type Case = (fn(&mut Vec<Column>), &'static str);

#[test]
fn a_wrong_column_is_an_error_that_says_where() {
    let table: [Case; 30] = [
        (|_| (), "5 bytes from 7"),
        // Columns are found by their names.
        (|columns| columns.reverse(), "5 bytes from 7"),
        (|columns| drop(columns.remove(3)), "5 bytes from 7"),
        (|columns| columns.push(integers("other", &[1, 2])), "5 bytes from 7"),
        (|columns| columns[1].repetition = 1, "column \"offset\", row 0: the content ends too early"),
        (|columns| drop(columns.remove(0)), "absent"),
        (|columns| drop(columns.drain(..3)), "absent"),
        (|columns| drop(columns.drain(1..)), "there is no column \"offset\""),
        (|columns| *columns = columns.split_off(1)[..2].to_vec(), "there is neither a column \"path\" nor"),
        (|columns| columns[0].repetition = 2, "footer: column \"path\" has lists"),
        (|columns| columns[0].kind = 2, "the column \"path\" has the type 2"),
        (|columns| columns[2].kind = 5, "the column \"size\" has the type 5"),
        (
            |columns| columns[2].values = 3,
            "column \"size\", row 0: the column has 3 values in a row group of 2 rows",
        ),
        (|columns| columns[2].pages[0].values = 3, "column \"size\", row 0: a page of 3 values"),
        (
            |columns| columns[2].pages[0].values = 1,
            "column \"size\", row 1: the column ends before its 2 values",
        ),
        (|columns| columns[2].pages[0].values = -1, "column \"size\", row 0: -1 is not a size or an offset"),
        (
            |columns| columns[1].pages[0].stored = 1 << 40,
            "a page has 1099511627776 bytes, at most 67108864 are accepted",
        ),
        (|columns| columns[1].pages[0].inflated = 1 << 40, "LimitExceeded"),
        (|columns| columns[1].pages[0].stored = 17, "column \"offset\", row 0: the content ends too early"),
        (|columns| columns[1].pages[0].stored = -1, "-1 is not a size or an offset"),
        (
            |columns| columns[1].pages[0].encoding = 4,
            "column \"offset\", row 0: the encoding BIT_PACKED is not supported",
        ),
        (|columns| columns[1].pages[0].encoding = 9, "Unsupported"),
        (|columns| columns[1].pages[0].encoding = 8, "column \"offset\", row 0: the content ends too early"),
        (|columns| columns[1].pages[0].kind = 7, "pages of kind 7 are not known"),
        (|columns| columns[1].codec = 4, "the compression BROTLI is not supported"),
        (|columns| columns[1].codec = 99, "the compression 99 is not known"),
        (|columns| columns[1].codec = 6, "a page cannot be inflated"),
        (|columns| columns[1].codec = 1, "a page cannot be inflated"),
        (|columns| columns[1].codec = 2, "a page cannot be inflated"),
        (
            |columns| {
                let dictionary = Page::new(2, 0, 1, plain(&[b"x.bin"]));
                columns[0].pages.splice(0..0, [dictionary.clone(), dictionary]);
            },
            "column \"path\", row 0: the column has two dictionaries",
        ),
    ];
    for (number, (change, said)) in table.into_iter().enumerate() {
        let mut columns = columns(&[(Some("x.bin"), 7, 5, None), (Some("x.bin"), 1, 2, None)]);
        change(&mut columns);
        let opened = open(&folder(file(&[(2, columns)], 2)));
        let answer = read(&opened, "a/0");
        assert!(answer.contains(said), "{number}: {answer}");
        assert!(
            said.contains("bytes from") || said == "absent" || answer.contains("d/r.parq/a/refs.0.parq"),
            "{answer}"
        );
    }
}

#[test]
fn values_have_any_encoding_that_writers_use() {
    let with = |column: usize, kind: i64, pages: Vec<Page>| {
        let mut columns = columns(&[(Some("x.bin"), 6, 6, None), (None, 6, 6, None)]);
        (columns[column].pages, columns[column].kind) = (pages, kind);
        read(&open(&folder(file(&[(2, columns)], 2))), "a/0")
    };
    // Blocks of 128 differences in 4 parts: 7, 5. The widths are those of the parts with values.
    let delta = |values: [i64; 2]| {
        let head =
            [varint(128), varint(4), varint(2), zigzag(values[0]), zigzag(values[1] - values[0])].concat();
        [head, vec![0, 0, 0, 0]].concat()
    };
    let path = |values: &[u8]| leveled(&[true, false], values);
    let dictionary = || Page::new(2, 0, 2, plain(&[b"y.bin", b"x.bin"]));
    for (column, kind, pages, said) in [
        (0, 6, vec![dictionary(), Page::new(0, 8, 2, path(&[1, 3, 1]))], "6 bytes from 6"),
        (0, 6, vec![dictionary(), Page::new(0, 2, 2, path(&[1, 2, 1]))], "6 bytes from 6"),
        (0, 6, vec![dictionary(), Page::new(0, 8, 2, path(&[2, 2, 2]))], "the value 2 of a dictionary of 2"),
        (0, 6, vec![dictionary(), Page::new(0, 8, 2, path(&[33, 2, 2]))], "indices of 33 bits"),
        (0, 6, vec![dictionary(), Page::new(0, 8, 2, path(&[1, 2]))], "ends too early"),
        (1, 2, vec![Page::new(0, 5, 2, delta([7, 5]))], "6 bytes from 7"),
        (
            1,
            1,
            vec![Page::new(0, 0, 2, [8_i32.to_le_bytes(), 9_i32.to_le_bytes()].concat())],
            "6 bytes from 8",
        ),
        (
            1,
            2,
            vec![Page::new(0, 5, 2, delta([7, 5])[..5].to_vec())],
            "column \"offset\", row 1: the content ends",
        ),
        (
            1,
            2,
            vec![Page::new(0, 5, 2, [varint(128), varint(0), varint(2), zigzag(7)].concat())],
            "in 0 parts",
        ),
        (
            1,
            2,
            vec![Page::new(0, 5, 2, [varint(1 << 62), varint(1), varint(2), zigzag(7)].concat())],
            "blocks of",
        ),
        (
            1,
            2,
            vec![Page::new(0, 5, 2, [varint(128), varint(4), varint(1 << 50), zigzag(7)].concat())],
            "in a page of 2 values",
        ),
        (1, 2, vec![Page::new(0, 6, 2, vec![0; 16])], "the encoding 6 is not known for this column"),
    ] {
        let answer = with(column, kind, pages.clone());
        assert!(answer.contains(said), "{pages:?}: {answer}");
    }
    // Version 2: levels and values are apart, and the levels are not compressed.
    let mut columns = columns(&[(Some("x.bin"), 6, 6, None)]);
    columns[1].pages = vec![Page::new(3, 0, 1, 9_i64.to_le_bytes().to_vec())];
    assert_eq!(read(&open(&folder(file(&[(1, columns)], 1))), "a/0"), "6 bytes from 9");
}

#[test]
fn a_wrong_footer_is_an_error() {
    let rows = || columns(&[(Some("x.bin"), 7, 5, None)]);
    let good = file(&[(1, rows())], 1);
    let end = |end: &[u8]| [&good[..good.len() - end.len()], end].concat();
    for (file, said) in [
        (Vec::new(), "this is not a file of Parquet"),
        (b"PAR1".to_vec(), "this is not a file of Parquet"),
        (b"{\"refs\": {}}".to_vec(), "this is not a file of Parquet"),
        ([b"XXXX", &good[4..]].concat(), "this is not a file of Parquet"),
        (end(b"PARE"), "Unsupported: key \"a/0\": file \"d/r.parq/a/refs.0.parq\": the file is encrypted"),
        (end(b"\xff\xff\xff\xffPAR1"), "the footer is longer than the file"),
        (end(b"\0\0\0\0PAR1"), "footer: the content ends too early"),
        (file(&[(1, rows())], 2), "footer: the file has 2 rows, but its row groups have 1"),
        (file(&[(6, rows())], 6), "it has 6 rows, but \"record_size\" is 5"),
        (file(&[(2, rows())], 2), "the column has 1 values in a row group of 2 rows"),
        (
            file(&[(i64::MAX, rows()), (i64::MAX, rows()), (2, rows())], 0),
            "the row groups have too many rows",
        ),
        (file(&[(-1, rows())], 0), "-1 is not a size or an offset"),
        (file(&vec![(0, Vec::new()); 70_000], 0), "more row groups than accepted"),
    ] {
        let answer = read(&open(&folder(file)), "a/0");
        assert!(answer.contains(said) && answer.contains("file \"d/r.parq/a/refs.0.parq\""), "{answer}");
    }
    // Row groups without rows, and several with some.
    let several = file(&[(0, rows()), (1, rows()), (0, rows()), (1, rows())], 2);
    let opened = open(&folder(several));
    assert_eq!(
        [read(&opened, "a/0"), read(&opened, "a/1"), read(&opened, "a/2")],
        ["5 bytes from 7", "5 bytes from 7", "absent"]
    );
}

#[test]
fn bombs_stop_at_the_limits() {
    let two = || columns(&[(Some("x.bin"), 7, 5, None), (None, 0, 0, Some(b"abc"))]);
    let limited = |file: Vec<u8>, change: fn(&mut RefsLimits)| {
        read(&open_with(&folder(file), Targets::none(), change).unwrap(), "a/1")
    };
    let with = |change: &dyn Fn(&mut Vec<Column>)| {
        let mut columns = two();
        change(&mut columns);
        file(&[(2, columns)], 2)
    };
    // 10,000 blocks of 128 KiB each, from four bytes each.
    let blocks: Vec<u8> = (0..10_000).flat_map(|_| [0x02, 0, 0x10, 0]).collect();
    let zstd = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x38][..], &blocks, &[1, 0, 0]].concat();
    // 1,000 bytes of 0.
    let gzip = vec![
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 99, 96, 24, 5, 163, 96, 20, 12, 119, 0, 0, 128, 23, 11, 6, 232, 3,
        0, 0,
    ];
    for (codec, body) in [(1, vec![0xff, 0xff, 0xff, 0xff, 0x0f, 0]), (2, gzip), (6, zstd)] {
        let file = with(&|columns| {
            columns[1].codec = codec;
            columns[1].pages[0] = Page { inflated: 16, ..Page::new(0, 0, 2, body.clone()) };
        });
        let answer = limited(file, |_| ());
        assert!(
            answer.contains("Corrupt") && answer.contains("column \"offset\", row 0"),
            "{codec}: {answer}"
        );
    }
    let answer = limited(with(&|_| ()), |limits| limits.parquet_bytes = 100);
    assert!(answer.contains("TooLarge") && answer.contains("d/r.parq/a/refs.0.parq"), "{answer}");
    let answer = limited(with(&|_| ()), |limits| limits.page_bytes = 15);
    assert!(answer.contains("LimitExceeded") && answer.contains("at most 15 are accepted"), "{answer}");
    let answer = limited(with(&|_| ()), |limits| limits.decoded_bytes = 39);
    assert!(
        answer.contains("the records of a row group need more memory than the 39 bytes accepted"),
        "{answer}"
    );
    let answer = limited(with(&|_| ()), |limits| limits.decoded_bytes = 200);
    assert!(
        answer.contains("column \"raw\", row 1: the records of a row group need more memory"),
        "{answer}"
    );
    assert_eq!(limited(with(&|_| ()), |limits| limits.decoded_bytes = 400), "3 bytes from 97");

    // 10^13 rows in few bytes.
    let count = 10_000_000_000_000_i64;
    let run = varint((count as u64) << 1);
    let levels = [&u32::try_from(run.len() + 1).unwrap().to_le_bytes()[..], &run, &[0]].concat();
    let nulls = |name| {
        let pages = vec![Page { values: count, ..Page::new(0, 0, 0, levels.clone()) }];
        Column { name, kind: 6, repetition: 1, codec: 0, values: count, pages }
    };
    let storage = folder(file(&[(count, vec![nulls("path"), nulls("raw")])], count));
    put(&storage, "d/r.parq/.zmetadata", metadata("[10]", "[2]", ".", u64::MAX));
    let answer = read(&open(&storage), "a/1");
    assert!(answer.contains("LimitExceeded"), "{answer}");

    // Each value repeats the one before it.
    let long = "x".repeat(1000);
    let delta = |first: i64, then: i64| {
        [varint(128), varint(4), varint(2), zigzag(first), zigzag(then - first), vec![0; 4]].concat()
    };
    let fronts = [delta(0, 1000), delta(1000, 1), long.clone().into_bytes(), b"y".to_vec()].concat();
    let mut fronted = columns(&[(None, 0, 0, Some(b"1")), (None, 0, 0, Some(b"2"))]);
    fronted[3].pages = vec![Page::new(0, 7, 2, leveled(&[true, true], &fronts))];
    let fronted = file(&[(2, fronted)], 2);
    assert_eq!(limited(fronted.clone(), |_| ()), "1001 bytes from 120");
    let answer = limited(fronted, |limits| limits.page_bytes = 2000);
    assert!(answer.contains("LimitExceeded") && answer.contains("column \"raw\", row 1"), "{answer}");
}

/// Returns one file of the fixtures of each kind, with the number of its rows.
fn some_files() -> Vec<(&'static str, Bytes)> {
    let archive = cases::archive();
    ["small", "vz", "rowgroups", "snappy", "v2pages", "delta", "mixed", "weather"]
        .map(|name| {
            let bytes =
                block_on(archive.get(&key(&format!("kerchunk/{name}.parq/t2m/refs.0.parq")), 1 << 20));
            (name, bytes.unwrap().unwrap())
        })
        .into()
}

/// Returns the places that the files name, with content.
fn content() -> Targets {
    let served = Storage::from(MemoryStore::new());
    for name in ["weather.nc", "weather.nc3", "sub/weather.nc"] {
        put(&served, name, vec![0; 100_000]);
    }
    Targets::none().serve("file:///zarr-references/data/", served).unwrap()
}

/// Returns a store with this file.
fn around(file: &[u8], targets: &Targets) -> Storage {
    let storage = folder(file);
    put(&storage, "d/r.parq/.zmetadata", metadata("[10]", "[1]", ".", 100_000));
    open_with(&storage, targets.clone(), |_| ()).unwrap()
}

#[test]
fn a_file_that_is_cut_anywhere_is_an_error_and_no_fill_value() {
    let targets = content();
    for (name, whole) in some_files() {
        let first = read(&around(&whole, &targets), "a/0");
        assert!(first.contains("bytes from"), "{name}: {first}");
        for len in 0..whole.len() {
            let opened = around(&whole[..len], &targets);
            for chunk in ["a/0", "a/9"] {
                let answer = read(&opened, chunk);
                assert!(answer.contains("refs.0.parq"), "{name}, {len} bytes, {chunk}: {answer}");
            }
        }
    }
}

#[test]
fn a_changed_byte_makes_no_panic() {
    let targets = content();
    // The others have 100,000 rows; the next test has them.
    for (_, whole) in some_files().into_iter().filter(|(name, _)| !["delta", "weather"].contains(name)) {
        for at in 0..whole.len() {
            for change in [0x01, 0xff] {
                let mut bytes = whole.to_vec();
                bytes[at] ^= change;
                let opened = around(&bytes, &targets);
                let _ = (read(&opened, "a/0"), read(&opened, "a/9"));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_reader_panic(
        which in 0..8_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let mut bytes = some_files()[which].1.to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let opened = around(&bytes, &content());
        let _ = block_on(opened.list_all(&Prefix::root()));
    }
}

#[test]
fn documents_that_are_not_of_references_are_refused() {
    for (text, kind, said) in [
        ("", StoreErrorKind::Corrupt, "not JSON"),
        ("[]", StoreErrorKind::Corrupt, "this is a Zarr store, not a directory of references"),
        (r#"{"metadata": {}, "zarr_consolidated_format": 1}"#, StoreErrorKind::Corrupt, "no \"record_size\""),
        (r#"{"metadata": {}, "record_size": 0}"#, StoreErrorKind::Corrupt, "a positive integer"),
        (r#"{"metadata": {}, "record_size": 1.5}"#, StoreErrorKind::Corrupt, "a positive integer"),
        (r#"{"metadata": [], "record_size": 1}"#, StoreErrorKind::Corrupt, "\"metadata\" must be an object"),
        (
            r#"{"metadata": {"a/zarr.json": {}}, "record_size": 1}"#,
            StoreErrorKind::Unsupported,
            "format 2 only",
        ),
    ] {
        let storage = folder("");
        put(&storage, "d/r.parq/.zmetadata", text);
        let e = open_with(&storage, Targets::none(), |_| ()).unwrap_err();
        let shown = format!("{e:#}");
        assert!(
            e.kind() == kind && shown.contains(said) && shown.contains("d/r.parq/.zmetadata"),
            "{text}: {shown}"
        );
    }
    let e =
        block_on(Refs::open_parquet(&folder(""), Prefix::new("d/").unwrap(), Targets::none())).unwrap_err();
    assert!(e.kind() == StoreErrorKind::Io && format!("{e:#}").contains("no such directory"), "{e:#}");

    // An array that cannot be numbered: its chunks are errors, and its documents are not.
    let storage = folder(references(&[]));
    put(&storage, "d/r.parq/.zmetadata", metadata("[10]", "[0]", ".", 5));
    let opened = open(&storage);
    assert!(
        read(&opened, "a/0").contains("key \"a/0\": the chunks [0] of the array do not fit")
            && read(&opened, "a/.zarray").contains("bytes")
    );
    assert_eq!(read(&opened, "a/.zattrs"), "absent");
    assert!(block_on(opened.list_all(&Prefix::root())).is_err());
}

/// A store that counts, with 30 chunks of the array `a` in files of 10 records, of which the second is missing.
fn thirty() -> Storage {
    let storage = folder("");
    let rows: Vec<Row<'_>> = (0..10).map(|row| (Some("x.bin"), row, 1, None)).collect();
    put(&storage, "d/r.parq/.zmetadata", metadata("[30]", "[1]", ".", 10));
    put(&storage, "d/r.parq/a/refs.0.parq", references(&rows));
    put(&storage, "d/r.parq/a/refs.2.parq", references(&rows));
    storage
}

#[test]
fn a_file_is_one_request_at_its_first_use() {
    let (storage, counting) = Counting::over(&thirty());
    let opened = open(&storage);
    assert_eq!(counting.counts().requests(), 1);
    assert_eq!(read(&opened, "a/.zattrs"), "absent");
    assert_eq!(block_on(opened.list_dir(&Prefix::root())).unwrap().prefixes.len(), 1);
    assert_eq!(counting.counts().requests(), 1);
    assert_eq!(read(&opened, "a/3"), "1 bytes from 3");
    assert_eq!(counting.counts().requests(), 3);
    // The file is known now; and the other one is known not to exist.
    assert_eq!(read(&opened, "a/4"), "1 bytes from 4");
    assert_eq!(counting.counts().requests(), 4);
    assert_eq!([read(&opened, "a/10"), read(&opened, "a/11")], ["absent", "absent"]);
    assert_eq!(counting.counts().requests(), 5);
    // Without a cache, the records of the last four files are kept still.
    let sixty = thirty();
    put(&sixty, "d/r.parq/.zmetadata", metadata("[60]", "[1]", ".", 10));
    let rows: Vec<Row<'_>> = (0..10).map(|row| (Some("x.bin"), row, 1, None)).collect();
    (3..6).for_each(|file| put(&sixty, &format!("d/r.parq/a/refs.{file}.parq"), references(&rows)));
    let (storage, counting) = Counting::over(&sixty);
    let opened = open_with(&storage, Targets::none(), |limits| limits.cache_bytes = 0).unwrap();
    let requests = |chunks: [&str; 4]| {
        let before = counting.counts();
        assert!(chunks.map(|chunk| read(&opened, chunk)).iter().all(|answer| !answer.contains("Corrupt")));
        (counting.counts() - before).requests()
    };
    assert_eq!(requests(["a/0", "a/20", "a/1", "a/21"]), 4 + 2);
    assert_eq!(requests(["a/10", "a/0", "a/20", "a/20"]), 1 + 3);
    assert_eq!(requests(["a/30", "a/0", "a/20", "a/30"]), 1 + 4);
    assert_eq!(requests(["a/40", "a/50", "a/0", "a/50"]), 3 + 4);
}

#[test]
fn reads_at_the_same_time_share_the_request_of_a_file() {
    let network = Network::default().round_trip(Duration::from_millis(20)).merge_gap(4);
    let (far, simulated) = Simulated::virtually(&thirty(), network);
    let (far, counting) = Counting::over(&far);
    let opened =
        simulated.run(Refs::open_parquet(&far, Prefix::new("d/r.parq/").unwrap(), Targets::none())).unwrap();
    let keys: Vec<Key> = (0..30).map(|number| key(&format!("a/{number}"))).collect();
    let bytes = simulated.run(join_all(keys.iter().map(|key| opened.get(key, 1))));
    for (number, bytes) in bytes.into_iter().enumerate() {
        let expected = (number / 10 != 1).then(|| vec![u8::try_from(number % 10).unwrap()]);
        assert_eq!(bytes.unwrap().map(|bytes| bytes.to_vec()), expected, "{number}");
    }
    // `.zmetadata`, three files, and ranges of one object, joined for those that wait for the same file.
    assert!(counting.counts().requests() <= 6, "{:?}", counting.counts());
    assert_eq!(simulated.round_trips(), 3);
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_and_read_again() {
    let (storage, _) = Faulty::over(&thirty(), |number, op| {
        (number < 4 && matches!(op, Op::Read(read) if read.key.name() == "refs.0.parq"))
            .then_some(Fault::ErrorBefore(StoreErrorKind::Unavailable))
    });
    let opened = open(&storage);
    let answer = read(&opened, "a/3");
    assert!(
        answer.contains("Unavailable: key \"a/3\"") && answer.contains("d/r.parq/a/refs.0.parq"),
        "{answer}"
    );
    assert!(block_on(opened.list_all(&Prefix::root())).is_err());
    assert_eq!(read(&opened, "a/3"), "1 bytes from 3");
}

#[test]
fn keys_are_listed_in_order_and_in_pages() {
    for (separator, rank) in [(".", 1), (".", 2), ("/", 2)] {
        let storage = folder("");
        let shape = if rank == 1 { "[25000]" } else { "[250, 100]" };
        put(
            &storage,
            "d/r.parq/.zmetadata",
            metadata(shape, if rank == 1 { "[1]" } else { "[1, 1]" }, separator, 10_000),
        );
        // Every third record is missing.
        let rows: Vec<Row<'_>> =
            (0..10_000).map(|row| ((row % 3 > 0).then_some("x.bin"), 0, row % 2, None)).collect();
        for number in 0..3 {
            put(
                &storage,
                &format!("d/r.parq/a/refs.{number}.parq"),
                references(&rows[..if number == 1 { 9000 } else { 10_000 }]),
            );
        }
        let name = |number: u64| match rank {
            1 => format!("a/{number}"),
            _ => format!("a/{}{separator}{}", number / 100, number % 100),
        };
        let there = |number: &u64| !(number % 10_000).is_multiple_of(3) && !(19_000..20_000).contains(number);
        let mut expected: Vec<String> = (0..25_000).filter(there).map(name).collect();
        expected.extend([".zgroup".to_owned(), "a/.zarray".to_owned()]);
        expected.sort();
        let opened = open(&storage);
        let list = |prefix: &str, after: Option<&str>| {
            let page = block_on(opened.list(&Prefix::new(prefix).unwrap(), after.map(key).as_ref())).unwrap();
            (
                page.entries.into_iter().map(|e| (String::from(e.key), e.meta.size)).collect::<Vec<_>>(),
                page.more,
            )
        };
        let all = block_on(opened.list_all(&Prefix::root())).unwrap();
        assert!(
            all.iter().map(|listed| listed.key.as_str()).eq(expected.iter().map(String::as_str)),
            "{separator} {rank}"
        );
        let (page, more) = list("", None);
        assert_eq!((page.len(), more), (10_000, true));
        assert!(
            page.contains(&(name(1), Some(1))) && page.contains(&(name(10_002), None)),
            "{:?}",
            &page[..9]
        );
        for after in
            ["a/.zarray", "a/1", "a/0.9", "a/100/7", "a/100.7", "a/24999", "a/x", "a", "b", "a/99/98"]
        {
            for prefix in ["", "a/", "a/100/", "a/99/", "a/300/", "a/1.2/"] {
                let (page, _) = list(prefix, Some(after));
                let own = expected
                    .iter()
                    .filter(|key| key.as_str() > after && key.starts_with(prefix))
                    .take(10_000);
                assert!(page.iter().map(|(key, _)| key).eq(own), "{separator} {rank} {prefix:?} {after:?}");
            }
        }
        for prefix in ["", "a/", "a/100/", "a/300/"] {
            let dir = block_on(opened.list_dir(&Prefix::new(prefix).unwrap())).unwrap();
            let (mut objects, mut prefixes) = (Vec::new(), std::collections::BTreeSet::new());
            for rest in expected.iter().filter_map(|key| key.strip_prefix(prefix)) {
                match rest.split_once('/') {
                    None => objects.push(format!("{prefix}{rest}")),
                    Some((child, _)) => drop(prefixes.insert(format!("{prefix}{child}/"))),
                }
            }
            assert!(
                dir.objects.iter().map(|listed| listed.key.as_str()).eq(objects.iter().map(String::as_str)),
                "{prefix}"
            );
            assert!(
                dir.prefixes.iter().map(Prefix::as_str).eq(prefixes.iter().map(String::as_str)),
                "{prefix}"
            );
        }
    }
    let storage = folder(references(&[]));
    put(&storage, "d/r.parq/.zmetadata", metadata("[1000000000000]", "[1]", ".", 1));
    let e = block_on(open(&storage).list_all(&Prefix::root())).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::LimitExceeded);
    assert!(block_on(open(&storage).list_dir(&Prefix::root())).is_ok());
}

#[test]
fn the_adapter_finds_out_what_is_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let storage = Storage::from(zarr_store_fs::FsStore::create(root).unwrap());
    for listed in block_on(thirty().list_all(&Prefix::root())).unwrap() {
        put(&storage, listed.key.as_str(), block_on(thirty().get(&listed.key, 1 << 20)).unwrap().unwrap());
    }
    put(&storage, "d/odd", r#"{"a/3": ["x.bin", 4, 1]}"#);
    put(&storage, "d/plain.zarr/.zmetadata", r#"{"metadata": {}, "zarr_consolidated_format": 1}"#);
    let bucket = storage.clone();
    let open: std::sync::Arc<OpenRootShared> = std::sync::Arc::new(move |url, _| {
        let prefix = url.strip_prefix("mem://b").unwrap().trim_matches('/').to_owned();
        let below = zarr_store::Prefixed::over(&bucket, Prefix::of_node(&format!("d/{prefix}")).unwrap());
        let below = below.with_location(Some(url));
        Box::pin(async move { Ok(below) })
    });
    let shared = [Scheme::shared("mem", PathEncoding::Plain, open)];
    let schemes = Schemes::new(&[zarr_store_fs::SCHEMES, SCHEMES, &shared]);
    let place = root.display();
    for (url, chunk, said) in [
        (format!("{place}/d/r.parq|kerchunk:"), "a/3", "1 bytes from 3"),
        (format!("{place}/d/r.parq/|kerchunk:"), "a/3", "1 bytes from 3"),
        (format!("{place}/d/r.parq|kerchunk:a"), "3", "1 bytes from 3"),
        (format!("file://{place}/d/r.parq|kerchunk:/a/"), "3", "1 bytes from 3"),
        (format!("{place}/d/odd|kerchunk:"), "a/3", "1 bytes from 4"),
        ("mem://b/r.parq|kerchunk:".to_owned(), "a/3", "1 bytes from 3"),
        ("mem://b/r.parq/|kerchunk:".to_owned(), "a/3", "1 bytes from 3"),
        (
            format!("{place}/d/none|kerchunk:"),
            "",
            "Io: key \"none\": there is neither a file of references nor",
        ),
        (format!("{place}/d/none/|kerchunk:"), "", "Io: key \"none/\": no such directory with .zmetadata"),
        (format!("{place}/d/none.json|kerchunk:"), "", "there is neither a file of references nor"),
        (
            format!("{place}/d/plain.zarr|kerchunk:"),
            "",
            "Corrupt: key \"plain.zarr/.zmetadata\": there is no \"record_size\"",
        ),
    ] {
        let answer = match block_on(schemes.open(&url, &Access::new())) {
            Ok(located) => read(&located.storage, chunk),
            Err(e) => format!("{:?}: {e:#}", e.kind()),
        };
        assert!(answer.contains(said), "{url}: {answer}");
    }
    // The root of a store: what is around it must be allowed.
    let whole = Prefix::root();
    let inner = zarr_store::Prefixed::over(&storage, Prefix::new("d/r.parq/").unwrap());
    let inner = inner.with_location(Some("mem://b/r.parq/"));
    let denied = block_on(Refs::open_parquet(&inner, whole.clone(), Targets::none())).unwrap();
    assert!(read(&denied, "a/3").contains("PermissionDenied"));
    let targets = Targets::none().allow("mem://b/").unwrap();
    let targets = schemes.targets(&Access::new().targets(targets));
    assert_eq!(read(&block_on(Refs::open_parquet(&inner, whole, targets)).unwrap(), "a/3"), "1 bytes from 3");
}

#[test]
fn hostile_directories_are_errors_of_the_chunk() {
    let rows = hostile("directories");
    assert!(rows.len() > 2);
    for row in rows {
        let (kind, said) = (text(&row, "kind"), text(&row, "said"));
        let storage = folder(bytes(&row, "hex"));
        let answer = read(&open(&storage), "a/0");
        assert!(answer.starts_with(&kind) && answer.contains(&said), "{said}: {answer}");
    }
}
