//! How levels are made: which ones together, from which parts of the level below, and in how much memory.
//!
//! A pass reads one level and makes several above it: a job makes one unit (a chunk or shard) of the highest of them with
//! everything below. So each level is decoded at most once, and none is kept as a whole.

use std::ops::Range;

/// The storage of a level, in numbers.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    pub(crate) shape: Vec<u64>,
    /// The lengths of what is one object: chunks, or shards.
    pub(crate) units: Vec<u64>,
    /// The lengths of what is encoded by itself: chunks, in shards inner chunks.
    pub(crate) chunks: Vec<u64>,
    pub(crate) has_shards: bool,
    pub(crate) is_lossy: bool,
}

/// What the passes may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Means {
    pub(crate) threads: usize,
    /// Bytes of memory.
    pub(crate) memory: u64,
    /// How many jobs a thread has under way: several, if it waits for a service.
    pub(crate) at_once: usize,
    /// The bytes of an element.
    pub(crate) size: u64,
}

/// A pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pass {
    /// The number of the level that is read.
    pub(crate) below: usize,
    /// How many levels are made.
    pub(crate) height: usize,
    /// The lengths of what is read at once.
    pub(crate) piece: Vec<u64>,
    pub(crate) threads: usize,
    pub(crate) at_once: usize,
    /// The bytes of one job.
    pub(crate) job: u64,
}

/// A read of this many bytes is no burden, so that small chunks are read together.
const EASY: u64 = 4 << 20;

/// How many jobs there should be for each thread.
const JOBS: u64 = 4;

impl Grid {
    /// Returns the number of units in each dimension.
    pub(crate) fn counts(&self) -> Vec<u64> {
        self.shape.iter().zip(&self.units).map(|(n, unit)| n.div_ceil(*unit)).collect()
    }

    /// Returns the number of units.
    pub(crate) fn count(&self) -> u64 {
        self.counts().iter().copied().fold(1, u64::saturating_mul)
    }

    /// Returns the part of the level in a unit.
    pub(crate) fn span(&self, unit: &[u64]) -> Vec<Range<u64>> {
        let lengths = self.units.iter().zip(&self.shape);
        lengths.zip(unit).map(|((unit, n), at)| at * unit..((at + 1) * unit).min(*n)).collect()
    }

    /// Whether boxes of these factors never lie in two units.
    fn is_aligned(&self, factors: &[u64]) -> bool {
        let lengths = self.units.iter().zip(&self.shape);
        lengths.zip(factors).all(|((unit, n), factor)| unit.is_multiple_of(*factor) || n <= unit)
    }

    fn bytes(&self, size: u64) -> u64 {
        let lengths = self.units.iter().zip(&self.shape).map(|(unit, n)| (*unit).min(*n));
        lengths.fold(size, u64::saturating_mul)
    }
}

impl Pass {
    /// Returns the name of the pass in records, of the array with this number.
    pub(crate) fn name(&self, array: usize) -> String {
        format!("{array}.{}-{}", self.below, self.below + self.height)
    }

    /// Returns the bytes of all jobs under way.
    pub(crate) fn memory(&self) -> u64 {
        self.job.saturating_mul((self.threads.max(1) * self.at_once) as u64)
    }

    /// Cuts the part of a level that is read for a unit into pieces.
    pub(crate) fn pieces(&self, region: &[Range<u64>]) -> Vec<Vec<Range<u64>>> {
        let mut all = vec![Vec::new()];
        for (range, length) in region.iter().zip(&self.piece) {
            let parts: Vec<_> = cut(range, *length).collect();
            let longer = |piece: &Vec<Range<u64>>| -> Vec<Vec<Range<u64>>> {
                parts.iter().map(|part| piece.iter().chain([part]).cloned().collect()).collect()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }
}

/// Returns the elements of a level that are reduced to `span` of the next level.
pub(crate) fn region(span: &[Range<u64>], factors: &[u64], shape: &[u64]) -> Vec<Range<u64>> {
    let ranges = span.iter().zip(factors).zip(shape);
    ranges.map(|((range, f), n)| range.start * f..(range.end * f).min(*n)).collect()
}

/// Cuts a range into parts of `length`.
pub(crate) fn cut(range: &Range<u64>, length: u64) -> impl Iterator<Item = Range<u64>> + use<> {
    let Range { start, end } = *range;
    let length = length.max(1);
    (0..(end - start).div_ceil(length)).map(move |i| start + i * length..(start + (i + 1) * length).min(end))
}

/// Plans passes over `levels`, level 0 first. `Err` is the least memory that would do.
pub(crate) fn passes(levels: &[Grid], factors: &[u64], means: Means) -> Result<Vec<Pass>, u64> {
    let (mut all, mut below) = (Vec::new(), 0);
    while below + 1 < levels.len() {
        let pass = pass(&levels[below..], factors, means)?;
        below += pass.height;
        all.push(Pass { below: below - pass.height, ..pass });
    }
    Ok(all)
}

/// Returns passes that make one level each from the one before, to compare them. They need no more memory than `passes`.
pub(crate) fn passes_of_each(passes: &[Pass], levels: &[Grid], factors: &[u64]) -> Vec<Pass> {
    let mut all = Vec::new();
    for pass in passes {
        for (below, level) in levels.iter().enumerate().skip(pass.below).take(pass.height) {
            // A piece of as many elements as that of the pass, in whole boxes.
            let shape = level.shape.iter().zip(factors);
            let piece =
                pass.piece.iter().zip(shape).map(|(piece, (n, f))| piece.next_multiple_of(*f).min(*n));
            all.push(Pass {
                below,
                height: 1,
                piece: piece.map(|length| length.max(1)).collect(),
                ..pass.clone()
            });
        }
    }
    all
}

/// Plans a pass that reads the first of `levels`.
fn pass(levels: &[Grid], factors: &[u64], means: Means) -> Result<Pass, u64> {
    let (from, first) = (&levels[0], &levels[1]);
    let wanted = (JOBS * means.threads.max(1) as u64 * means.at_once as u64).min(first.count());
    let mut highest = 1;
    while let Some(next) = levels.get(highest + 1)
        && levels[highest].is_aligned(factors)
        && next.count() >= wanted
    {
        highest += 1;
    }
    let pieces = pieces(from, first, factors, means.size);
    let mut least = u64::MAX;
    let jobs_at_once = (1..=means.at_once).rev().map(|at_once| (means.threads, at_once));
    for (threads, at_once) in jobs_at_once.chain((0..means.threads).rev().map(|threads| (threads, 1))) {
        if threads == 0 && means.threads > 0 {
            break;
        }
        for height in (1..=highest).rev() {
            for piece in &pieces {
                let job = job(levels, height, piece, means.size);
                let pass = Pass { below: 0, height, piece: piece.clone(), threads, at_once, job };
                if pass.memory() <= means.memory {
                    return Ok(pass);
                }
                least = least.min(job);
            }
        }
    }
    Err(least)
}

/// Returns the bytes of one job: the units that it makes, and what is needed beside them to read a piece or to encode
/// a unit.
fn job(levels: &[Grid], height: usize, piece: &[u64], size: u64) -> u64 {
    let made = &levels[1..=height];
    let units = made.iter().map(|level| level.bytes(size)).fold(0, u64::saturating_add);
    let encode = |level: &Grid| {
        // The encoded inner chunks of a shard wait for it, and memory of this size is kept for the next shard: measured.
        let times = match (level.has_shards, level.is_lossy) {
            (true, _) => 5,
            (false, true) => 2,
            (false, false) => 1,
        };
        level.bytes(size).saturating_mul(times)
    };
    let encoded = made.iter().map(encode).max().unwrap_or(0);
    let of = |lengths: &[u64]| lengths.iter().copied().fold(size, u64::saturating_mul);
    let read = of(piece).saturating_mul(2).saturating_add(of(&levels[0].chunks));
    units.saturating_add(encoded.max(read))
}

/// Returns the lengths of what may be read at once for a unit of the level `first`, the best first.
fn pieces(from: &Grid, first: &Grid, factors: &[u64], size: u64) -> Vec<Vec<u64>> {
    let dims = || 0..factors.len();
    // All that a unit needs.
    let whole: Vec<u64> = dims()
        .map(|dim| (first.units[dim].saturating_mul(factors[dim])).min(from.shape[dim]).max(1))
        .collect();
    let limited = |lengths: Vec<u64>| -> Vec<u64> {
        lengths.into_iter().zip(&whole).map(|(length, whole)| length.min(*whole)).collect()
    };
    let common = |lengths: &[u64]| limited(dims().map(|dim| multiple(lengths[dim], factors[dim])).collect());
    let above = |dim: usize| from.chunks[dim].next_multiple_of(factors[dim]);
    let mut all = Vec::new();
    if whole.iter().copied().fold(size, u64::saturating_mul) <= EASY {
        all.push(whole.clone());
    }
    all.extend([common(&from.units), common(&from.chunks), limited(dims().map(above).collect())]);
    all
}

/// Returns the least common multiple.
fn multiple(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one.max(1), other.max(1));
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (one.max(1) / a).saturating_mul(other.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(shape: &[u64], units: &[u64]) -> Grid {
        Grid {
            shape: shape.to_vec(),
            units: units.to_vec(),
            chunks: units.to_vec(),
            has_shards: false,
            is_lossy: false,
        }
    }

    /// Returns a level 0 of `side`² elements in chunks of `chunk`², and all levels above it.
    fn square(side: u64, chunk: u64) -> Vec<Grid> {
        let mut all = vec![grid(&[side; 2], &[chunk; 2])];
        while all.last().is_some_and(|last| last.shape[0] > 1) {
            let side = all[all.len() - 1].shape[0].div_ceil(2);
            all.push(grid(&[side; 2], &[chunk.min(side); 2]));
        }
        all
    }

    fn heights(levels: &[Grid], means: Means) -> Vec<(usize, usize)> {
        passes(levels, &[2, 2], means).unwrap().iter().map(|pass| (pass.below, pass.height)).collect()
    }

    #[test]
    fn one_pass_makes_as_many_levels_as_there_is_work_for_all_threads() {
        let means = Means { threads: 2, memory: 1 << 30, at_once: 1, size: 2 };
        let levels = &square(16_384, 512)[..7];
        // 256, 64, 16, 4, 1 and 1 units.
        assert_eq!(heights(levels, means), [(0, 3), (3, 1), (4, 2)]);
        assert_eq!(heights(levels, Means { threads: 0, ..means }), [(0, 4), (4, 2)]);
        assert_eq!(heights(&square(16_384, 511)[..4], means), [(0, 1), (1, 1), (2, 1)], "boxes cross chunks");
    }

    #[test]
    fn the_memory_is_kept_or_the_least_is_said() {
        let levels = &square(16_384, 512)[..7];
        let means = Means { threads: 8, memory: 64 << 20, at_once: 4, size: 2 };
        for memory in [64 << 20, 24 << 20, 8 << 20, 4 << 20] {
            for pass in passes(levels, &[2, 2], Means { memory, ..means }).unwrap() {
                assert!(pass.memory() <= memory, "{pass:?}");
            }
        }
        let least = passes(levels, &[2, 2], Means { memory: 1 << 20, ..means }).unwrap_err();
        assert!(passes(levels, &[2, 2], Means { memory: least, ..means }).is_ok());
        assert!(passes(levels, &[2, 2], Means { memory: least - 1, ..means }).is_err());
    }

    #[test]
    fn pieces_are_whole_boxes() {
        let pass = Pass { below: 0, height: 1, piece: vec![4, 6], threads: 1, at_once: 1, job: 0 };
        let all = pass.pieces(&[8..14, 6..12]);
        assert_eq!(all, [vec![8..12, 6..12], vec![12..14, 6..12]]);
        let levels = [grid(&[100, 100], &[5, 7]), grid(&[50, 34], &[5, 7])];
        assert_eq!(pieces(&levels[0], &levels[1], &[2, 3], 1 << 20)[0], [10, 21]);
    }
}
