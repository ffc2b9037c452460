//! Reads and writes in a module of WebAssembly without imports: no threads, no clock, no files.
//!
//! `cargo xtask test wasm` builds it for `wasm32-unknown-unknown` and runs it with node. A panic is a trap there.

use futures_util::StreamExt;
use zarr_array::meta::v3::Extension;
use zarr_array::{ArrayMeta, DataType, NdVec, Progress, Storage, block_on, codecs, standard};
use zarr_hierarchy::{Group, HierarchyResult};
use zarr_store::MemoryStore;

/// Creates arrays, and reads and writes them in every way that does not block.
async fn arrays(storage: Storage) -> HierarchyResult<()> {
    let mut root = Group::create(storage.clone(), "/", &standard()).await?;
    root.consolidate().await?;
    let chains: [&[Extension]; 6] = [
        &[],
        &[codecs::gzip(1), codecs::crc32c()],
        &[codecs::transpose([1, 0]), codecs::big_endian()],
        &[codecs::zstd(3)],
        &[codecs::blosc("lz4", 5)],
        &[codecs::blosc("zstd", 5).with("shuffle", "bitshuffle")],
    ];
    for (number, chain) in chains.into_iter().enumerate() {
        for shards in [None, Some([16, 16])] {
            let meta = ArrayMeta::builder([30, 40], DataType::Float32).chunks([8, 4]).codecs(chain.to_vec());
            let meta = if let Some(shards) = shards { meta.shards(shards) } else { meta };
            let path = format!("g{number}/{}", if shards.is_some() { "shards" } else { "chunks" });
            let progress = Progress::new();
            let mut array = root.create_array(&path, meta.build()?).await?.with_progress(progress.clone());
            let values: Vec<f32> = (0..1200_u16).map(f32::from).collect();
            array.write(.., NdVec::new([30, 40], values.clone())?).await?;
            array.write((3..5, 7..9), NdVec::new([2, 2], vec![0.5_f32; 4])?).await?;
            let all: NdVec<f32> = array.read(..).await?;
            assert_eq!((all[[0, 1]], all[[3, 7]], all[[29, 39]]), (1.0, 0.5, 1199.0));
            let some: NdVec<f32> = array.read(([29, 0], [-1, 1])).await?;
            assert_eq!(some.as_slice(), [1199.0, 1161.0, 39.0, 1.0]);
            let rows: Vec<_> = array.read_each::<f32, _, _>((0..30).map(|row| (row, 0)), 3).collect().await;
            assert_eq!(rows.len(), 30);
            array.append(0, NdVec::new([2, 40], vec![7.0_f32; 80])?).await?;
            array.set_attribute("units", "K").await?;
            assert!(progress.done() == progress.expected() && progress.done().chunks > 0);
        }
    }
    let words = ArrayMeta::builder([3], DataType::String).codecs([codecs::gzip(5)]).build()?;
    let words = root.create_array("words", words).await?;
    words.write(.., NdVec::new([3], ["a", "", "c"].map(String::from).to_vec())?).await?;
    let root = Group::open(storage, "/", &standard()).await?;
    assert_eq!(root.array("words").await?.read::<String>(..).await?.as_slice(), ["a", "", "c"]);
    assert_eq!((root.children().await?.len(), root.check_consolidated().await?), (7, Some(vec![])));
    assert_eq!(root.array("g1/shards").await?.shape(), [32, 40]);
    Ok(())
}

fn main() -> HierarchyResult<()> {
    block_on(arrays(MemoryStore::new().into()))
}
