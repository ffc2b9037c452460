//! Runs of copies between stores in memory.

use std::error::Error;
use std::iter;
use std::pin::Pin;
use std::sync::Mutex;

use futures_util::FutureExt;
use zarr_conformance::instruments::{Fault, Faulty};
use zarr_copy::zarr_hierarchy::zarr_array::blocking::Array;
use zarr_copy::zarr_hierarchy::zarr_array::traits::{Key, Prefix, StoreError};
use zarr_copy::zarr_hierarchy::zarr_array::{
    ArrayErrorKind, ArrayMeta, Axis, DataType, Format, Selection, Storage, block_on,
};
use zarr_copy::zarr_hierarchy::{blocking::Group, standard};
use zarr_copy::{Codecs, Copy, CopyErrorKind, Event, Lengths, RunOptions, blocking, marker};
use zarr_store::MemoryStore;

fn memory() -> Storage {
    MemoryStore::new().into()
}

/// Makes a group with two arrays.
fn source() -> Storage {
    let storage = memory();
    Group::create(storage.clone(), "/", &standard()).unwrap();
    for path in ["/g/a", "/g/b"] {
        let meta = ArrayMeta::builder([6, 4], DataType::UInt16).chunks([2, 4]).build().unwrap();
        let array = Array::create(storage.clone(), path, meta, &standard()).unwrap();
        array.write(.., &(1..25).collect::<Vec<u16>>()[..]).unwrap();
    }
    storage
}

fn keys(storage: &Storage) -> Vec<String> {
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    listed.into_iter().map(|object| object.key.to_string()).collect()
}

#[test]
fn a_copy_below_a_group_becomes_a_node_when_it_is_complete() {
    let to = memory();
    Group::create(to.clone(), "/", &standard()).unwrap();
    let copy = Copy::new(source(), "/g", &standard()).chunks(Lengths::Shape(vec![3, 2])).exclude(["b"]);
    let plan = blocking::plan(&copy).unwrap();
    assert_eq!(plan.nodes().iter().map(|node| node.path()).collect::<Vec<_>>(), ["/g", "/g/a"]);
    let seen = Mutex::new((Vec::new(), 0));
    let told = |event: Event<'_>| {
        let mut seen = seen.lock().unwrap();
        match event {
            Event::Array(path) => seen.0.push(path.to_owned()),
            Event::Bytes(bytes) => seen.1 += bytes,
            other => panic!("{other:?}"),
        }
    };
    let done = blocking::run(&plan, to.clone(), "/x/y", RunOptions::new().verify(true), &told).unwrap();
    assert_eq!((done.elements, done.was_complete), (48, false));
    assert_eq!(seen.into_inner().unwrap(), (vec!["/g/a".to_owned()], 2 * plan.bytes()));
    let copied = Array::open(to.clone(), "/x/y/a", &standard()).unwrap();
    assert_eq!(copied.read::<u16>(..).unwrap().into_vec(), (1..25).collect::<Vec<_>>());
    assert_eq!(copied.chunk_shape(&[0, 0]), Some(vec![3, 2]));
    assert!(!keys(&to).iter().any(|key| key.ends_with(marker::NAME)));

    // The same copy again is complete; another one has no place.
    let e = blocking::run(&plan, to.clone(), "/x/y", RunOptions::new(), &|_| {}).unwrap_err();
    assert_eq!(e.kind(), CopyErrorKind::Taken);
    let again = blocking::run(&plan, to, "/x/y", RunOptions::new().resume(true), &|_| {}).unwrap();
    assert!(again.was_complete);
}

#[test]
fn a_dropped_run_is_no_node_and_is_resumed() {
    let to = memory();
    let plan = blocking::plan(&Copy::new(source(), "/", &standard()).source_name("here")).unwrap();
    {
        let run = plan.run(to.clone(), "/", RunOptions::new(), &|event| {
            assert!(!matches!(event, Event::Array("/g/b")), "the run goes on");
        });
        let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| block_on(run)));
        assert!(stopped.is_err());
    }
    let is_document = |key: &String| key.ends_with("zarr.json") && !key.ends_with(marker::NAME);
    assert!(!keys(&to).iter().any(is_document) && keys(&to).contains(&"g/a/c/0/0".to_owned()));
    let unfinished = block_on(marker::unfinished(&to, &Prefix::root())).unwrap();
    assert_eq!(unfinished.as_deref(), Some("here"));

    let e = block_on(plan.run(to.clone(), "/", RunOptions::new(), &|_| {})).unwrap_err();
    assert!(format!("{e:#}").contains("an unfinished copy of \"here\" exists already"), "{e:#}");
    let other = blocking::plan(&Copy::new(source(), "/g", &standard())).unwrap();
    let e = blocking::run(&other, to.clone(), "/", RunOptions::new().resume(true), &|_| {}).unwrap_err();
    assert_eq!(e.kind(), CopyErrorKind::Taken);
    blocking::run(&plan, to.clone(), "/", RunOptions::new().resume(true), &|_| {}).unwrap();
    assert!(keys(&to).iter().any(is_document) && !keys(&to).contains(&marker::NAME.to_owned()));
}

#[test]
fn a_full_disk_is_an_error_of_input_and_output_with_its_number() {
    const FULL: i32 = 28;
    for lengths in [vec![2, 4], vec![3, 2]] {
        let plan = blocking::plan(&Copy::new(source(), "/", &standard()).chunks(Lengths::Shape(lengths)));
        let plan = plan.unwrap();
        for n in 1.. {
            let (to, faulty) = Faulty::nth(&memory(), n, Fault::System(FULL));
            let done = blocking::run(&plan, to, "/", RunOptions::new(), &|_| {});
            if faulty.faults() == 0 {
                break;
            }
            let e = done.unwrap_err();
            let mut causes = iter::successors(e.source(), |e| (*e).source());
            let number = causes.find_map(|e| e.downcast_ref::<StoreError>()?.raw_os_error());
            assert_eq!(
                (e.kind(), number),
                (CopyErrorKind::Node(ArrayErrorKind::Io), Some(FULL)),
                "{n}: {e:#}"
            );
        }
    }
}

/// Stores in memory never make a run wait.
#[test]
fn a_run_gives_way_between_objects_and_blocks() {
    let storage = source();
    let waits = |mut future: Pin<Box<dyn Future<Output = ()>>>| {
        let mut waits = 0;
        while (&mut future).now_or_never().is_none() {
            waits += 1;
        }
        waits
    };
    for (lengths, parts) in [(vec![2, 4], 6), (vec![3, 4], 2)] {
        let copy = Copy::new(storage.clone(), "/", &standard()).chunks(Lengths::Shape(lengths));
        let plan = blocking::plan(&copy).unwrap();
        let run = async move {
            plan.run(memory(), "/", RunOptions::new(), &|_| {}).await.unwrap();
        };
        assert_eq!(waits(Box::pin(run)), parts);
    }
    let plan = async move { drop(Copy::new(storage, "/", &standard()).plan().await.unwrap()) };
    assert_eq!(waits(Box::pin(plan)), 4);
}

#[test]
fn all_nodes_that_cannot_be_copied_are_named() {
    let storage = source();
    for key in ["g/a/zarr.json", "g/b/zarr.json"] {
        block_on(storage.put(&Key::new(key).unwrap(), "{}")).unwrap();
    }
    let e = blocking::plan(&Copy::new(storage, "/", &standard())).unwrap_err();
    assert!(e.is_of_source() && format!("{e:#}").contains("1 more node"), "{e:#}");
    let e = blocking::plan(&Copy::new(memory(), "/a", &standard())).unwrap_err();
    assert!(format!("{e:#}").contains("there is no node at \"/a\""), "{e:#}");
}

/// The name `raw_bytes` is that of other readers, also with base64, which a tolerant reader of `r<N>` notes.
#[test]
fn raw_bytes_are_copied_between_formats() {
    let old = r#"{"zarr_format": 2, "shape": [2], "chunks": [1], "dtype": "|V3", "fill_value": "AQID", "order": "C",
        "filters": null, "compressor": null, "dimension_separator": "."}"#;
    let new = |data_type: &str, fill: &str| {
        format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [2], "data_type": {data_type}, "fill_value": {fill},
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [1]}}}}, "codecs": [{{"name": "bytes"}}],
            "chunk_key_encoding": {{"name": "v2", "configuration": {{"separator": "."}}}}}}"#
        )
    };
    let raw = r#"{"name":"raw_bytes","configuration":{"length_bytes":3}}"#;
    let (dtype, core) = (r#""|V3""#, r#""r24""#);
    for (name, document, format, data_type, fill) in [
        (".zarray", old.to_owned(), Some(Format::V3), raw, r#""AQID""#),
        (".zarray", old.to_owned(), None, dtype, r#""AQID""#),
        ("zarr.json", new(raw, r#""AQID""#), Some(Format::V2), dtype, r#""AQID""#),
        ("zarr.json", new(raw, r#""AQID""#), None, raw, r#""AQID""#),
        ("zarr.json", new(core, "[1, 2, 3]"), Some(Format::V2), dtype, r#""AQID""#),
        ("zarr.json", new(core, r#""AQID""#), Some(Format::V2), dtype, r#""AQID""#),
        ("zarr.json", new(core, "[1, 2, 3]"), None, core, "[1,2,3]"),
    ] {
        let (from, to) = (memory(), memory());
        for (key, value) in [(name, document.clone().into_bytes()), ("1", vec![7, 8, 9])] {
            block_on(from.put(&Key::new(key).unwrap(), value)).unwrap();
        }
        let copy = Copy::new(from, "/", &standard()).to_format(format);
        let plan = blocking::plan(&copy).unwrap_or_else(|e| panic!("{document}: {e:#}"));
        blocking::run(&plan, to.clone(), "/", RunOptions::new(), &|_| {}).unwrap();
        let array = Array::open(to, "/", &standard()).unwrap();
        assert_eq!(array.read::<[u8; 3]>(..).unwrap().into_vec(), [[1, 2, 3], [7, 8, 9]], "{document}");
        let text = array.metadata().to_text().split_whitespace().collect::<String>();
        let member = if array.metadata().format() == Format::V2 { "dtype" } else { "data_type" };
        for (member, value) in [(member, data_type), ("fill_value", fill)] {
            assert!(text.contains(&format!("\"{member}\":{value}")), "{document}: {text}");
        }
    }
}

/// zarr-python writes them. Only a caller who asks for new ones gets an error.
#[test]
fn codecs_behind_shards_are_copied() {
    let codecs: Codecs = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [2],
        "codecs": [{"name": "bytes"}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}, {"name": "crc32c"}]"#
        .parse()
        .unwrap();
    let Codecs::List(list) = codecs else { panic!("{codecs:?}") };
    let meta = ArrayMeta::builder([4], DataType::UInt8).chunks([4]).codecs(list).unusual().build().unwrap();
    let from = memory();
    Array::create(from.clone(), "/", meta, &standard()).unwrap().write(.., &[1_u8, 2, 3, 4]).unwrap();
    let plan = blocking::plan(&Copy::new(from.clone(), "/", &standard())).unwrap();
    let to = memory();
    blocking::run(&plan, to.clone(), "/", RunOptions::new(), &|_| {}).unwrap();
    let get = |storage: &Storage, key: &str| block_on(storage.get(&Key::new(key).unwrap(), 1 << 20)).unwrap();
    assert_eq!(get(&from, "c/0"), get(&to, "c/0"));
    assert_eq!(Array::open(to, "/", &standard()).unwrap().read::<u8>(..).unwrap().into_vec(), [1, 2, 3, 4]);
}

/// Futures of plans and runs may move between threads.
#[test]
fn futures_are_send() {
    fn check<T: Send>(value: T) -> T {
        value
    }
    let plan = block_on(check(Copy::new(source(), "/", &standard()).plan())).unwrap();
    block_on(check(plan.run(memory(), "/", RunOptions::new(), &|_| {}))).unwrap();
}

#[test]
fn without_a_setting_the_memory_grows_to_what_one_shard_needs() {
    let storage = memory();
    // One element of a shard of 512 MiB is stored; a plan reads none.
    let meta = ArrayMeta::builder([1 << 30], DataType::UInt8).chunks([1 << 20]).shards([1 << 29]).build();
    let array = Array::create(storage.clone(), "/", meta.unwrap(), &standard()).unwrap();
    array.write(0..1, &[1_u8]).unwrap();
    let copy = Copy::new(storage, "/", &standard())
        .shards(zarr_copy::Shards::Of(Lengths::Shape(vec![1 << 28])))
        .threads(1);
    let needs = |copy: &Copy| blocking::plan(copy).map(|plan| plan.nodes()[0].estimate().map(|e| e.memory));
    assert!(needs(&copy.clone().max_memory(512 << 20)).is_err());
    assert!(needs(&copy).unwrap().is_some_and(|bytes| bytes > 1 << 30));
}

/// Makes arrays with names of dimensions, which formats 2 and 3 have in different places.
fn named(format: Format) -> Storage {
    let storage = memory();
    for (path, shape, names) in [("/g/a", &[4_u64, 3][..], &["y", "x"][..]), ("/g/x", &[3], &["x"])] {
        let meta = if format == Format::V3 {
            let meta = ArrayMeta::builder(shape, DataType::UInt8).chunks(shape);
            meta.dimension_names(names.iter().copied()).build().unwrap()
        } else {
            let mut meta = ArrayMeta::builder_v2(shape, "uint8").chunks(shape).build().unwrap();
            meta.set_attribute("_ARRAY_DIMENSIONS", names).unwrap();
            meta
        };
        Array::create(storage.clone(), path, meta, &standard()).unwrap();
    }
    storage
}

#[test]
fn a_part_of_each_array_is_copied() {
    let part = |rows: Axis| {
        let copy = Copy::new(source(), "/g", &standard()).chunks(Lengths::Shape(vec![2, 3]));
        copy.select("a", Selection::new(vec![rows.clone()]))
            .select("/b", Selection::new(vec![rows, (1..3).into()]))
    };
    for (rows, a, b) in [
        ((1..4).into(), (5..17).collect::<Vec<u16>>(), vec![6, 7, 10, 11, 14, 15]),
        (Axis::step(.., -4), vec![21, 22, 23, 24, 5, 6, 7, 8], vec![22, 23, 6, 7]),
        (Axis::list([3, 3, 0]), vec![13, 14, 15, 16, 13, 14, 15, 16, 1, 2, 3, 4], vec![14, 15, 14, 15, 2, 3]),
        ((2..2).into(), vec![], vec![]),
    ] {
        let (to, verify) = (memory(), RunOptions::new().verify(true));
        let plan = blocking::plan(&part(rows)).unwrap();
        blocking::run(&plan, to.clone(), "/", verify, &|_| {}).unwrap();
        for (path, wanted, columns) in [("/a", a, 4), ("/b", b, 2)] {
            let copied = Array::open(to.clone(), path, &standard()).unwrap();
            assert_eq!(copied.shape(), [wanted.len() as u64 / columns, columns]);
            assert_eq!(copied.read::<u16>(..).unwrap().into_vec(), wanted);
        }
    }
    for format in [Format::V3, Format::V2] {
        let to = memory();
        let copy = Copy::new(named(format), "/", &standard());
        let copy = copy.select_dimension("/g/", "x", 1..3).select_dimension("", "y", 1..2);
        blocking::run(&blocking::plan(&copy).unwrap(), to.clone(), "/", RunOptions::new(), &|_| {}).unwrap();
        let shape = |path| Array::open(to.clone(), path, &standard()).unwrap().shape().to_vec();
        assert_eq!(["/g/a", "/g/x"].map(shape), [vec![4, 2], vec![2]]);
    }
    let one = |selection| blocking::plan(&Copy::new(source(), "/g/a", &standard()).select("", selection));
    assert!(format!("{:#}", one(Selection::from(2)).unwrap_err()).contains("drops a dimension"));
    assert!(one(Selection::from([9])).is_err());
    let wrong = Copy::new(source(), "/g", &standard()).select("c", 1..2);
    assert_eq!(blocking::plan(&wrong).unwrap_err().kind(), CopyErrorKind::Settings);
}

#[test]
fn a_complete_copy_of_another_part_is_not_the_same_copy() {
    let to = memory();
    let part = |rows: std::ops::Range<u64>| {
        blocking::plan(&Copy::new(source(), "/g/a", &standard()).select("", rows)).unwrap()
    };
    let resume = RunOptions::new().resume(true);
    let run = |rows| blocking::run(&part(rows), to.clone(), "/", resume, &|_| {});
    assert!(!run(0..2).unwrap().was_complete);
    assert!(run(0..2).unwrap().was_complete);
    assert_eq!(run(1..3).unwrap_err().kind(), CopyErrorKind::Differs);
    assert_ne!(part(0..2).marker(), part(1..3).marker());
}
