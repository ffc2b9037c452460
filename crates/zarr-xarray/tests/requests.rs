//! The number of requests of opening, selecting, reading and writing, and of consecutive ones (round trips).

use std::time::Duration;

use zarr_conformance::instruments::{Counting, Network, RequestCounts, Simulated};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::zarr_array::{Cpu, DataType, NdVec, Storage, standard};
use zarr_hierarchy::{ArrayMeta, Format, GroupMeta, GroupOptions};
use zarr_meta::json::{Value, json};
use zarr_store::MemoryStore;
use zarr_xarray::blocking::{DataTree, Dataset};
use zarr_xarray::{Append, Encoding, Labels, NewDataset, NewVariable, Positions, XarrayResult};

/// The lengths of the coordinates of [`stored`].
const COORDINATES: [(&str, u64); 4] = [("time", 8), ("level", 2), ("lat", 4), ("lon", 6)];

/// A store whose arrays are read and written on the thread of the test. The virtual clock does not wait for other
/// threads, so their work would count as round trips.
fn memory() -> Storage {
    let storage = Storage::from(MemoryStore::new());
    assert!(Cpu::inline().use_for(&storage));
    storage
}

/// Four coordinates and 26 packed variables. Each time step of a variable is one chunk.
fn stored(format: Format, consolidated: bool) -> Storage {
    let storage = memory();
    let mut root = create(&storage, format);
    for (name, length) in COORDINATES {
        let attributes = match name {
            "time" => json!({ "units": "days since 2000-01-01" }),
            _ => json!({ "units": "1" }),
        };
        let array = array(format, &[(name, length)], &[length], DataType::Int32, attributes);
        let values: Vec<i32> = (0_i32..).zip(0..length).map(|(position, _)| position * 10).collect();
        root.create_array(name, array).unwrap().write(.., &values).unwrap();
    }
    for number in 0..26_i16 {
        let attributes = json!({ "scale_factor": 0.5, "coordinates": "lat lon" });
        let meta = array(format, &COORDINATES, &[1, 2, 4, 6], DataType::Int16, attributes);
        let array = root.create_array(&format!("v{number:02}"), meta).unwrap();
        array.write(.., &vec![number; 8 * 2 * 4 * 6]).unwrap();
    }
    if consolidated {
        root.consolidate().unwrap();
    }
    storage
}

fn create(storage: &Storage, format: Format) -> Group {
    let (meta, options) = (GroupMeta::new(format).unwrap(), GroupOptions::new());
    Group::create_with(storage.clone(), "/", meta, &standard(), &options).unwrap()
}

fn array(
    format: Format,
    dimensions: &[(&str, u64)],
    chunks: &[u64],
    data_type: DataType,
    attributes: Value,
) -> ArrayMeta {
    let shape: Vec<u64> = dimensions.iter().map(|(_, length)| *length).collect();
    let names = dimensions.iter().map(|(name, _)| *name);
    let meta =
        ArrayMeta::builder(shape, data_type).chunks(chunks).dimension_names(names).attributes(attributes);
    let meta = meta.chunk_key_encoding(zarr_meta::v3::Extension::new("v2")).build().unwrap();
    if format == Format::V3 { meta } else { meta.to_v2().unwrap() }
}

#[test]
fn opening_reads_documents_only() {
    for (format, consolidated, most) in [
        (Format::V3, true, 1),
        (Format::V3, false, 32),
        // `zarr.json`, the two documents of the group, and the consolidated metadata.
        (Format::V2, true, 4),
        // The same, a list, and two documents of each array. None can go: without a given format `zarr.json` may exist,
        // and without a list nothing tells the names of the arrays.
        (Format::V2, false, 65),
    ] {
        let (storage, counting) = Counting::over(&stored(format, consolidated));
        let dataset = Dataset::open(Group::open(storage, "/", &standard()).unwrap()).unwrap();
        assert_eq!(dataset.data_variables().count(), 26);
        let used = counting.counts();
        assert_eq!((used.requests(), used.puts), (most, 0), "{format:?} {consolidated}");

        let (storage, counting) = Counting::over(&stored(format, consolidated));
        let options = GroupOptions::new().format(format);
        Dataset::open(Group::open_with(storage, "/", &standard(), &options).unwrap()).unwrap();
        let saved = u64::from(format == Format::V2);
        assert_eq!(counting.counts().requests(), most - saved, "a format that is known is not looked for");
    }
}

#[test]
fn a_selection_by_label_reads_each_index_once() {
    let (storage, counting) = Counting::over(&stored(Format::V3, true));
    let dataset = Dataset::open(Group::open(storage, "/", &standard()).unwrap()).unwrap();
    let opened = counting.counts();
    assert_eq!(opened.requests(), 1);

    let box_ = [
        ("time", Labels::from("2000-01-21")),
        ("lat", Labels::between(30, 10)),
        ("lon", Labels::nearest(21)),
    ];
    let part = dataset.sel(box_).unwrap();
    assert_eq!((counting.counts() - opened).requests(), 3);
    let values = part.variable("v07").unwrap().read::<f64>().unwrap();
    assert_eq!((values.shape(), values.as_slice()), (&[2, 3][..], &[3.5; 6][..]));
    assert_eq!(counting.counts().requests(), 5);

    // The indexes are known now, also to selections.
    part.sel([("lat", 20)]).unwrap();
    dataset.sel([("lat", 20), ("lon", 50)]).unwrap();
    dataset.isel([("level", Positions::from(-1))]).unwrap();
    assert_eq!(counting.counts().requests(), 5);
}

/// A blocking handle waits for several answers of a network at once.
#[test]
fn indexes_are_read_at_the_same_time() {
    let network = Network::default().round_trip(Duration::from_millis(1));
    let (far, _) = Simulated::over(&stored(Format::V3, true), network);
    let (storage, counting) = Counting::over(&far);
    let dataset = Dataset::open(Group::open(storage, "/", &standard()).unwrap()).unwrap();
    dataset.sel([("time", Labels::from("2000-01-21")), ("lat", 20.into()), ("lon", 50.into())]).unwrap();
    assert_eq!(counting.most_at_once(), 3);
}

#[test]
fn a_consolidated_tree_is_one_request() {
    let storage = memory();
    let mut root = create(&storage, Format::V3);
    for group in 0..10 {
        for (name, length) in COORDINATES {
            let meta = array(Format::V3, &[(name, length)], &[length], DataType::Int32, json!({}));
            root.create_array(&format!("g{group}/{name}"), meta).unwrap();
        }
    }
    root.consolidate().unwrap();
    let (storage, counting) = Counting::over(&storage);
    let tree = DataTree::open(Group::open(storage, "/", &standard()).unwrap()).unwrap();
    assert_eq!((tree.paths().count(), counting.counts().requests()), (11, 1));
}

/// `count` time steps of 26 variables, each step a chunk of each variable. The axes of space have one chunk each.
fn weather(from: i32, count: i32) -> NewDataset {
    let steps = u64::try_from(count).unwrap();
    let mut new = NewDataset::new()
        .coordinate("time", NewVariable::new(["time"], (from..from + count).collect::<Vec<i32>>()));
    for number in 0..26 {
        let values = NdVec::new([steps, 4, 6], vec![1.5_f32; usize::try_from(count * 24).unwrap()]).unwrap();
        new = new.variable(&format!("v{number:02}"), NewVariable::new(["time", "lat", "lon"], values));
    }
    new
}

/// The first four steps: 29 arrays.
fn first() -> NewDataset {
    let mut new = weather(0, 4);
    for (name, length) in [("lat", 4), ("lon", 6)] {
        new = new.coordinate(name, NewVariable::new([name], (0..length).collect::<Vec<i32>>()));
    }
    for number in 0..26 {
        let values = NdVec::new([4, 4, 6], vec![1.5_f32; 96]).unwrap();
        let chunks = Encoding::new().chunks([1, 4, 6]);
        let variable = NewVariable::new(["time", "lat", "lon"], values).encoding(chunks);
        new = new.variable(&format!("v{number:02}"), variable);
    }
    new
}

/// Runs `work` on this thread, over a network without limit on the requests in flight. Returns the requests and the
/// round trips.
fn cost<F: Future<Output = XarrayResult<()>>>(
    storage: &Storage,
    work: impl FnOnce(Storage) -> F,
) -> (RequestCounts, u64) {
    let network = Network::default().in_flight(1024);
    let (far, simulated) = Simulated::virtually(storage, network);
    let (counted, counting) = Counting::over(&far);
    simulated.run(work(counted)).unwrap();
    (counting.counts(), simulated.round_trips())
}

async fn open(storage: Storage) -> XarrayResult<zarr_xarray::Dataset> {
    zarr_xarray::Dataset::open(zarr_xarray::Group::open(storage, "/", &standard()).await?).await
}

#[test]
fn a_dataset_is_created_with_a_request_for_each_object() {
    for (format, documents) in [(Format::V3, 29), (Format::V2, 2 * 29 + 1)] {
        let storage = memory();
        let (used, trips) = cost(&storage, async |storage| {
            let new = first().format(format);
            zarr_xarray::Dataset::create(storage, "/", new, &standard()).await.map(drop)
        });
        println!("create {format:?}: {trips} round trips, {used:?}");
        assert!(used.puts <= documents + 107 + 2, "{format:?}: {used:?}");
        // One listing shows that no place has a node, and consolidation reads all documents.
        assert!(used.requests() - used.puts <= documents + 12, "{format:?}: {used:?}");
        assert!(trips <= 14, "{format:?}: {trips}");
    }
}

#[test]
fn a_step_is_appended_with_two_requests_for_each_document() {
    // In format 2 a document is looked for in three places before it is changed.
    for (format, most) in [(Format::V3, 90), (Format::V2, 150)] {
        for how in [Append::Alone, Append::Shared] {
            let storage = memory();
            Dataset::create(storage.clone(), "/", first().format(format), &standard()).unwrap();
            let (opened, _) = cost(&storage, async |storage| open(storage).await.map(drop));
            let (used, trips) = cost(&storage, async |storage| {
                open(storage).await?.append_with("time", weather(4, 1), how).await
            });
            println!("append {format:?} {how:?}: {trips} round trips, {used:?}");
            assert!((used - opened).requests() <= most, "{format:?} {how:?}: {used:?}");
            assert!(trips <= 20, "{format:?} {how:?}: {trips}");
        }
    }
}

/// The time axis is read once and each chunk is put, without a read.
#[test]
fn a_region_is_written_with_one_request_for_each_chunk() {
    let storage = memory();
    Dataset::create(storage.clone(), "/", first(), &standard()).unwrap();
    let (used, trips) =
        cost(&storage, async |storage| open(storage).await?.write_region(weather(2, 1)).await);
    println!("region: {trips} round trips, {used:?}");
    assert_eq!(used.puts, 26, "{used:?}");
    // One of them opens the dataset.
    assert!(used.requests() <= 28 + 1, "{used:?}");
    assert!(trips <= 4, "{trips}");
}

#[test]
fn independent_requests_are_made_at_the_same_time() {
    for (format, consolidated, most) in
        [(Format::V3, true, 1), (Format::V3, false, 3), (Format::V2, true, 3), (Format::V2, false, 5)]
    {
        let storage = stored(format, consolidated);
        let (_, trips) = cost(&storage, async |storage| open(storage).await.map(drop));
        assert!(trips <= most, "{format:?} {consolidated}: {trips}");
    }
    let storage = stored(Format::V3, true);
    let (used, trips) = cost(&storage, async |storage| {
        let box_ = [
            ("time", Labels::from("2000-01-21")),
            ("lat", Labels::between(30, 10)),
            ("lon", Labels::nearest(21)),
        ];
        let part = open(storage).await?.sel(box_).await?;
        part.variable("v07")?.read::<f64>().await.map(drop)
    });
    assert_eq!((used.requests(), trips), (5, 3));
}
