//! What a command of the advice would make of an array: a part of it is copied into memory, with the same options.

use std::ops::Range;

use zarr_array::{Storage, block_on};
use zarr_copy::{ChunkChoice, Codecs, Copy, RunOptions, Shards, Size};
use zarr_store::MemoryStore;

use super::advice::Advice;
use crate::args::target::{Target, registry};
use crate::listed::{Layout, Listed};
use crate::out::number::grouped;
use crate::out::table::{bytes, product};
use crate::pick::{Pick, selection};
use crate::stored::{Keys, Stored, is_document_of, size};
use crate::usage::Usage;

/// The largest part that is copied, in bytes of elements.
const PART: u128 = 32 << 20;

/// The largest number of parts that are copied.
pub(super) const MOST: usize = 64;

/// The bytes that an object is worth.
const OBJECT: u128 = 4096;

/// The codes of advice whose command could make an array larger.
const CODES: [&str; 4] = ["small-objects", "large-index", "uncompressed", "rare-codecs"];

/// What an array would take.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    bytes: u128,
    objects: u64,
}

/// Adds the figures of its command to advice. A command that was not estimated, or makes an array larger, is removed;
/// advice that is only about the size is removed as well. Returns `None` for that.
pub(super) fn with_figures(
    mut advice: Advice,
    target: &Target,
    node: &Listed,
    usage: &Usage,
    left: &mut usize,
) -> Option<Advice> {
    let is_copy = |verb: &&String| verb.starts_with("copy STORE/PATH ") && CODES.contains(&advice.code);
    let Some(verb) = advice.verb.as_ref().filter(is_copy) else { return Some(advice) };
    let estimate = match left.checked_sub(1) {
        Some(rest) => {
            *left = rest;
            node.array.as_ref().and_then(|array| estimate(target, &node.path, array, usage, verb))
        }
        None => None,
    };
    let now = usage.chunks;
    // An object costs a request, and a block of a disk. A few bytes more of an index or a frame are not larger.
    let cost = |bytes: u128, objects: u64| bytes + OBJECT * u128::from(objects);
    let is_larger = |estimate: &Estimate| {
        estimate.bytes > now.bytes + now.bytes / 4
            || cost(estimate.bytes, estimate.objects) > cost(now.bytes, now.objects) * 51 / 50
    };
    match estimate {
        Some(Estimate { bytes: after, .. })
            if advice.code == "uncompressed" && after * 20 > now.bytes * 19 =>
        {
            None
        }
        Some(estimate) if !is_larger(&estimate) => {
            advice.message += &format!(
                "; the command makes about {} in {} of it",
                bytes(estimate.bytes),
                objects(estimate.objects)
            );
            Some(advice)
        }
        Some(estimate) => {
            let would = bytes(estimate.bytes);
            advice.message += &format!(
                "; no command is proposed, because about {would} would come of {}",
                bytes(now.bytes)
            );
            advice.verb = None;
            Some(advice)
        }
        None => {
            advice.message += "; no command is proposed, because its result was not estimated";
            advice.verb = None;
            Some(advice)
        }
    }
}

fn objects(count: u64) -> String {
    format!("{} {}", grouped(count), if count == 1 { "object" } else { "objects" })
}

/// Copies a part of the array into memory. Returns `None` if the part would be too large, or cannot be copied.
fn estimate(target: &Target, path: &str, array: &Layout, usage: &Usage, verb: &str) -> Option<Estimate> {
    let option = |name: &str| {
        let mut words = verb.split(' ');
        words.find(|word| *word == name)?;
        words.next()
    };
    let lengths = array.lengths();
    let outer = option("--shards").or_else(|| option("--chunks"));
    let outer: Vec<u64> = match outer {
        Some(text) => text.split(',').map(|length| length.parse().ok()).collect::<Option<_>>()?,
        None => array.chunk_shape()?,
    };
    let is_whole = array.uncompressed? <= PART;
    let part = if is_whole {
        lengths.iter().map(|length| 0..*length).collect()
    } else {
        part(target, path, &outer, lengths)?
    };
    let counts: Vec<u64> = part.iter().map(|range| range.end - range.start).collect();
    if product(&counts)?.checked_mul(array.element_size()?)? > PART {
        return None;
    }
    let mut copy = Copy::new(target.storage.clone(), path, &registry());
    if let Some(chunks) = option("--chunks") {
        copy = copy.chunks(chunks.parse::<ChunkChoice>().ok()?);
    }
    if let Some(shards) = option("--shards") {
        copy = copy.shards(shards.parse::<Shards>().ok()?);
    }
    if let Some(codecs) = option("--codecs") {
        copy = copy.codecs(codecs.parse::<Codecs>().ok()?);
    }
    if let Some(size) = option("--target-chunk-size") {
        copy = copy.target_chunk_size(size.parse::<Size>().ok()?);
    }
    if !is_whole {
        copy = copy.select("", selection(part.iter().cloned().map(Pick::range)));
    }
    let memory = Storage::from(MemoryStore::new());
    let plan = block_on(copy.plan()).ok()?;
    block_on(plan.run(memory.clone(), "/", RunOptions::new(), &|_| {})).ok()?;
    let mut found = Estimate { bytes: 0, objects: 0 };
    for listed in Keys::new(&memory, zarr_array::traits::Prefix::root()) {
        let listed = listed.ok()?;
        if !is_document_of(listed.key.as_str(), Some(plan.format())) {
            found.objects += 1;
            found.bytes += u128::from(size(&memory, &listed).ok()??);
        }
    }
    if is_whole {
        return Some(found);
    }
    // The other parts are taken to be like this one, as far as they are stored.
    let old = array.chunk_shape()?;
    let inside =
        counts.iter().zip(&old).map(|(count, chunk)| count.div_ceil((*chunk).max(1))).collect::<Vec<_>>();
    let (inside, all) = (product(&inside)?.max(1), u128::from(usage.chunks.objects));
    Some(Estimate {
        bytes: found.bytes * all / inside,
        objects: u64::try_from((u128::from(found.objects) * all).div_ceil(inside)).ok()?,
    })
}

/// Returns the part of the size of an outer chunk of the copy that has the first stored chunk.
fn part(target: &Target, path: &str, outer: &[u64], lengths: &[u64]) -> Option<Vec<Range<u64>>> {
    let array = target.open(path).ok()?;
    let first = Stored::of(&array).ok()?.find_map(|object| object.ok()?.chunk.ok())?;
    let grid = array.chunk_grid();
    let range = |(dim, (outer, length)): (usize, (&u64, &u64))| {
        let at = grid.span(dim, *first.get(dim)?)?.start;
        let start = at - at % (*outer).max(1);
        Some(start..start.saturating_add(*outer).min(*length))
    };
    outer.iter().zip(lengths).enumerate().map(range).collect()
}
