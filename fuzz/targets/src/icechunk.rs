//! Icechunk repositories. What a hostile one names is read from the places that are allowed, or is an error; a part of a value is
//! the part of the whole.
//!
//! An input is the files of a repository: for each the length of the name (one byte), the name, the length of the content (four
//! bytes, little-endian) and the content.

use std::sync::LazyLock;

use zarr_store::{MemoryStore, Targets, zip::ZipStore};
use zarr_store_icechunk::{IcechunkLimits, Ref, Repository};
use zarr_traits::{Key, Prefix, Storage, StoreResult, block_on};

use crate::strangers::{self, ARCHIVE, put};

/// What references may name.
static TARGETS: LazyLock<Targets> =
    LazyLock::new(|| strangers::place("file:///zarr-references/data/", "allowed/raw.bin", &[7; 4096]));

/// Splits the first file off an input.
fn file(input: &[u8]) -> Option<(Key, &[u8], &[u8])> {
    let (len, rest) = input.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*len))?;
    let (len, rest) = rest.split_first_chunk::<4>()?;
    let (content, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    Some((Key::new(std::str::from_utf8(name).ok()?).ok()?, content, rest))
}

pub(crate) fn run(mut input: &[u8]) {
    let own = Storage::from(MemoryStore::new());
    while let Some((key, content, rest)) = file(input) {
        put(&own, key.as_str(), content);
        input = rest;
    }
    let mut limits = IcechunkLimits::default();
    (limits.file_bytes, limits.nodes, limits.listed_chunks) = (1 << 20, 1 << 12, 1 << 14);
    limits.names = 1 << 8;
    let repository = Repository::new(&own, Prefix::root()).limits(limits);
    let _ = block_on(hold(&repository));
    let Ok(store) = block_on(repository.open(&Ref::default(), TARGETS.clone())) else { return };
    let Ok(listed) = block_on(store.list_all(&Prefix::root())) else { return };
    assert!(listed.iter().all(|found| found.meta.size.is_some()), "a size is not known");
    strangers::check(&store, &listed);
}

/// Reads what a repository holds.
async fn hold(repository: &Repository) -> StoreResult<()> {
    let contents = repository.contents().await?;
    if let Ok(containers) = contents.virtual_chunk_containers().await {
        assert!(containers.len() <= 1 << 8);
    }
    for names in [contents.branches().await, contents.tags().await].into_iter().flatten() {
        assert!(names.len() <= 1 << 8);
        for id in names.into_values() {
            assert!(contents.ancestry(id, 10).await.map_or(0, |found| found.len()) <= 10);
        }
    }
    Ok(())
}

/// Repositories that Icechunk wrote, with their files inflated.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let folder = Storage::from(MemoryStore::new());
    let name = Key::new("a.zip").expect("a key");
    block_on(folder.put(&name, ARCHIVE)).expect("memory takes every value");
    ["v2-root-array", "v2-inline", "v2-virtual-compressed", "v2-virtual-named", "v1-expired", "v1-virtual"]
        .map(|repository| {
            let root = Prefix::new(format!("icechunk/{repository}/")).expect("a prefix");
            let store = block_on(ZipStore::open(&folder, name.clone(), root)).expect("an archive");
            let mut seed = Vec::new();
            for listed in block_on(store.list_all(&Prefix::root())).expect("an archive") {
                let key = listed.key.as_str();
                if key.starts_with("transactions/") || key.starts_with("overwritten/") {
                    continue;
                }
                let mut content = block_on(store.get(&listed.key, 1 << 20)).unwrap().unwrap().to_vec();
                if content.starts_with(b"ICE") && content[38] == 1 {
                    let payload = zrip::decompress(&content.split_off(39)).expect("a frame");
                    content[38] = 0;
                    content.extend(payload);
                }
                seed.push(key.len() as u8);
                seed.extend(key.as_bytes());
                seed.extend((content.len() as u32).to_le_bytes());
                seed.extend(content);
            }
            seed
        })
        .to_vec()
}
