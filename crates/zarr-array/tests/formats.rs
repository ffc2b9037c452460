//! Arrays of format 2 beside those of format 3, and changes of their documents.

use zarr_array::blocking::Array;
use zarr_array::meta::{DocumentName, Ignore};
use zarr_array::traits::{Key, Prefix, block_on};
use zarr_array::{
    ArrayErrorKind, ArrayMeta, CreateOptions, DataType, ExistingNode, Format, Limits, Located, OpenOptions,
    Storage, standard,
};
use zarr_store::MemoryStore;

const ARRAY2: &str = r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "compressor": null,
    "fill_value": null, "order": "C", "filters": null, "unknown": 1.50}"#;

fn old(text: &str, attributes: Option<&str>) -> ArrayMeta {
    let attributes = attributes.map(str::as_bytes);
    ArrayMeta::parse_v2(text.as_bytes(), attributes, &Limits::default(), &mut Ignore).unwrap()
}

fn new() -> ArrayMeta {
    ArrayMeta::builder([4], DataType::Int32).chunks([2]).build().unwrap()
}

fn storage() -> Storage {
    Storage::from(MemoryStore::new())
}

fn keys(storage: &Storage) -> Vec<String> {
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    listed.iter().map(|object| object.key.to_string()).collect()
}

fn text(storage: &Storage, key: &str) -> String {
    let bytes = block_on(storage.get(&Key::new(key).unwrap(), u64::MAX)).unwrap().unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn arrays_of_version_2_are_created_with_their_groups() {
    let storage = storage();
    let array = Array::create(storage.clone(), "g/x", old(ARRAY2, Some(r#"{"a":1}"#)), &standard()).unwrap();
    assert_eq!(keys(&storage), [".zgroup", "g/.zgroup", "g/x/.zarray", "g/x/.zattrs"], "rule H40");
    array.write(.., &[1, 2, 3, 4]).unwrap();
    let again = Array::open(storage.clone(), "g/x", &standard()).unwrap();
    assert_eq!(again.read::<i32>(..).unwrap().as_slice(), [1, 2, 3, 4]);
    assert_eq!(again.metadata().format(), Format::V2);
    let open =
        |format| Array::open_with(storage.clone(), "g/x", &standard(), &OpenOptions::new().format(format));
    assert!(open(Format::V2).is_ok());
    assert_eq!(open(Format::V3).unwrap_err().kind(), ArrayErrorKind::NotFound);
}

#[test]
fn an_edit_writes_only_the_document_that_changes() {
    let storage = storage();
    let mut array = Array::create(storage.clone(), "/", old(ARRAY2, None), &standard()).unwrap();
    assert_eq!(keys(&storage), [".zarray"], "without attributes there is no document");
    array.edit_attributes(|attributes| attributes.set("units", "K")).unwrap();
    assert_eq!(
        (&text(&storage, ".zattrs")[..], &text(&storage, ".zarray")[..]),
        ("{\n    \"units\": \"K\"\n}", ARRAY2)
    );
    array.edit_attributes(|attributes| drop(attributes.remove("units"))).unwrap();
    assert_eq!(keys(&storage), [".zarray"], "cleared attributes leave no document");
    array.resize([6]).unwrap();
    let text = text(&storage, ".zarray");
    assert!(text.contains("[6]") && text.contains("1.50"), "unknown members stay: {text}");
    assert_eq!(Array::open(storage, "/", &standard()).unwrap().shape(), [6]);
}

/// Rules H7 and H.t7: other implementations look for chunks at these keys.
#[test]
fn h4_chunks_lie_where_the_separator_says() {
    let cases: [(&str, &str, &[&str]); 4] = [
        ("[]", "", &["g/x/0"]),
        ("[3]", "", &["g/x/0", "g/x/1"]),
        ("[3, 4]", "", &["g/x/0.0", "g/x/0.1", "g/x/1.0", "g/x/1.1"]),
        ("[3, 4]", r#", "dimension_separator": "/""#, &["g/x/0/0", "g/x/0/1", "g/x/1/0", "g/x/1/1"]),
    ];
    for (shape, separator, wanted) in cases {
        let storage = storage();
        let chunks = shape.replace(['3', '4'], "2");
        let text = ARRAY2.replace(
            "\"shape\": [4], \"chunks\": [2]",
            &format!("\"shape\": {shape}, \"chunks\": {chunks}{separator}"),
        );
        let array = Array::create(storage.clone(), "g/x", old(&text, None), &standard()).unwrap();
        let elements: usize = array.shape().iter().product::<u64>().try_into().unwrap();
        array.write(.., &vec![5; elements]).unwrap();
        let mut chunks = keys(&storage);
        chunks.retain(|key| !key.contains("/.z") && !key.starts_with('.'));
        assert_eq!(chunks, wanted, "{shape} {separator}");
        // Chunks at the edge are stored whole.
        let sizes = wanted
            .iter()
            .map(|key| block_on(storage.get(&Key::new(*key).unwrap(), u64::MAX)).unwrap().unwrap().len());
        let size = 4 * 2_usize.pow(u32::try_from(array.shape().len()).unwrap());
        assert!(sizes.into_iter().all(|found| found == size), "{shape}");
    }
}

/// Rule H7: arrays of zarr-python before 2.8 in nested directories.
#[test]
fn h7_a_separator_that_the_document_does_not_state_can_be_set() {
    let storage = storage();
    let square = ARRAY2.replace("\"shape\": [4], \"chunks\": [2]", "\"shape\": [2, 2], \"chunks\": [2, 2]");
    block_on(storage.put(&Key::new("x/.zarray").unwrap(), square)).unwrap();
    block_on(storage.put(&Key::new("x/0/0").unwrap(), [1, 2, 3, 4].map(i32::to_le_bytes).concat())).unwrap();
    let open = |separator: Option<char>| {
        let options = OpenOptions::new().separator(separator);
        Array::open_with(storage.clone(), "x", &standard(), &options)
    };
    let read = |array: &Array| array.read::<i32>(..).unwrap().into_vec();
    assert_eq!(read(&open(None).unwrap()), [0; 4]);
    let array = open(Some('/')).unwrap();
    assert_eq!(read(&array), [1, 2, 3, 4]);
    // Once the document is stored again it states the separator, which then wins over the option.
    let mut array = array;
    array.resize([3, 2]).unwrap();
    assert!(
        text(&storage, "x/.zarray").contains(r#""dimension_separator": "/""#),
        "{}",
        text(&storage, "x/.zarray")
    );
    assert_eq!(read(&open(Some('.')).unwrap())[..4], [1, 2, 3, 4]);
    assert_eq!(open(Some('-')).unwrap_err().kind(), ArrayErrorKind::InvalidArgument);
}

/// Rule G11: a missing chunk has no defined value.
#[test]
fn without_a_fill_value_every_chunk_is_stored() {
    let storage = storage();
    let array = Array::create(storage.clone(), "/", old(ARRAY2, None), &standard()).unwrap();
    array.write(.., &[0; 4]).unwrap();
    assert_eq!(keys(&storage), [".zarray", "0", "1"]);
    let zero = old(&ARRAY2.replace("\"fill_value\": null", "\"fill_value\": 0"), None);
    let array = Array::replace(storage.clone(), "/", zero, &standard()).unwrap();
    array.write(.., &[0; 4]).unwrap();
    assert_eq!(keys(&storage), [".zarray"]);
}

/// Rule F17, and no node hides one of another format.
#[test]
fn an_existing_node_is_found_in_any_format() {
    let storage = storage();
    let create = |meta, existing| {
        let options = CreateOptions::new().existing(existing);
        Array::create_with(storage.clone(), "x", meta, &standard(), &options)
    };
    create(old(ARRAY2, Some(r#"{"a":1}"#)), ExistingNode::Fail).unwrap();
    assert_eq!(create(old(ARRAY2, None), ExistingNode::Fail).unwrap_err().kind(), ArrayErrorKind::Exists);
    let e = create(new(), ExistingNode::Fail).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::Exists);
    let opened = create(old(ARRAY2, None), ExistingNode::Open).unwrap();
    assert_eq!(opened.metadata().attributes().len(), 1, "the existing array is opened");
    let other = old(&ARRAY2.replace("<i4", "<i8"), None);
    assert_eq!(create(other, ExistingNode::Open).unwrap_err().kind(), ArrayErrorKind::Exists);
    let e = create(new(), ExistingNode::Replace).unwrap_err();
    assert!(format!("{e:#}").contains("is a node of format 2"), "{e:#}");
    assert!(keys(&storage).contains(&"x/.zarray".to_owned()), "it fails before anything is deleted");
}

/// Rule F17: objects without a node are not erased, and would be read as chunks of a new array.
#[test]
fn only_a_node_is_replaced() {
    for strange in ["x/photo.jpg", "x/y/zarr.json", "x/c/0"] {
        let storage = storage();
        let put = |key: &str| block_on(storage.put(&Key::new(key).unwrap(), "precious")).unwrap();
        put(strange);
        for meta in [new(), old(ARRAY2, None)] {
            let e = Array::replace(storage.clone(), "x", meta, &standard()).unwrap_err();
            assert_eq!(e.kind(), ArrayErrorKind::Exists, "{strange}");
            assert!(format!("{e:#}").contains("belongs to no node"), "{e:#}");
            assert_eq!(keys(&storage), [strange], "nothing is erased or created");
        }
        // All objects below a node are erased.
        put("x/zarr.json");
        Array::replace(storage.clone(), "x", new(), &standard()).unwrap();
        assert_eq!(keys(&storage), ["x/zarr.json", "zarr.json"]);
    }
    for empty in [&[][..], &["x/.zattrs", "x/.DS_Store", "xy/c/0"]] {
        let storage = storage();
        for key in empty {
            block_on(storage.put(&Key::new(*key).unwrap(), "{}")).unwrap();
        }
        Array::replace(storage.clone(), "x", new(), &standard()).unwrap();
        assert!(empty.iter().all(|key| keys(&storage).contains(&key.to_string())), "{empty:?}");
        assert_eq!(Array::open(storage, "x", &standard()).unwrap().shape(), [4]);
    }
}

#[test]
fn attributes_left_behind_do_not_belong_to_a_new_array() {
    let storage = storage();
    let key = Key::new(DocumentName::Attributes2.as_str()).unwrap();
    block_on(storage.put(&key, r#"{"old":1}"#)).unwrap();
    Array::create(storage.clone(), "/", old(ARRAY2, None), &standard()).unwrap();
    assert!(Array::open(storage, "/", &standard()).unwrap().metadata().attributes().is_empty());
}

/// Any number of processes may make the same call at once.
#[test]
fn concurrent_calls_to_open_or_create_get_the_same_array() {
    let storage = storage();
    std::thread::scope(|scope| {
        for i in 0..8 {
            let storage = storage.clone();
            scope.spawn(move || {
                let options = CreateOptions::new().existing(ExistingNode::Open);
                let array = Array::create_with(storage, "a/b/x", new(), &standard(), &options).unwrap();
                array.write([i % 4..i % 4 + 1], &[7]).unwrap();
            });
        }
    });
    let array = Array::open(storage, "a/b/x", &standard()).unwrap();
    assert_eq!(array.read::<i32>(..).unwrap().as_slice(), [7; 4]);
}

#[test]
fn a_url_names_the_format_of_the_array_that_is_opened() {
    let storage = storage();
    block_on(storage.put(&Key::new("x/.zarray").unwrap(), ARRAY2)).unwrap();
    let meta = ArrayMeta::builder([3], DataType::Int32).build().unwrap();
    let beside = Storage::from(MemoryStore::new());
    Array::create(beside.clone(), "x", meta, &standard()).unwrap();
    let document = block_on(beside.get(&Key::new("x/zarr.json").unwrap(), 10_000)).unwrap().unwrap();
    block_on(storage.put(&Key::new("x/zarr.json").unwrap(), document)).unwrap();
    let open = |format| Array::open_at(&Located::new(storage.clone(), "/x", format), &standard());
    let format = |format| open(format).unwrap().metadata().format();
    assert_eq!([None, Some(3), Some(2)].map(format), [Format::V3, Format::V3, Format::V2]);
    let e = open(Some(9)).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::Unsupported, "{e:#}");
    let e = Array::open_at(&Located::new(beside, "/x", Some(2)), &standard()).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::NotFound, "{e:#}");
}
