//! The rules of `zarr doctor`, each with its figures.

use std::path::Path;

use zarr_array::meta::Format;
use zarr_store::names_of;

use crate::args::stores::shown;
use crate::args::target::Target;
use crate::listed::{Layout, Listed};
use crate::name;
use crate::out::table::{bytes, count, dimensions, product};
use crate::usage::Usage;

/// Up to so many nodes are opened quickly one by one.
pub(super) const FEW_NODES: usize = 10;

/// Up to so many objects need no advice, whatever their size.
const FEW_OBJECTS: u64 = 1000;

/// Chunks in a shard should not be smaller than this, before compression: an entry of the index has 16 bytes, and a codec
/// needs some elements to make fewer bytes of them.
const INNER: u128 = 64 << 10;

/// The bytes of an entry in the index of a shard.
const ENTRY: u128 = 16;

/// The index should take less than one in so many bytes of a shard: every reader reads it first.
const INDEX: u128 = 20;

/// Objects should not be smaller than this: moving so many bytes takes about as long as a request to a service.
const SMALL: u128 = 256 << 10;

/// Chunks should not be larger than this, because reading one element takes all of this memory.
const LARGE: u128 = 256 << 20;

/// Arrays that take fewer bytes than this need neither compression nor names.
const MATTERS: u128 = 1 << 20;

/// A coordinate of fewer bytes than this should be one object.
const COORDINATE: u128 = 8 << 20;

/// A piece of advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Advice {
    pub(super) code: &'static str,
    /// The path of the node.
    pub(super) path: String,
    pub(super) message: String,
    /// The verb that mends it, with its arguments: the store and copies are named in capitals.
    pub(super) verb: Option<String>,
}

impl Advice {
    /// Returns the command that mends it, for a store under the name that the user typed.
    pub(super) fn command(&self, target: &Target, given: &Path) -> Option<String> {
        let verb = self.verb.as_ref()?;
        let below = self.path.strip_prefix(target.path.as_str()).unwrap_or(&self.path).trim_matches('/');
        let store = shown(given).display().to_string();
        let node = match below {
            "" => store.clone(),
            below if names_of(&store).is_empty() => format!("{}/{below}", store.trim_end_matches('/')),
            below if store.contains("|zarr") => format!("{}/{below}", store.trim_end_matches('/')),
            below => format!("{store}|zarr:{below}"),
        };
        let copied = if verb.contains("STORE/PATH") { &node } else { &store };
        let last = copied.rsplit(['/', ':', '|']).find(|name| !name.is_empty()).unwrap_or_default();
        // `.` and `..` are no names.
        let last = if last.trim_matches('.').is_empty() { "store" } else { last };
        let copy = format!("{}-copy.zarr", last.trim_end_matches(".zarr"));
        let words = verb.split(' ').map(|word| match word {
            "STORE/PATH" => quoted(&node),
            "STORE" => quoted(&store),
            "COPY" => quoted(&copy),
            word => word.to_owned(),
        });
        let command = [name::get().to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ");
        Some(command)
    }
}

/// Returns a word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:@%,".contains(c);
    if word.chars().all(is_plain) && !word.is_empty() {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Returns the advice about a node.
pub(super) fn of(node: &Listed, usage: &Usage) -> Vec<Advice> {
    let advice = |code: &'static str, (message, verb): (String, Option<String>)| Advice {
        code,
        path: node.path.clone(),
        message,
        verb,
    };
    let mut all = Vec::new();
    if let Some(array) = &node.array {
        let of_array = [
            ("small-objects", small_objects(node, array, usage)),
            ("large-index", large_index(array, usage)),
            ("large-chunks", large_chunks(array)),
            ("split-coordinate", split_coordinate(node, array, usage)),
            ("uncompressed", uncompressed(array, usage)),
            ("rare-codecs", rare_codecs(node, array)),
            ("no-dimension-names", no_names(node, array)),
        ];
        all.extend(of_array.into_iter().filter_map(|(code, found)| Some(advice(code, found?))));
    }
    let stray = usage.other;
    if stray.objects > 0 && node.problem.is_none() {
        let message = format!(
            "{} with {}: neither chunks nor documents of the node, so no reader sees them",
            count(stray.objects, "object"),
            bytes(stray.bytes)
        );
        // It names them.
        let verb = node.array.is_some().then(|| "info --chunks STORE/PATH".to_owned());
        all.push(advice("stray-objects", (message, verb)));
    }
    all
}

/// The message, and the verb that mends it, with its arguments.
type Found = Option<(String, Option<String>)>;

fn small_objects(node: &Listed, array: &Layout, usage: &Usage) -> Found {
    let chunks = usage.chunks;
    let mean = chunks.bytes / u128::from(chunks.objects.max(1));
    if chunks.objects <= FEW_OBJECTS || mean >= SMALL {
        return None;
    }
    let message = format!(
        "{} objects have {} on average: with so small objects a request costs more than its bytes",
        chunks.objects,
        bytes(mean)
    );
    // A shard has as many chunks as it takes to reach a size that is worth a request.
    let verb = match (&array.inner_chunk_shape, array.smallest_chunk(), node.format) {
        (None, Some(shape), Some(Format::V3)) => {
            let grid = array.grid.as_ref()?;
            let inner = inner(array, &shape, &grid.counts, mean);
            let counts: Vec<u64> = array
                .lengths()
                .iter()
                .zip(&inner)
                .map(|(length, inner)| length.div_ceil((*inner).max(1)))
                .collect();
            let mean = mean.saturating_mul(product(&inner)?.div_ceil(product(&shape)?.max(1)));
            let shards = grown(&inner, &counts, (16 * SMALL).div_ceil(mean.max(1)));
            match inner == shards {
                // One chunk is large enough.
                true => format!("copy STORE/PATH COPY --chunks {}", list(&inner)),
                false => format!("copy STORE/PATH COPY --chunks {} --shards {}", list(&inner), list(&shards)),
            }
        }
        _ => "copy STORE/PATH COPY --target-chunk-size 16MiB".to_owned(),
    };
    Some((message, Some(verb)))
}

/// The index of shards whose inner chunks are very small takes as much as the elements.
fn large_index(array: &Layout, usage: &Usage) -> Found {
    let (inner, shard) = (array.inner_chunk_shape.as_ref()?, array.chunk_shape()?);
    let counts: Vec<u64> = shard.iter().zip(inner).map(|(shard, inner)| shard / (*inner).max(1)).collect();
    let index = product(&counts)?.checked_mul(ENTRY)?;
    let mean = usage.chunks.bytes / u128::from(usage.chunks.objects.max(1));
    if usage.chunks.bytes < MATTERS || index.saturating_mul(INDEX) < mean {
        return None;
    }
    let message = format!(
        "the index of a shard has {} of {} on average: its inner chunks of {} are too small",
        bytes(index),
        bytes(mean),
        dimensions(inner)
    );
    let larger = self::inner(array, inner, &counts, mean / product(&counts)?.max(1));
    let whole = |(shard, inner): (&u64, &u64)| shard.div_ceil((*inner).max(1)).saturating_mul(*inner);
    let shard: Vec<u64> = shard.iter().zip(&larger).map(whole).collect();
    // A shard of one chunk needs no index.
    let verb = (larger != *inner).then(|| match larger == shard {
        true => format!("copy STORE/PATH COPY --chunks {}", list(&larger)),
        false => format!("copy STORE/PATH COPY --chunks {} --shards {}", list(&larger), list(&shard)),
    });
    Some((message, verb))
}

/// Returns the shape of inner chunks of a useful size, decoded and stored: `chunk`, of `stored` bytes, grown within these
/// counts and the array.
fn inner(array: &Layout, chunk: &[u64], counts: &[u64], stored: u128) -> Vec<u64> {
    let decoded =
        product(chunk).zip(array.element_size()).and_then(|(elements, size)| elements.checked_mul(size));
    // Twice as many bytes as the index may cost.
    let least = (2 * ENTRY * INDEX).div_ceil(stored.max(1));
    let wanted = INNER.div_ceil(decoded.unwrap_or(stored).max(1)).max(least);
    let grown = grown(chunk, counts, wanted);
    grown.iter().zip(array.lengths()).map(|(grown, length)| *grown.min(&(*length).max(1))).collect()
}

/// Doubles a chunk, the last dimensions first, until it has `wanted` chunks or is the whole array. Then it grows a little
/// more where it would not divide the array evenly, because a part of a chunk takes the space of a whole one.
fn grown(chunk: &[u64], counts: &[u64], wanted: u128) -> Vec<u64> {
    let mut times: Vec<u64> = chunk.iter().map(|_| 1).collect();
    while product(&times).is_some_and(|n| n < wanted)
        && let Some(dim) =
            (0..times.len()).rev().filter(|dim| times[*dim] < counts[*dim]).min_by_key(|dim| times[*dim])
    {
        times[dim] *= 2;
    }
    let even = |(times, count): (u64, &u64)| {
        let least = times.min((*count).max(1));
        (least..=least.saturating_mul(2)).find(|times| count % times == 0).unwrap_or(least)
    };
    let times = times.into_iter().zip(counts).map(even);
    chunk.iter().zip(times).map(|(length, times)| length.saturating_mul(times)).collect()
}

fn large_chunks(array: &Layout) -> Found {
    let shape = array.smallest_chunk()?;
    let size = product(&shape)?.checked_mul(array.element_size()?)?;
    if size <= LARGE {
        return None;
    }
    let message = format!(
        "a chunk of {} has {}: reading one element takes all of it, instead of 16 MiB",
        dimensions(&shape),
        bytes(size)
    );
    Some((message, Some("copy STORE/PATH COPY --target-chunk-size 16MiB".to_owned())))
}

fn split_coordinate(node: &Listed, array: &Layout, usage: &Usage) -> Found {
    let name = node.path.rsplit('/').next()?;
    let is_coordinate = array.named().first().is_some_and(|of| of.as_deref() == Some(name));
    let is_small = array.uncompressed.is_some_and(|size| size < COORDINATE);
    if !(is_coordinate && is_small && array.lengths().len() == 1 && usage.chunks.objects > 1) {
        return None;
    }
    let message = format!(
        "the coordinate has {} in {} objects, and every reader that selects by label reads all of them, instead of 1",
        bytes(array.uncompressed?),
        usage.chunks.objects
    );
    let rule = quoted(&format!("**/{name}:chunks={}", array.lengths().first()?));
    Some((message, Some(format!("copy STORE COPY --rule {rule}"))))
}

fn uncompressed(array: &Layout, usage: &Usage) -> Found {
    if usage.chunks.bytes < MATTERS || array.has_compressor() {
        return None;
    }
    let message = format!("{} are stored without a compressor", bytes(usage.chunks.bytes));
    Some((message, Some("copy STORE/PATH COPY --codecs zstd:3".to_owned())))
}

fn rare_codecs(node: &Listed, array: &Layout) -> Found {
    // In format 2 there is no list that all readers know.
    let rare = if node.format == Some(Format::V3) { array.rare_codecs() } else { Vec::new() };
    let names = rare.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let message = format!("it needs {names}, which not every reader supports");
    (!rare.is_empty()).then(|| (message, Some("copy STORE/PATH COPY --codecs zstd:3".to_owned())))
}

fn no_names(node: &Listed, array: &Layout) -> Found {
    let has_names = array.named().iter().any(Option::is_some);
    if node.format != Some(Format::V3) || array.lengths().is_empty() || has_names {
        return None;
    }
    Some(("its dimensions have no names, so xarray does not open the group around it".to_owned(), None))
}

/// Returns lengths as an option takes them.
fn list(lengths: &[u64]) -> String {
    lengths.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_have_as_many_chunks_as_they_need() {
        for (counts, wanted, lengths) in [
            (&[100, 100][..], 1, &[10, 20][..]),
            (&[100, 100], 16, &[40, 80]),
            (&[1, 100], 16, &[10, 400]),
            (&[100, 7], 30, &[40, 140]),
            (&[2, 2], 1 << 20, &[20, 40]),
        ] {
            assert_eq!(grown(&[10, 20], counts, wanted), lengths, "{counts:?} {wanted}");
        }
    }
}
