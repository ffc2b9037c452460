//! What the writers do. Every kind of work turns version `n - 1` of a store into version `n`, and from the store one can
//! tell which version it is, or that it is none.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;
use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, DataType, NdVec, Storage, codecs, standard};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::zarr_array::meta::json::Value;
use zarr_store_fs::{Durability, FsStore};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Work {
    /// Replaces an uncompressed chunk.
    Chunk,
    /// Replaces an inner chunk of a shard.
    Shard,
    /// Changes attributes.
    Attributes,
    /// Appends to an array. The length of a step does not fit the chunks.
    Append,
    /// Creates a group and erases an older one, with consolidated metadata.
    Nodes,
}

/// What a store is after a writer has ended.
#[derive(Debug)]
pub(crate) enum Found {
    /// Version `n`, whole.
    Version(u64),
    /// The store says that it cannot be read, which is an error but no wrong answer.
    Unreadable(anyhow::Error),
    /// Values of several versions, or of none.
    Torn(String),
}

/// The elements of a chunk: 32 KiB, several pages.
const CHUNK: usize = 4096;
/// The inner chunks of a shard, and the elements of each.
const INNER: [usize; 2] = [16, 256];
/// What one step appends.
const STEP: usize = 7;
/// The groups that are there at a time.
const GROUPS: u64 = 12;

impl Work {
    /// All kinds of work.
    pub(crate) fn all() -> &'static [Self] {
        Self::value_variants()
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chunk => "chunk",
            Self::Shard => "shard",
            Self::Attributes => "attributes",
            Self::Append => "append",
            Self::Nodes => "nodes",
        }
    }

    /// Whether a step changes a part of an object, which is then kept until the new one is on the disk.
    pub(crate) fn keeps_old(self) -> bool {
        matches!(self, Self::Shard | Self::Attributes | Self::Append)
    }

    /// Creates version 0, on the disk.
    pub(crate) fn prepare(self, path: &Path) -> Result<()> {
        std::fs::create_dir_all(path)?;
        let storage = store(path, true)?;
        let array = |meta: ArrayMeta| Array::create(storage.clone(), "/", meta, &standard());
        match self {
            Self::Chunk => {
                let meta = ArrayMeta::builder([CHUNK as u64], DataType::UInt64)
                    .chunks([CHUNK as u64])
                    .codecs([])
                    .build()?;
                array(meta)?;
            }
            Self::Shard => {
                let [count, length] = INNER.map(|number| number as u64);
                let meta = ArrayMeta::builder([count * length], DataType::UInt64);
                let meta = meta.chunks([length]).shards([count * length]).codecs([codecs::zstd(1)]);
                array(meta.build()?)?;
            }
            Self::Append => {
                array(ArrayMeta::builder([0], DataType::UInt64).chunks([500]).build()?)?;
            }
            Self::Attributes => {
                Group::create(storage.clone(), "/", &standard())?;
            }
            Self::Nodes => {
                Group::create(storage.clone(), "/", &standard())?.consolidate()?;
            }
        }
        zarr_array::block_on(storage.sync())?;
        Ok(())
    }

    /// Makes version `version` of the version before.
    pub(crate) fn step(self, path: &Path, version: u64, durable: bool) -> Result<()> {
        let storage = store(path, durable)?;
        let array = || Array::open(storage.clone(), "/", &standard());
        let group = || Group::open(storage.clone(), "/", &standard());
        match self {
            Self::Chunk => array()?.write(.., &vec![version; CHUNK])?,
            Self::Shard => {
                let [count, length] = INNER.map(|number| number as u64);
                let first = version % count * length;
                array()?.write(first..first + length, &vec![version; INNER[1]])?;
            }
            Self::Append => array()?.append(0, NdVec::new([STEP as u64], vec![version; STEP])?)?,
            Self::Attributes => group()?.edit_attributes(|attributes| {
                attributes.set("version", version);
                let list: Vec<_> = (0..version % 1000).map(|_| Value::from(version)).collect();
                attributes.set("list", list);
            })?,
            Self::Nodes => {
                let mut group = group()?;
                // A writer that was killed between the two documents has left consolidated metadata without its group.
                if group.check_consolidated()?.is_some_and(|differences| !differences.is_empty()) {
                    group.consolidate()?;
                }
                if !group.exists(&name(version))? {
                    group.create_group(&name(version))?;
                }
                let old = |name: &str| name.parse().is_ok_and(|number: u64| number + GROUPS <= version);
                for child in group.children()?.iter().filter(|child| old(child.name())) {
                    group.erase(child.name())?;
                }
            }
        }
        Ok(())
    }

    /// Returns the version of the store.
    pub(crate) fn found(self, path: &Path) -> Found {
        match self.version(path) {
            Ok(Ok(version)) => Found::Version(version),
            Ok(Err(torn)) => Found::Torn(format!("{torn:#}")),
            Err(error) => Found::Unreadable(error),
        }
    }

    /// The outer error is one of reading, the inner one says how the values contradict each other.
    fn version(self, path: &Path) -> Result<Result<u64>> {
        let storage = store(path, false)?;
        let values = || {
            Ok::<_, anyhow::Error>(
                Array::open(storage.clone(), "/", &standard())?.read::<u64>(..)?.into_vec(),
            )
        };
        let group = || Group::open(storage.clone(), "/", &standard());
        Ok(match self {
            Self::Chunk => uniform(&values()?),
            Self::Shard => version_of_shard(&values()?),
            Self::Append => version_of_appended(&values()?),
            Self::Attributes => {
                let attributes = group()?.attributes();
                let number = |value: Value| value.as_number()?.to_integer()?.try_into().ok();
                let version: u64 = attributes.get("version").and_then(number).unwrap_or(0);
                let list: Vec<_> =
                    attributes.get("list").and_then(|list| list.elements()).into_iter().flatten().collect();
                let whole = list.len() as u64 == version % 1000;
                let equal = list.into_iter().all(|value| number(value) == Some(version));
                if whole && equal {
                    Ok(version)
                } else {
                    Err(anyhow::anyhow!("attributes of several versions"))
                }
            }
            Self::Nodes => {
                let children = group()?.children()?;
                let broken = children.iter().find(|child| child.kind().is_none());
                match broken {
                    Some(child) => Err(anyhow::anyhow!("the node {} is broken", child.path())),
                    None => version_of_nodes(
                        children.iter().filter_map(|child| child.name().parse().ok()).collect(),
                    ),
                }
            }
        })
    }
}

fn store(path: &Path, durable: bool) -> Result<Storage> {
    let durability = if durable { Durability::Durable } else { Durability::Atomic };
    let store = FsStore::open(path).with_context(|| path.display().to_string())?;
    Ok(store.with_durability(durability).into())
}

/// The name of the group that a version creates.
fn name(version: u64) -> String {
    format!("{version:08}")
}

fn uniform(values: &[u64]) -> Result<u64> {
    let first = values.first().copied().unwrap_or(0);
    let other = values.iter().find(|value| **value != first);
    ensure!(other.is_none(), "values of the versions {first} and {other:?}");
    Ok(first)
}

/// Each inner chunk is of the newest version that writes it.
fn version_of_shard(values: &[u64]) -> Result<u64> {
    let ([_, length], count) = (INNER, INNER[0] as u64);
    let newest = values.iter().copied().max().unwrap_or(0);
    for (inner, values) in (0..count).zip(values.chunks_exact(length)) {
        let back = (newest % count + count - inner) % count;
        // An inner chunk that no version has written yet is 0.
        let expected = if newest >= back && newest != 0 { newest - back } else { 0 };
        let found = uniform(values).with_context(|| format!("inner chunk {inner}"))?;
        ensure!(found == expected, "inner chunk {inner} is of version {found} and not {expected}");
    }
    Ok(newest)
}

/// An append reserves its place by the shape, then writes. So a killed writer leaves a place without its values, or with
/// some of them, and the next writer appends the same version again behind it.
fn version_of_appended(values: &[u64]) -> Result<u64> {
    ensure!(values.len().is_multiple_of(STEP), "{} values are no whole number of steps", values.len());
    let mut newest = 0;
    for place in values.chunks_exact(STEP) {
        let written = place.iter().copied().max().unwrap_or(0);
        let strange = place.iter().find(|value| **value != 0 && **value != written);
        ensure!(strange.is_none(), "a place has values of {written} and of {strange:?}");
        if !place.contains(&0) {
            ensure!(written == newest + 1, "version {written} follows {newest}");
            newest = written;
        }
    }
    Ok(newest)
}

/// The last groups are there. Older ones may be there, too, if writers were killed before they erased them.
fn version_of_nodes(mut groups: Vec<u64>) -> Result<u64> {
    groups.sort_unstable();
    let Some(newest) = groups.last().copied() else { return Ok(0) };
    let oldest = groups.first().copied().unwrap_or(0);
    let expected = newest.saturating_sub(GROUPS) + 1;
    ensure!(oldest <= expected, "the groups begin at {oldest} and not at {expected}");
    ensure!(groups.len() as u64 == newest - oldest + 1, "a group between {oldest} and {newest} is missing");
    Ok(newest)
}
