//! A side with elements at any positions, sorted and divided into tiles.

use std::ops::Range;

use zarr_strided::{Cut, Dims};

use crate::error::ArrayResult;
use crate::plan::order::Order;
use crate::plan::{Layout, grid_ends};

/// Elements at any positions of one or several dimensions of the array, without duplicates. They are sorted by chunk,
/// inner chunk and position, so those of a chunk follow each other, whatever the order of the selection.
#[derive(Debug)]
pub(super) struct List {
    dims: Vec<usize>,
    /// For each element its position in each dimension.
    points: Vec<u64>,
    chunks: Vec<InChunk>,
    /// The first element of each tile. The elements of a tile lie in one inner chunk, or so close together that they are
    /// read together.
    tiles: Vec<u64>,
    /// The shape of inner chunks in its dimensions, if there are any.
    inner: Option<Dims>,
}

/// The elements of a list in one chunk.
#[derive(Debug)]
struct InChunk {
    /// The index, start and length of the chunk in each dimension of the list.
    index: Dims,
    start: Dims,
    length: Dims,
    elements: Range<u64>,
}

impl List {
    /// Sorts the points of a selection, and returns their order. `positions` has their positions in all `dims`, one point
    /// after the other.
    pub(super) fn new(dims: &[usize], positions: &[u64], layout: &Layout<'_>) -> ArrayResult<(Self, Order)> {
        let (rank, grid) = (dims.len(), layout.grid);
        let inner = layout.inner.as_ref().map(|inner| dims.iter().map(|dim| inner.shape[*dim]).collect());
        let point = |element: usize| &positions[element * rank..(element + 1) * rank];
        // The chunk of each point, in each dimension.
        let mut chunks = Vec::with_capacity(positions.len());
        for (position, dim) in positions.iter().zip(dims.iter().cycle()) {
            chunks.push(grid.find(*dim, *position).ok_or_else(|| grid_ends(*dim))?);
        }
        let chunk = |element: usize| &chunks[element * rank..(element + 1) * rank];
        let mut list =
            Self { dims: dims.to_vec(), points: Vec::new(), chunks: Vec::new(), tiles: Vec::new(), inner };
        let all = positions.len() / rank;
        let (in_chunks, in_points) = (Radices::of(&chunks, rank), Radices::of(positions, rank));
        // Most elements differ in these numbers, which are compared faster.
        let number = |element: usize| {
            let number = in_chunks.number(0, chunk(element).iter().copied());
            let number = in_points.number(number, list.inner_of(point(element)));
            in_points.number(number, point(element).iter().copied())
        };
        let compare = |(number, a): &(u64, usize), (other, b): &(u64, usize)| {
            let by_chunk = || chunk(*a).cmp(chunk(*b));
            let by_inner = || list.inner_of(point(*a)).cmp(list.inner_of(point(*b)));
            let by_number = number.cmp(other);
            by_number.then_with(by_chunk).then_with(by_inner).then_with(|| point(*a).cmp(point(*b)))
        };
        let numbered = || (0..all).map(|element| (number(element), element));
        let sorted: Vec<usize> = match numbered().is_sorted_by(|a, b| compare(a, b).is_le()) {
            true => (0..all).collect(),
            false => {
                let mut sorted: Vec<(u64, usize)> = numbered().collect();
                sorted.sort_unstable_by(compare);
                sorted.into_iter().map(|(_, element)| element).collect()
            }
        };
        let mut order = vec![0; sorted.len()];
        let mut points = Vec::with_capacity(positions.len());
        let mut count = 0;
        let mut firsts: Vec<(usize, u64)> = Vec::new();
        for (nth, element) in sorted.iter().enumerate() {
            let before = nth.checked_sub(1).map(|nth| sorted[nth]);
            if before.is_none_or(|before| point(before) != point(*element)) {
                if before.is_none_or(|before| chunk(before) != chunk(*element)) {
                    firsts.push((*element, count));
                }
                points.extend_from_slice(point(*element));
                count += 1;
            }
            order[*element] = count - 1;
        }
        list.points = points;
        list.chunks.reserve_exact(firsts.len());
        for (nth, (element, first)) in firsts.iter().enumerate() {
            let end = firsts.get(nth + 1).map_or(count, |(_, next)| *next);
            let (mut start, mut length) = (Dims::new(), Dims::new());
            for (dim, index) in dims.iter().zip(chunk(*element)) {
                let span = grid.span(*dim, *index).unwrap_or_default();
                start.push(span.start);
                length.push(span.end - span.start);
            }
            list.chunks.push(InChunk { index: chunk(*element).into(), start, length, elements: *first..end });
            for element in *first..end {
                if element == *first || !list.are_close(element - 1, element, layout) {
                    list.tiles.push(element);
                }
            }
        }
        let is_same = order.iter().zip(0..).all(|(order, element)| *order == element);
        Ok((list, if is_same { Order::Same } else { Order::List(order) }))
    }

    pub(super) fn dims(&self) -> &[usize] {
        &self.dims
    }

    pub(super) fn count(&self) -> u64 {
        (self.points.len() / self.dims.len().max(1)) as u64
    }

    pub(super) fn chunks(&self) -> u64 {
        self.chunks.len() as u64
    }

    pub(super) fn chunk(&self, number: u64, mut set: impl FnMut(usize, u64, u64, u64)) -> Range<u64> {
        let Some(inside) = usize::try_from(number).ok().and_then(|number| self.chunks.get(number)) else {
            return 0..0;
        };
        for (at, dim) in self.dims.iter().enumerate() {
            set(*dim, inside.index[at], inside.start[at], inside.length[at]);
        }
        inside.elements.clone()
    }

    pub(super) fn longest_chunk(&self) -> u64 {
        self.chunks.iter().filter_map(|chunk| chunk.length.product()).max().unwrap_or(0)
    }

    pub(super) fn tiles(&self) -> u64 {
        self.tiles.len() as u64
    }

    pub(super) fn tile(&self, number: u64) -> Range<u64> {
        let first =
            |number: u64| usize::try_from(number).ok().and_then(|number| self.tiles.get(number).copied());
        let start = first(number).unwrap_or(self.count());
        start..number.checked_add(1).and_then(first).unwrap_or(self.count())
    }

    pub(super) fn tile_of(&self, element: u64) -> u64 {
        self.tiles.partition_point(|first| *first <= element).saturating_sub(1) as u64
    }

    pub(super) fn cut(&self) -> ArrayResult<Cut> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for number in 0..self.tiles() {
            let tile = self.tile(number);
            let length = tile.end - tile.start;
            match runs.last_mut() {
                Some((last, times)) if *last == length => *times += 1,
                _ => runs.push((length, 1)),
            }
        }
        Ok(if self.count() == 0 { Cut::whole(0) } else { Cut::new(0, 1, self.count(), runs)? })
    }

    pub(super) fn bounds(&self, elements: &Range<u64>, mut set: impl FnMut(usize, u64, u64)) {
        for (at, dim) in self.dims.iter().enumerate() {
            let positions = || elements.clone().map(|element| self.point(element)[at]);
            // The positions in a single dimension ascend.
            let ends = match self.dims.len() {
                1 => positions().next().zip(positions().next_back()),
                _ => positions().min().zip(positions().max()),
            };
            let (low, high) = ends.unwrap_or_default();
            set(*dim, low, high);
        }
    }

    pub(super) fn is_dense(&self, elements: &Range<u64>) -> bool {
        let mut is_dense = self.dims.len() == 1;
        self.bounds(elements, |_, low, high| is_dense &= high - low + 1 == elements.end - elements.start);
        is_dense
    }

    pub(super) fn inside(
        &self,
        elements: &Range<u64>,
        corner: impl Fn(usize) -> (u64, u64, u64),
    ) -> Vec<(u64, Vec<u64>)> {
        let corners: Vec<(u64, u64, u64)> = self.dims.iter().map(|dim| corner(*dim)).collect();
        let place = |element: u64| {
            let dims = self.point(element).iter().zip(&corners);
            dims.into_iter().try_fold(0, |place, (position, (first, length, stride))| {
                let offset = position.checked_sub(*first).filter(|offset| offset < length)?;
                Some(place + offset * stride)
            })
        };
        let mut runs: Vec<(u64, Vec<u64>)> = Vec::new();
        for element in self.near(elements, &corners) {
            let Some(place) = place(element) else { continue };
            match runs.last_mut() {
                Some((first, places)) if *first + places.len() as u64 == element => places.push(place),
                last => {
                    // Most often the first run has all elements.
                    let all = if last.is_none() { zarr_strided::to_usize(elements.end - element) } else { 1 };
                    let mut places = Vec::with_capacity(all);
                    places.push(place);
                    runs.push((element, places));
                }
            }
        }
        runs
    }

    /// Returns some elements, among them all that lie in a box: those between its borders in a single dimension, those in
    /// its inner chunk if it has one.
    fn near(&self, elements: &Range<u64>, corners: &[(u64, u64, u64)]) -> Range<u64> {
        if let [(first, length, _)] = corners {
            let before = |bound: u64| partition(elements, |element| self.point(element)[0] < bound);
            return before(*first)..before(first.saturating_add(*length));
        }
        let index = |last: bool| {
            let position = move |(first, length, _): &(u64, u64, u64)| {
                if last { first.saturating_add(length.saturating_sub(1)) } else { *first }
            };
            let inner = self.inner.iter().flat_map(|inner| inner.iter());
            corners.iter().map(position).zip(inner).map(|(position, inner)| position / inner)
        };
        if self.inner.is_none() || !index(false).eq(index(true)) {
            return elements.clone();
        }
        let inner_of = |element: u64| self.inner_of(self.point(element));
        let first = partition(elements, |element| inner_of(element).lt(index(false)));
        first..partition(&(first..elements.end), |element| inner_of(element).le(index(false)))
    }

    /// The position of an element in each dimension.
    fn point(&self, element: u64) -> &[u64] {
        let first = usize::try_from(element).unwrap_or(usize::MAX).saturating_mul(self.dims.len());
        &self.points[first..first + self.dims.len()]
    }

    /// The index of the inner chunk of a point in each dimension; nothing if there are no inner chunks.
    fn inner_of<'a>(&'a self, point: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        let inner = self.inner.iter().flat_map(|inner| inner.iter());
        point.iter().zip(inner).map(|(position, inner)| position / inner)
    }

    /// Whether two elements of a chunk, the second after the first, belong to one tile.
    fn are_close(&self, first: u64, second: u64, layout: &Layout<'_>) -> bool {
        if !layout.reads_parts {
            return true;
        }
        let (first, second) = (self.point(first), self.point(second));
        if self.inner.is_some() {
            return self.inner_of(first).eq(self.inner_of(second));
        }
        let last = self.dims.len() - 1;
        let gap = if self.dims[last] + 1 == layout.shape.len() { layout.gap } else { 0 };
        first[..last] == second[..last] && second[last] - first[last] - 1 <= gap
    }
}

/// The lengths of a box from 0 around positions.
struct Radices(Dims);

impl Radices {
    /// Returns those of positions of `rank` dimensions, one after the other.
    fn of(positions: &[u64], rank: usize) -> Self {
        let mut most = Dims::filled(0, rank);
        for position in positions.chunks_exact(rank) {
            most.iter_mut().zip(position).for_each(|(most, position)| *most = (*most).max(*position));
        }
        Self(most.iter().map(|most| most.saturating_add(1)).collect())
    }

    /// Returns a number that is larger the later a position comes in C order, after `before`; the largest if it would be
    /// larger.
    fn number(&self, before: u64, position: impl Iterator<Item = u64>) -> u64 {
        position
            .zip(&self.0)
            .fold(before, |number, (position, radix)| number.saturating_mul(*radix).saturating_add(position))
    }
}

/// Returns the first element for which a condition is false. It must be true for all elements before it.
fn partition(elements: &Range<u64>, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (elements.start, elements.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
