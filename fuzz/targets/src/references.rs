//! Files of references of kerchunk. What a hostile file names is read from the places that are allowed, or is an error; a part
//! of a value is the part of the whole.

use std::sync::LazyLock;

use zarr_store::{MemoryStore, Targets};
use zarr_store_refs::{Refs, RefsLimits};
use zarr_traits::{Key, Prefix, Storage, block_on};

use crate::strangers::{self, put};

const FILE: &str = "folder/a.json";
const DATA: &str = "0123456789abcdef";
/// What references may name.
static TARGETS: LazyLock<Targets> =
    LazyLock::new(|| strangers::place("s3://bucket/allowed/", "allowed/data", DATA.as_bytes()));

pub(crate) fn run(input: &[u8]) {
    let own = Storage::from(MemoryStore::new());
    put(&own, FILE, input);
    put(&own, "folder/data", DATA.as_bytes());
    let mut limits = RefsLimits::default();
    (limits.json_bytes, limits.references, limits.location_bytes) = (1 << 20, 1 << 14, 1 << 10);
    let file = Key::new(FILE).expect("a key");
    let Ok(store) = block_on(Refs::open_with(&own, file, TARGETS.clone(), limits)) else { return };
    let listed = block_on(store.list_all(&Prefix::root())).expect("keys are at hand");
    strangers::check(&store, &listed);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        r#"{".zgroup": "{\"zarr_format\": 2}", "a/0": ["data", 4, 3], "a/1": ["s3://bucket/allowed/data"], "a/2": "base64:AAEC"}"#,
        r#"{"version": 1, "templates": {"u": "s3://bucket/allowed", "f": "{{u}}/{{n}}"}, "refs": {"a/.zattrs": {"x": [1, 2]},
            "a/0": ["{{u}}/data", 0, 4], "a/1": ["{{f(n='data')}}", 1, 2], "a/2": ["s3://bucket/secret", 0, 4]},
            "gen": [{"key": "b/{{i}}.{{j + 1}}", "url": "{{u}}/data", "offset": "{{i * 2}}", "length": "2",
            "dimensions": {"i": {"start": 0, "stop": 4, "step": 2}, "j": [3, 4]}}]}"#,
        r#"{"refs": {"a": ["../folder/data", 15, 2], "b": ["file:///etc/passwd"], "c": ["http://169.254.169.254/", 0, 1]}}"#,
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}
