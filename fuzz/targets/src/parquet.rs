//! Files of references in Parquet. What a hostile file names is read from the places that are allowed, or is an error; a part of
//! a value is the part of the whole.

use std::sync::LazyLock;

use zarr_store::{MemoryStore, Targets, zip::ZipStore};
use zarr_store_refs::{Refs, RefsLimits};
use zarr_traits::{Key, Prefix, Storage, block_on};

use crate::strangers::{self, ARCHIVE, put};

const DOCUMENTS: &str =
    r#"{"metadata": {"a/.zarray": {"shape": [32], "chunks": [1], "zarr_format": 2}}, "record_size": 100000}"#;
/// What references may name.
static TARGETS: LazyLock<Targets> =
    LazyLock::new(|| strangers::place("file:///zarr-references/data/", "allowed/weather.nc", &[7; 1 << 16]));

pub(crate) fn run(input: &[u8]) {
    let own = Storage::from(MemoryStore::new());
    put(&own, "r.parq/.zmetadata", DOCUMENTS.as_bytes());
    put(&own, "r.parq/a/refs.0.parq", input);
    let mut limits = RefsLimits::default();
    (limits.parquet_bytes, limits.page_bytes, limits.decoded_bytes) = (1 << 20, 1 << 20, 1 << 18);
    let directory = Prefix::new("r.parq/").expect("a prefix");
    let store =
        block_on(Refs::open_parquet_with(&own, directory, TARGETS.clone(), limits)).expect("it is valid");
    let Ok(listed) = block_on(store.list_all(&Prefix::root())) else { return };
    strangers::check(&store, &listed);
}

/// Encodings of differences, by pyarrow 26.0.1. The file of the fixtures has 100,000 rows, which take milliseconds each time.
const DELTA: &[u8] = include_bytes!("../seeds/delta.parq");

/// Files that fastparquet, pyarrow and VirtualiZarr wrote.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let folder = Storage::from(MemoryStore::new());
    put(&folder, "a.zip", ARCHIVE);
    let name = Key::new("a.zip").expect("a key");
    let store = block_on(ZipStore::open(&folder, name, Prefix::root())).expect("an archive");
    let seed = |array| {
        let key = Key::new(format!("kerchunk/{array}/refs.0.parq")).expect("a key");
        block_on(store.get(&key, 1 << 20)).expect("an archive").expect("a file").to_vec()
    };
    let arrays = [
        "small.parq/t2m",
        "vz.parq/t2m",
        "rowgroups.parq/t2m",
        "snappy.parq/t2m",
        "v2pages.parq/t2m",
        "mixed.parq/t2m",
        "categorical.parq/v",
        "by-hand.parq/b64",
    ];
    arrays.map(seed).into_iter().chain([DELTA.to_vec()]).collect()
}
