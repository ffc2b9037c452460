//! Files of references in Parquet. What a hostile file names is read from the places that are allowed, or is an error; a part of
//! a value is the part of the whole.

use zarr_store::{MemoryStore, Targets, zip::ZipStore};
use zarr_store_refs::{Refs, RefsLimits};
use zarr_traits::{Key, Prefix, Storage, block_on};

use crate::strangers::{self, ARCHIVE, put};

const DOCUMENTS: &str = r#"{"metadata": {"a/.zarray": {"shape": [200], "chunks": [1], "zarr_format": 2}}, "record_size": 100000}"#;
const SECRET: &str = "what nobody may read";

pub(crate) fn run(input: &[u8]) {
    let (own, archive) = (Storage::from(MemoryStore::new()), Storage::from(MemoryStore::new()));
    put(&own, "r.parq/.zmetadata", DOCUMENTS.as_bytes());
    put(&own, "r.parq/a/refs.0.parq", input);
    put(&archive, "allowed/weather.nc", &[7; 1 << 16]);
    put(&archive, "secret", SECRET.as_bytes());
    let below = zarr_store::Prefixed::over(&archive, Prefix::new("allowed/").expect("a prefix"));
    let targets = Targets::none().serve("file:///zarr-references/data/", below).expect("a place");
    let mut limits = RefsLimits::default();
    (limits.parquet_bytes, limits.page_bytes, limits.decoded_bytes) = (1 << 20, 1 << 20, 1 << 22);
    let directory = Prefix::new("r.parq/").expect("a prefix");
    let store = block_on(Refs::open_parquet_with(&own, directory, targets, limits)).expect("it is valid");
    let Ok(listed) = block_on(store.list_all(&Prefix::root())) else { return };
    strangers::check(&store, &listed, SECRET);
}

/// Files that fastparquet, pyarrow and VirtualiZarr wrote.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let folder = Storage::from(MemoryStore::new());
    put(&folder, "a.zip", ARCHIVE);
    let name = Key::new("a.zip").expect("a key");
    let store = block_on(ZipStore::open(&folder, name, Prefix::root())).expect("an archive");
    [
        "small.parq/t2m",
        "vz.parq/t2m",
        "rowgroups.parq/t2m",
        "snappy.parq/t2m",
        "v2pages.parq/t2m",
        "delta.parq/t2m",
        "mixed.parq/t2m",
        "categorical.parq/v",
        "by-hand.parq/b64",
    ]
    .map(|array| {
        let key = Key::new(format!("kerchunk/{array}/refs.0.parq")).expect("a key");
        block_on(store.get(&key, 1 << 20)).expect("an archive").expect("a file").to_vec()
    })
    .to_vec()
}
