//! Splits a selection into parts in C order: boxes in which chunks are stored, and runs of elements that are not. So the
//! time is that of what is stored, and not that of the shape.

use std::cmp::Ordering;
use std::ops::Range;

use zarr_array::blocking::Array;
use zarr_array::traits::ChunkGrid;
use zarr_array::traits::strided::Dims;

use crate::exit::{Exit, Failure};
use crate::pick::Pick;
use crate::slabs::{Budget, Slab, Slabs, chunks};
use crate::stored::Stored;

/// The largest number of chunks that are asked for one by one, without a listing.
const FEW: u128 = 64;

/// The largest number of stored chunks that are held in memory.
const MANY: u128 = 1 << 22;

/// The number of looks for absent chunks that are worth one chunk that is not decoded again.
const LOOKS: u128 = 16;

/// A part of a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// A box to be read.
    Read(Slab),
    /// Elements that follow each other in C order and have the fill value: the place of the first one, and their number.
    Absent(Vec<u64>, u128),
}

/// The function that is called with each part.
type Visit<'v> = dyn FnMut(Part) -> Result<(), Failure> + 'v;

/// The parts of a selection of an array.
pub(crate) struct Parts<'a> {
    picks: &'a [Pick],
    grid: &'a dyn ChunkGrid,
    size: usize,
    budget: Budget,
    /// The stored chunks in the order of their indices; `None` if all parts are read.
    stored: Option<Vec<Dims>>,
}

/// Returns the number of elements in a selection.
///
/// # Errors
/// `LimitExceeded` from 2^127 elements on.
pub(crate) fn elements(picks: &[Pick]) -> Result<u128, Failure> {
    let count = picks.iter().try_fold(1_u128, |n, pick| n.checked_mul(pick.count.into()));
    let count = if picks.iter().any(|pick| pick.count == 0) { Some(0) } else { count };
    count.filter(|count| i128::try_from(*count).is_ok()).ok_or_else(|| {
        Failure::new(Exit::LimitExceeded, "there are 2^127 or more elements, which are not counted")
    })
}

impl<'a> Parts<'a> {
    /// Lists the chunks of the array once, if the selection has many. Reads the whole selection if it goes backwards or
    /// has lists, if the store cannot list, or if much more is stored than selected.
    pub(crate) fn of(picks: &'a [Pick], array: &'a Array, size: usize) -> Result<Self, Failure> {
        let grid = array.chunk_grid();
        let stored = match array.storage().capabilities().list && picks.iter().all(|p| p.as_range().is_some())
        {
            true => stored(picks, array)?,
            false => None,
        };
        Ok(Self { picks, grid, size, budget: Budget::DEFAULT, stored })
    }

    /// Returns parts that are all read, whatever is stored.
    pub(crate) fn read_all(picks: &'a [Pick], array: &'a Array, size: usize) -> Self {
        Self { picks, grid: array.chunk_grid(), size, budget: Budget::DEFAULT, stored: None }
    }

    /// Sets the size of the parts.
    pub(crate) fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Calls `visit` with each part, in C order. The caller has [counted](elements) the elements.
    pub(crate) fn each(&self, mut visit: impl FnMut(Part) -> Result<(), Failure>) -> Result<(), Failure> {
        if self.picks.iter().any(|pick| pick.count == 0) {
            return Ok(());
        }
        match &self.stored {
            Some(stored) => self.below(&mut Vec::new(), stored, &mut visit),
            None => self.read(&[], 0..self.picks.first().map_or(1, |pick| pick.count), &mut visit),
        }
    }

    /// Visits the parts below an element of each of the first dimensions. `stored` are the chunks there.
    fn below(&self, at: &mut Vec<u64>, mut stored: &[Dims], visit: &mut Visit<'_>) -> Result<(), Failure> {
        let dim = at.len();
        let Some(pick) = self.picks.get(dim) else { return self.read(at, 0..1, visit) };
        let (_, chunks) = self.row(dim);
        // Boxes that follow each other are read together.
        let mut open = 0..0;
        while let Some(first) = stored.first() {
            let group;
            (group, stored) = stored.split_at(stored.partition_point(|index| index[dim] == first[dim]));
            let span = self.positions(dim, first[dim]);
            if span.is_empty() {
                continue;
            }
            if open.end < span.start {
                self.read(at, open.clone(), visit)?;
                self.absent(at, open.end..span.start, visit)?;
                open = span.start..span.start;
            }
            let again = u128::from(span.end - span.start).saturating_mul(group.len() as u128);
            if self.fits(dim) && chunks <= again.saturating_mul(LOOKS) {
                open.end = span.end;
                continue;
            }
            self.read(at, open, visit)?;
            for position in span.clone() {
                at.push(position);
                self.below(at, group, visit)?;
                at.pop();
            }
            open = span.end..span.end;
        }
        self.read(at, open.clone(), visit)?;
        self.absent(at, open.end..pick.count, visit)
    }

    /// Returns the bytes and the chunks of one position of a dimension, with all of the dimensions behind it.
    fn row(&self, dim: usize) -> (u128, u128) {
        let row = (self.size.max(1) as u128, 1_u128);
        (dim + 1..self.picks.len()).fold(row, |(bytes, number), dim| {
            let pick = &self.picks[dim];
            (bytes.saturating_mul(pick.count.into()), number.saturating_mul(chunks(self.grid, dim, pick)))
        })
    }

    /// Whether one position of a dimension is read at once.
    fn fits(&self, dim: usize) -> bool {
        let (bytes, chunks) = self.row(dim);
        bytes <= self.budget.bytes.into() && chunks <= self.budget.chunks.into()
    }

    /// Returns the selected positions of a dimension that lie in a chunk.
    fn positions(&self, dim: usize, chunk: u64) -> Range<u64> {
        let pick = &self.picks[dim];
        let (Some(span), Some((range, step))) = (self.grid.span(dim, chunk), pick.as_range()) else {
            return 0..0;
        };
        let from = |position: u64| position.saturating_sub(range.start).div_ceil(step).min(pick.count);
        from(span.start)..from(span.end)
    }

    /// Visits positions of the next dimension with all elements behind them, in boxes that fit into memory.
    fn read(&self, at: &[u64], span: Range<u64>, visit: &mut Visit<'_>) -> Result<(), Failure> {
        if span.is_empty() {
            return Ok(());
        }
        let start = |dim: usize| match dim.cmp(&at.len()) {
            Ordering::Less => at[dim],
            Ordering::Equal => span.start,
            Ordering::Greater => 0,
        };
        let cut = |(dim, pick): (usize, &Pick)| match dim.cmp(&at.len()) {
            Ordering::Less => pick.part(at[dim], 1),
            Ordering::Equal => pick.part(span.start, span.end - span.start),
            Ordering::Greater => pick.clone(),
        };
        let picks: Vec<Pick> = self.picks.iter().enumerate().map(cut).collect();
        for mut slab in Slabs::new(&picks, self.grid, self.size, self.budget) {
            slab.start.iter_mut().enumerate().for_each(|(dim, place)| *place += start(dim));
            visit(Part::Read(slab))?;
        }
        Ok(())
    }

    /// Visits positions of the next dimension, with all elements behind them, as a run.
    fn absent(&self, at: &[u64], span: Range<u64>, visit: &mut Visit<'_>) -> Result<(), Failure> {
        if span.is_empty() {
            return Ok(());
        }
        let mut first = vec![0; self.picks.len()];
        first[..at.len()].copy_from_slice(at);
        first[at.len()] = span.start;
        let behind =
            self.picks.iter().skip(at.len() + 1).map(|pick| u128::from(pick.count)).product::<u128>();
        visit(Part::Absent(first, u128::from(span.end - span.start) * behind))
    }
}

/// Returns the stored chunks in the bounds of a selection, in the order of their indices. Returns `None` if these are few,
/// or if there are so many objects that it is better to ask for each chunk.
fn stored(picks: &[Pick], array: &Array) -> Result<Option<Vec<Dims>>, Failure> {
    let grid = array.chunk_grid();
    let selected =
        picks.iter().enumerate().fold(1_u128, |n, (dim, pick)| n.saturating_mul(chunks(grid, dim, pick)));
    if selected <= FEW {
        return Ok(None);
    }
    let bounds: Option<Vec<_>> = picks
        .iter()
        .enumerate()
        .map(|(dim, pick)| {
            let (first, last) = pick.bounds()?;
            Some(grid.find(dim, first)?..=grid.find(dim, last)?)
        })
        .collect();
    let Some(bounds) = bounds else { return Ok(None) };
    let mut found = Vec::new();
    for (number, object) in (1_u128..).zip(Stored::of(array)?) {
        // A stray object is not part of the array.
        let Ok(index) = object?.chunk else { continue };
        if number > selected.saturating_mul(4).min(MANY) {
            return Ok(None);
        }
        if index.iter().zip(&bounds).all(|(i, bounds)| bounds.contains(i)) {
            found.push(index);
        }
    }
    found.sort_unstable();
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use zarr_array::traits::RegularGrid;

    use super::*;

    /// Asserts that the parts are all elements in C order, and that a run touches no stored chunk. Returns the numbers of
    /// boxes and of runs.
    #[track_caller]
    fn check(picks: &[Pick], chunk: &[u64], stored: &[[u64; 3]], bytes: u64) -> (usize, usize) {
        let grid = RegularGrid::new(chunk).unwrap();
        let budget = Budget { bytes, most: bytes, chunks: 1 << 16 };
        let stored: Vec<Dims> = stored.iter().map(|index| Dims::from(*index)).collect();
        let parts = Parts { picks, grid: &grid, size: 1, budget, stored: Some(stored.clone()) };
        let (mut next, mut boxes, mut runs) = (0, 0, 0);
        let counts: Vec<u64> = picks.iter().map(|pick| pick.count).collect();
        let number = |at: &[u64]| at.iter().zip(&counts).fold(0, |n, (at, count)| n * count + at);
        parts
            .each(|part| {
                match part {
                    Part::Read(slab) => {
                        assert_eq!(number(&slab.start), next);
                        next += slab.count.iter().product::<u64>();
                        boxes += 1;
                    }
                    Part::Absent(first, count) => {
                        assert_eq!(number(&first), next);
                        for number in next..next + u64::try_from(count).unwrap() {
                            let mut rest = number;
                            let mut index = [0; 3];
                            for dim in (0..3).rev() {
                                let position = picks[dim].position(rest % counts[dim]);
                                (index[dim], rest) = (position / chunk[dim], rest / counts[dim]);
                            }
                            assert!(!stored.contains(&Dims::from(index)), "{index:?}");
                        }
                        next += u64::try_from(count).unwrap();
                        runs += 1;
                    }
                }
                Ok(())
            })
            .unwrap();
        assert_eq!(next, counts.iter().product::<u64>());
        (boxes, runs)
    }

    #[test]
    fn parts_are_all_elements_in_c_order() {
        let whole = [Pick::range(0..12), Pick::range(0..10), Pick::range(0..9)];
        let strided = [Pick::range(3..12), Pick::steps(1, 3, 3), Pick::index(7)];
        let some = [[0, 0, 0], [1, 0, 1], [1, 2, 2], [3, 3, 0]];
        for picks in [&whole, &strided] {
            for bytes in [1, 9, 30, 90, 10_000] {
                check(picks, &[3, 3, 4], &some, bytes);
                check(picks, &[3, 3, 4], &[], bytes);
            }
        }
        assert_eq!(check(&whole, &[3, 3, 4], &[], 90), (0, 1));
        // Everything that is stored is read as it is without a listing.
        let all: Vec<_> =
            (0..4).flat_map(|a| (0..4).flat_map(move |b| (0..3).map(move |c| [a, b, c]))).collect();
        assert_eq!(check(&whole, &[3, 3, 4], &all, 10_000), (1, 0));
    }

    #[test]
    fn the_number_of_parts_depends_on_what_is_stored() {
        let whole = [0; 3].map(|_| Pick::range(0..1 << 42));
        assert!(
            elements(&whole).unwrap() == 1 << 126
                && elements(&[0; 4].map(|_| Pick::range(0..1 << 42))).is_err()
        );
        let grid = RegularGrid::new([1, 1, 4]).unwrap();
        let stored = vec![Dims::from([5, 1 << 40, 9]), Dims::from([1 << 41, 7, 7])];
        let parts =
            Parts { picks: &whole, grid: &grid, size: 8, budget: Budget::DEFAULT, stored: Some(stored) };
        let (mut read, mut absent) = (Vec::new(), 0);
        parts
            .each(|part| {
                match part {
                    Part::Read(slab) => read.push((slab.start, slab.count)),
                    Part::Absent(_, count) => absent += count,
                }
                Ok(())
            })
            .unwrap();
        let one = |start: [u64; 3]| (start.to_vec(), vec![1, 1, 4]);
        assert_eq!(read, [one([5, 1 << 40, 36]), one([1 << 41, 7, 28])]);
        assert_eq!(absent, (1 << 126) - 8);
    }
}
