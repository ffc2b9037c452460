//! Datasets in memory: what is read, selected and refused.

use zarr_conformance::instruments::Counting;
use zarr_hierarchy::zarr_array::blocking::Array;
use zarr_hierarchy::zarr_array::{
    CreateOptions, DataType, ExistingNode, Limits, Located, Storage, WriteElement, standard,
};
use zarr_hierarchy::{ArrayMeta, GroupOptions, blocking::Group};
use zarr_meta::json::{Value, json};
use zarr_store::MemoryStore;
use zarr_xarray::blocking::{DataTree, Dataset};
use zarr_xarray::{
    Decoded, DecodedType, Label, Labels, Method, NumberType, Picked, Positions, XarrayErrorKind, XarrayResult,
};

/// A group in memory, to which arrays are added.
struct Stored {
    storage: Storage,
    root: Group,
}

impl Stored {
    fn new() -> Self {
        let storage = Storage::from(MemoryStore::new());
        let root = Group::create(storage.clone(), "/", &standard()).unwrap();
        Self { storage, root }
    }

    fn with<T: WriteElement>(
        self,
        name: &str,
        dimensions: &[(&str, u64)],
        data_type: DataType,
        attributes: Value,
        values: &[T],
    ) -> Self {
        let shape: Vec<u64> = dimensions.iter().map(|(_, length)| *length).collect();
        let meta = ArrayMeta::builder(shape.clone(), data_type).chunks(shape);
        let meta = meta.dimension_names(dimensions.iter().map(|(name, _)| *name)).attributes(attributes);
        let array = self.root.create_array(name, meta.build().unwrap()).unwrap();
        array.write(.., values).unwrap();
        self
    }

    fn open(&self) -> Dataset {
        Dataset::open(Group::open(self.storage.clone(), "/", &standard()).unwrap()).unwrap()
    }
}

#[test]
fn an_array_alone_is_a_dataset_without_a_request() {
    let memory = Storage::from(MemoryStore::new());
    let (storage, counting) = Counting::over(&memory);
    let packed = json!({ "scale_factor": 0.5, "_FillValue": -1 });
    for (names, wanted) in [
        (None, ["dim_0", "dim_1"]),
        (Some([Some("y"), None]), ["y", "dim_1"]),
        (Some([Some("x"), Some("x")]), ["x", "dim_1"]),
        (Some([Some("y"), Some("x")]), ["y", "x"]),
    ] {
        let meta = ArrayMeta::builder([1, 2], DataType::Int16).chunks([1, 2]).attributes(packed.clone());
        let meta = match names {
            Some(names) => meta.dimension_names(names),
            None => meta,
        };
        let options = CreateOptions::new().existing(ExistingNode::Replace);
        let meta = meta.build().unwrap();
        let array = Array::create_with(storage.clone(), "/g/a", meta, &standard(), &options).unwrap();
        array.write(.., &[3_i16, -1]).unwrap();
        let before = counting.counts();
        let dataset = Dataset::of_array("a", array, &standard()).unwrap();
        let variable = dataset.variable("a").unwrap();
        assert_eq!(variable.dimensions(), wanted);
        assert_eq!(dataset.group().path(), "/g");
        assert_eq!((counting.counts() - before).requests(), 0);
        let part = variable.isel([(wanted[1], 0..1)]).unwrap();
        assert_eq!(part.read::<f64>().unwrap().as_slice(), [1.5]);
    }
}

#[test]
fn texts_with_a_missing_value_and_numbers_for_booleans_are_encoded() {
    let stored = Stored::new()
        .with("s", &[("x", 2)], DataType::String, json!({ "_FillValue": "none" }), &["a", "none"])
        .with("b", &[("x", 2)], DataType::Int16, json!({ "dtype": "bool" }), &[0_i16, 1]);
    let dataset = stored.open();
    let texts = dataset.variable("s").unwrap();
    let read = texts.read_any().unwrap();
    assert_eq!(texts.encode(read).unwrap(), b"anone");
    let truths = dataset.variable("b").unwrap();
    assert_eq!(truths.encode(vec![true, false]).unwrap(), [1_i16, 0].map(i16::to_ne_bytes).concat());
    truths.write(vec![true, false]).unwrap();
    assert_eq!(truths.read_raw::<i16>().unwrap().as_slice(), [1, 0]);
}

/// Packed numbers along times and descending latitudes.
fn weather() -> Stored {
    let (time, lat) = (("time", 4), ("lat", 3));
    Stored::new()
        .with(
            "time",
            &[time],
            DataType::Int32,
            json!({ "units": "days since 2000-01-30" }),
            &[0_i32, 1, 2, 3],
        )
        .with("lat", &[lat], DataType::Float32, json!({}), &[60.0_f32, 50.0, 40.0])
        .with(
            "t",
            &[time, lat],
            DataType::Int16,
            json!({ "scale_factor": 0.5, "_FillValue": -1, "units": "K" }),
            &[0_i16, 1, 2, 3, 4, 5, 6, -1, 8, 9, 10, 11],
        )
}

fn refused<T>(result: XarrayResult<T>, kind: XarrayErrorKind, part: &str) {
    let Err(error) = result else { panic!("{part}: it is not refused") };
    assert_eq!(error.kind(), kind, "{error:#}");
    assert!(format!("{error:#}").contains(part), "{error:#}");
}

#[test]
fn elements_are_read_decoded_masked_or_as_they_are_stored() {
    let dataset = weather().open();
    let t = dataset.variable("t").unwrap().isel([("time", 2)]).unwrap();
    assert_eq!((t.dimensions(), t.shape()), (&["lat".to_owned()][..], &[3][..]));
    assert_eq!(t.data_type(), DecodedType::Numbers(NumberType::Float64));
    assert_eq!(t.attributes().to_value().to_compact(), r#"{"units":"K"}"#);
    assert!(t.encoding().contains("scale_factor"));
    let decoded = t.read::<f64>().unwrap().into_vec();
    assert_eq!((decoded[0], decoded[1].is_nan(), decoded[2]), (3.0, true, 4.0));
    assert_eq!(t.read_masked::<f64>().unwrap().into_vec(), [Some(3.0), None, Some(4.0)]);
    assert_eq!(t.read_raw::<i16>().unwrap().into_vec(), [6, -1, 8]);
    let time = dataset.variable("time").unwrap().read_times().unwrap();
    assert_eq!(time.get(2).unwrap().to_string(), "2000-02-01");
    refused(t.read::<f32>(), XarrayErrorKind::Invalid, "float32");
    refused(t.read_masked::<String>(), XarrayErrorKind::Invalid, "variable \"t\"");
    refused(t.read_times(), XarrayErrorKind::Invalid, "time");
    refused(dataset.variable("u"), XarrayErrorKind::NotFound, "\"u\"");
}

/// Issue 37, D7: element 7 is 0.29166666666666663 days, which cftime reads as 07:00.
#[test]
fn an_hour_in_float_days_of_a_model_calendar_is_selected_by_its_label() {
    let days: Vec<f64> = (0..48).map(|hour| f64::from(hour) * (1.0 / 24.0)).collect();
    let attributes = json!({ "units": "days since 1850-01-01", "calendar": "noleap" });
    let stored = Stored::new().with("time", &[("time", 48)], DataType::Float64, attributes, &days);
    let dataset = stored.open();
    for (text, wanted) in [
        ("time=1850-01-01T06", Picked::One(6)),
        ("time=1850-01-01T07", Picked::One(7)),
        ("time=1850-01-01T07:00:00", Picked::One(7)),
    ] {
        let found = dataset.select(&text.parse().unwrap()).unwrap();
        assert_eq!(found.selected("time"), Some(wanted), "{text}");
    }
    let times = dataset.variable("time").unwrap().read_times().unwrap();
    assert_eq!(times.get(7).unwrap().to_string(), "1850-01-01T07:00");
}

#[test]
fn a_selection_of_a_selection_has_the_labels_that_are_left() {
    let dataset = weather().open();
    let february = dataset.sel([("time", "2000-02")]).unwrap();
    assert_eq!((february.dimensions()["time"], dataset.dimensions()["time"]), (2, 4));
    refused(february.sel([("time", "2000-01-30")]), XarrayErrorKind::NotFound, "2000-01-30");
    let north = february.sel([("lat", Labels::between(45, 70))]).unwrap();
    let last = north.sel([("time", Labels::from("2000-02-02")), ("lat", Labels::nearest(52.0))]).unwrap();
    assert_eq!(last.variable("t").unwrap().read::<f64>().unwrap().into_vec(), [5.0]);
    assert_eq!(last.indexes().count(), 0);
    refused(last.sel([("lat", 50)]), XarrayErrorKind::Invalid, "one position");
    let turned = dataset.isel([("lat", Positions::step(.., -1))]).unwrap();
    let t = turned.sel([("lat", Labels::slice(Some(Label::from(40)), Some(Label::from(50))))]).unwrap();
    assert_eq!(t.variable("lat").unwrap().read::<f32>().unwrap().into_vec(), [40.0, 50.0]);
}

#[test]
fn points_become_one_dimension() {
    let dataset = weather().open();
    let at = |time: &[&str], lat: &[f64]| {
        let lat = Labels::list_near(lat.iter().copied(), Method::Nearest).within(2.0);
        dataset.sel_points("place", [("time", Labels::list(time.iter().copied())), ("lat", lat)])
    };
    let places = at(&["2000-01-31", "2000-02-02"], &[59.0, 41.0]).unwrap();
    let t = places.variable("t").unwrap();
    assert_eq!(
        (t.dimensions(), t.read::<f64>().unwrap().into_vec()),
        (&["place".to_owned()][..], vec![1.5, 5.5])
    );
    assert_eq!(places.variable("lat").unwrap().dimensions(), ["place"]);
    let one = places.isel([("place", 1)]).unwrap().variable("t").unwrap();
    assert_eq!((one.shape(), one.read::<f64>().unwrap().into_vec()), (&[][..], vec![5.5]));
    refused(at(&["2000-01-31"], &[59.0, 41.0]), XarrayErrorKind::Invalid, "1 in \"time\", 2 in \"lat\"");
    refused(at(&["2000-01-31"], &[55.0]), XarrayErrorKind::NotFound, "lat");
    let all = [("time", Labels::slice(None, None))];
    refused(dataset.sel_points("p", all), XarrayErrorKind::Invalid, "not a list");
    refused(places.sel_points("p", [("place", Labels::list([0]))]), XarrayErrorKind::Unsupported, "points");
}

#[test]
fn wrong_selections_are_refused() {
    let square = [("x", 2), ("x", 2)];
    let stored = weather()
        .with("square", &square, DataType::Int8, json!({}), &[0_i8; 4])
        .with("x", &[("x", 2)], DataType::Int8, json!({}), &[0_i8, 1])
        .with("n", &[("obs", 3)], DataType::Int8, json!({}), &[7_i8, 8, 9])
        .with("h", &[], DataType::Int8, json!({}), &[1_i8]);
    let dataset = stored.open();
    refused(dataset.isel([("x", 0)]), XarrayErrorKind::Unsupported, "\"square\"");
    refused(dataset.sel([("x", 0)]), XarrayErrorKind::Unsupported, "twice");
    refused(dataset.variable("square").unwrap().isel([("x", 0)]), XarrayErrorKind::Unsupported, "twice");
    assert_eq!(dataset.variable("square").unwrap().shape(), [2, 2]);
    refused(dataset.isel([("lat", 3)]), XarrayErrorKind::Invalid, "lat");
    refused(dataset.isel([("q", 0)]), XarrayErrorKind::Invalid, "\"q\"");
    refused(dataset.sel([("q", 0)]), XarrayErrorKind::Invalid, "\"q\"");
    refused(dataset.sel([("h", 1)]), XarrayErrorKind::Invalid, "\"h\"");
    refused(dataset.sel([("lat", "north")]), XarrayErrorKind::Invalid, "north");
    refused(dataset.sel([("time", "2000-03")]), XarrayErrorKind::NotFound, "2000-03");

    let last = dataset.sel([("obs", Labels::list([-1, 0]))]).unwrap();
    assert_eq!(last.variable("n").unwrap().read::<i8>().unwrap().into_vec(), [9, 7]);
    refused(dataset.sel([("obs", Labels::nearest(1))]), XarrayErrorKind::Invalid, "obs");
}

#[test]
fn a_variable_that_cannot_be_read_is_still_described() {
    let stored = weather();
    let meta = ArrayMeta::builder([3], DataType::Int8)
        .chunks([3])
        .dimension_names(["lat"])
        .attributes(json!({ "units": "m" }))
        .codecs([zarr_meta::v3::Extension::new("bytes"), zarr_meta::v3::Extension::new("example.unknown")]);
    let text = meta.build().unwrap().to_text();
    let put = |key: &str, text: &str| {
        let key = zarr_hierarchy::zarr_array::traits::Key::new(key).unwrap();
        zarr_hierarchy::zarr_array::block_on(stored.storage.put(&key, text.to_owned())).unwrap();
    };
    put("unknown/zarr.json", &text);
    put("torn/zarr.json", "{\"zarr_format\": 3, ");
    let dataset = stored.open();
    assert_eq!(dataset.broken().map(|(name, _)| name).collect::<Vec<_>>(), ["torn"]);
    assert!(dataset.findings().iter().any(|(name, _)| name == "torn"));
    refused(dataset.variable("torn"), XarrayErrorKind::Access, "torn");
    let unknown = dataset.variable("unknown").unwrap();
    assert_eq!(unknown.dimensions(), ["lat"]);
    refused(unknown.read::<i8>(), XarrayErrorKind::Access, "example.unknown");
    assert_eq!(dataset.variable("lat").unwrap().read::<f32>().unwrap().into_vec(), [60.0, 50.0, 40.0]);
}

#[test]
fn results_have_the_limits_of_the_group() {
    let stored = weather();
    let huge =
        ArrayMeta::builder([1_u64 << 61], DataType::Int16).chunks([1_u64 << 20]).dimension_names(["x"]);
    let huge = huge.attributes(json!({ "scale_factor": 0.5 })).build().unwrap();
    stored.root.create_array("huge", huge).unwrap();
    let mut limits = Limits::default();
    limits.result_bytes = 95;
    let options = GroupOptions::new().limits(limits);
    let group = Group::open_with(stored.storage.clone(), "/", &standard(), &options).unwrap();
    let dataset = Dataset::open(group).unwrap();
    // The stored elements are within the limits, the decoded ones are not.
    refused(dataset.variable("t").unwrap().read::<f64>(), XarrayErrorKind::Access, "95");
    refused(stored.open().variable("huge").unwrap().read::<f64>(), XarrayErrorKind::Access, "huge");
}

#[test]
fn a_part_of_a_sharded_variable_reads_its_inner_chunks_only() {
    let stored = Stored::new();
    let meta = ArrayMeta::builder([1024, 1024], DataType::Int16).chunks([64, 64]).shards([1024, 1024]);
    let meta = meta.dimension_names(["y", "x"]).attributes(json!({ "add_offset": 0.5 })).build().unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    let values: Vec<i16> = std::iter::repeat_with(|| random.i16(..)).take(1024 * 1024).collect();
    stored.root.create_array("t", meta).unwrap().write(.., &values).unwrap();
    let (storage, counting) = Counting::over(&stored.storage);
    let dataset = Dataset::open(Group::open(storage, "/", &standard()).unwrap()).unwrap();
    let before = counting.counts();
    let part = dataset.isel([("y", 64..128), ("x", 0..2)]).unwrap().variable("t").unwrap();
    assert_eq!(part.read::<f64>().unwrap()[[1, 1]], f64::from(values[65 * 1024 + 1]) + 0.5);
    let used = counting.counts() - before;
    assert_eq!(used.reads, 2, "the index and one inner chunk");
    assert!(used.bytes_read < 100_000, "{used:?}");
}

#[test]
fn texts_booleans_and_flags_are_read() {
    let flags = json!({ "flag_values": [1, 2], "flag_meanings": "land sea" });
    let dataset = Stored::new()
        .with("name", &[("s", 2)], DataType::String, json!({ "_FillValue": "" }), &["a", ""])
        .with("open", &[("s", 2)], DataType::Int8, json!({ "dtype": "bool" }), &[1_i8, 0])
        .with("mask", &[("s", 2)], DataType::Int8, flags, &[1_i8, 2])
        .open();
    let name = dataset.variable("name").unwrap();
    assert_eq!(name.read_masked::<String>().unwrap().into_vec(), [Some("a".to_owned()), None]);
    assert_eq!(name.data_type(), DecodedType::Texts);
    let open = dataset.variable("open").unwrap();
    assert_eq!(open.read_masked::<bool>().unwrap().into_vec(), [Some(true), Some(false)]);
    assert!(matches!(open.read_any().unwrap(), Decoded::Booleans(_)));
    let flags = dataset.variable("mask").unwrap().flags().unwrap().unwrap();
    assert_eq!(flags.meanings(2).collect::<Vec<_>>(), ["sea"]);
}

#[test]
fn a_child_inherits_the_coordinates_that_fit() {
    let stored = weather().with("fine/u", &[("time", 4)], DataType::Int8, json!({}), &[0_i8; 4]).with(
        "other/u",
        &[("time", 2), ("lat", 3)],
        DataType::Int8,
        json!({}),
        &[0_i8; 6],
    );
    let tree = DataTree::open(Group::open(stored.storage.clone(), "/", &standard()).unwrap()).unwrap();
    assert_eq!(tree.paths().collect::<Vec<_>>(), ["/", "/fine", "/other"]);
    let fine = tree.dataset("fine").unwrap();
    assert_eq!(fine.inherited().collect::<Vec<_>>(), ["lat", "time"]);
    let february = fine.sel([("time", "2000-02")]).unwrap();
    assert_eq!(february.variable("u").unwrap().shape(), [2]);
    assert_eq!(february.variable("time").unwrap().read_times().unwrap().len(), 2);
    assert_eq!(tree.dataset("/other").unwrap().inherited().collect::<Vec<_>>(), ["lat"]);
    refused(tree.check_aligned(), XarrayErrorKind::Invalid, "\"/other\"");
    refused(tree.dataset("/none"), XarrayErrorKind::NotFound, "none");
}

#[test]
fn futures_can_move_between_threads() {
    fn check(_: &impl Send) {}

    let dataset = weather().open().into_async();
    check(&zarr_xarray::Dataset::open(dataset.group().clone()));
    check(&zarr_xarray::DataTree::open(dataset.group().clone()));
    check(&dataset.sel([("lat", 50)]));
    let t = dataset.variable("t").unwrap();
    check(&t.read::<f64>());
    check(&t.read_any());
    check(&t.write(vec![0.0]));
}

#[cfg(feature = "ndarray")]
#[test]
fn elements_become_an_array_of_ndarray() {
    let t = weather().open().variable("t").unwrap().read::<f64>().unwrap().into_ndarray();
    assert_eq!((t.shape(), t[[3, 2]]), (&[4, 3][..], 5.5));
}

#[test]
fn a_url_names_the_dataset_and_its_format() {
    let stored = Stored::new();
    let located = |format| Located::new(stored.storage.clone(), "/", format);
    assert_eq!(Dataset::open_at(&located(Some(3)), &standard()).unwrap().group().path(), "/");
    assert_eq!(DataTree::open_at(&located(None), &standard()).unwrap().paths().count(), 1);
    let e = Dataset::open_at(&located(Some(2)), &standard()).unwrap_err();
    assert_eq!(e.kind(), XarrayErrorKind::Access, "{e:#}");
}
