//! ZIP archives. What a hostile archive lists can be read or is an error; a part of a member is the part of the whole.

use zarr_store::MemoryStore;
use zarr_store::zip::{PackOptions, ZipLimits, ZipStore, pack};
use zarr_traits::store::ReadVersion;
use zarr_traits::{ByteRange, Key, Prefix, Storage, block_on};

const ARCHIVE: &str = "a.zip";

pub(crate) fn run(input: &[u8]) {
    let folder = Storage::from(MemoryStore::new());
    let archive = Key::new(ARCHIVE).expect("a key");
    block_on(folder.put(&archive, input.to_vec())).expect("memory takes every value");
    let mut limits = ZipLimits::default();
    (limits.directory_bytes, limits.inflated_bytes) = (1 << 18, 1 << 18);
    let Ok(store) = block_on(ZipStore::open_with(&folder, archive, Prefix::root(), limits)) else { return };
    let Ok(listed) = block_on(store.list_all(&Prefix::root())) else { return };
    let _ = block_on(store.list_dir(&Prefix::root()));
    for member in listed.iter().take(16) {
        let key = &member.key;
        assert!(
            key.as_str().split('/').all(|s| !matches!(s, "" | "." | "..")),
            "the member {key:?} leaves the archive"
        );
        let Ok(whole) = block_on(store.get(key, 1 << 18)) else { continue };
        let whole = whole.expect("a listed member is there");
        let middle = whole.len() as u64 / 2;
        let tail = ByteRange::Span { offset: middle, len: whole.len() as u64 - middle };
        let tail = block_on(store.get_ranges(key, &[tail], ReadVersion::Any, 1 << 18));
        let tail =
            tail.expect("the whole member can be read, so can a part").expect("a listed member is there");
        assert_eq!(tail.bytes.concat(), whole[middle as usize..], "a part of {key:?} differs");
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let folder = Storage::from(MemoryStore::new());
    for (key, value) in [("zarr.json", &b"{}"[..]), ("c/0/0", &[7; 300]), ("c/0/1", b"")] {
        block_on(folder.put(&Key::new(key).expect("a key"), value)).expect("memory takes every value");
    }
    let mut file = Vec::new();
    let options = PackOptions::new(|key| key.name() == "zarr.json");
    block_on(pack(&folder, &Prefix::root(), &mut file, &options)).expect("memory takes every value");
    vec![file]
}
