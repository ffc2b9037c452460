//! The rules of `zarr doctor`, each with its figures.

use zarr_array::meta::Format;

use crate::listed::{Layout, Listed};
use crate::name;
use crate::table::{bytes, count, dimensions, product};
use crate::usage::Usage;

/// Up to so many nodes are opened quickly one by one.
pub(super) const FEW_NODES: usize = 10;

/// Up to so many objects need no advice, whatever their size.
const FEW_OBJECTS: u64 = 1000;

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
    /// Returns the command that mends it.
    pub(super) fn command(&self) -> Option<String> {
        self.verb.as_ref().map(|verb| format!("{} {verb}", name::get()))
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
        let verb = node.array.is_some().then(|| "chunks STORE/PATH, which names them".to_owned());
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
            let shards = shards(&shape, &grid.counts, (16 * SMALL).div_ceil(mean.max(1)));
            format!("copy STORE/PATH COPY --chunks {} --shards {}", list(&shape), list(&shards))
        }
        _ => "copy STORE/PATH COPY --target-chunk-size 16MiB".to_owned(),
    };
    Some((message, Some(verb)))
}

/// Doubles a chunk, the last dimensions first, until it has `wanted` chunks or is the whole array.
fn shards(chunk: &[u64], counts: &[u64], wanted: u128) -> Vec<u64> {
    let mut times: Vec<u64> = chunk.iter().map(|_| 1).collect();
    while product(&times).is_some_and(|n| n < wanted)
        && let Some(dim) =
            (0..times.len()).rev().filter(|dim| times[*dim] < counts[*dim]).min_by_key(|dim| times[*dim])
    {
        times[dim] *= 2;
    }
    chunk.iter().zip(times).map(|(length, times)| length.saturating_mul(times)).collect()
}

fn large_chunks(array: &Layout) -> Found {
    let shape = array.smallest_chunk()?;
    let size = product(&shape)?.checked_mul(array.element_size()?)?;
    if size <= LARGE {
        return None;
    }
    let message =
        format!("a chunk of {} has {}: reading one element takes all of it", dimensions(&shape), bytes(size));
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
        "the coordinate has {} in {} objects, and every reader that selects by label reads all of them",
        bytes(array.uncompressed?),
        usage.chunks.objects
    );
    let verb = format!("copy STORE COPY --rule '**/{name}:chunks={}'", array.lengths().first()?);
    Some((message, Some(verb)))
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
            (&[1, 100], 16, &[10, 320]),
            (&[2, 2], 1 << 20, &[20, 40]),
        ] {
            assert_eq!(shards(&[10, 20], counts, wanted), lengths, "{counts:?} {wanted}");
        }
    }
}
