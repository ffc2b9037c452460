//! The elements along one dimension of the result, sorted and divided into clusters.

use std::ops::Range;

use zarr_traits::{ChunkGrid, Dims};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::plan::at_chunks;
use crate::plan::order::Order;
use crate::select::Along;

/// The elements along one dimension of the result, sorted and without duplicates.
#[derive(Debug)]
pub(super) struct Side {
    /// The dimensions of the array that vary along it.
    pub(super) dims: Vec<usize>,
    elements: Elements,
    pub(super) count: u64,
    pub(super) chunks: Vec<SideChunk>,
    /// The elements of each cluster.
    pub(super) clusters: Vec<Range<u64>>,
}

/// The positions of the elements of a side.
#[derive(Debug)]
enum Elements {
    Steps {
        start: u64,
        step: u64,
    },
    /// For each element its position in each dimension.
    List(Vec<u64>),
}

/// The elements of a side in one chunk.
#[derive(Debug, Clone)]
pub(super) struct SideChunk {
    /// The index, start and length of the chunk in each dimension of the side.
    pub(super) index: Dims,
    pub(super) start: Dims,
    pub(super) length: Dims,
    pub(super) clusters: Range<usize>,
}

/// How far elements of a cluster may be apart.
pub(super) struct Nearness<'a> {
    /// The shape of inner chunks. Each cluster of a list lies in one.
    pub(super) inner: Option<&'a [u64]>,
    /// Whether a part of a chunk can be read at all.
    pub(super) parts: bool,
    /// The largest number of elements between two elements of a cluster along the last dimension of the array.
    pub(super) gap: u64,
    /// The last dimension of the array.
    pub(super) last: usize,
}

/// The largest number of chunks along a side of ranges. A side keeps about 300 bytes for each.
const MOST_CHUNKS: u64 = 1 << 20;

/// The largest number of inner chunks along a side of ranges that a box may touch.
const INNER: u64 = 16;

impl Side {
    pub(super) fn new(
        along: &Along,
        grid: &dyn ChunkGrid,
        near: &Nearness<'_>,
    ) -> ArrayResult<(Self, Order)> {
        match along {
            Along::Steps { dim, picked, reversed } => {
                let order = if *reversed { Order::Reversed } else { Order::Same };
                let cut = at_chunks(picked, *dim, grid)?;
                if cut.len() > MOST_CHUNKS {
                    let message = format!(
                        "a selection with a list touches {} chunks along dimension {dim}, at most {MOST_CHUNKS} are \
                         supported",
                        cut.len()
                    );
                    return Err(ArrayError::new(ArrayErrorKind::LimitExceeded, message));
                }
                let elements = Elements::Steps { start: picked.start, step: picked.step };
                let mut side = Self {
                    dims: vec![*dim],
                    elements,
                    count: picked.count,
                    chunks: Vec::new(),
                    clusters: Vec::new(),
                };
                for number in 0..cut.len() {
                    let piece = cut.piece(number).unwrap_or_default();
                    let (index, start) = ([piece.interval][..].into(), [piece.start][..].into());
                    side.add(index, start, [piece.length][..].into(), piece.elements, near);
                }
                Ok((side, order))
            }
            Along::List { dims, positions } => Self::of_list(dims, positions, grid, near),
        }
    }

    fn of_list(
        dims: &[usize],
        positions: &[u64],
        grid: &dyn ChunkGrid,
        near: &Nearness<'_>,
    ) -> ArrayResult<(Self, Order)> {
        let rank = dims.len();
        let point = |element: usize| &positions[element * rank..(element + 1) * rank];
        let ends = |dim: &usize| {
            ArrayError::new(ArrayErrorKind::Metadata, format!("the chunk grid ends inside dimension {dim}"))
        };
        // The chunk of each element, in each dimension.
        let mut chunks = Vec::with_capacity(positions.len());
        for (position, dim) in positions.iter().zip(dims.iter().cycle()) {
            chunks.push(grid.find(*dim, *position).ok_or_else(|| ends(dim))?);
        }
        let chunk = |element: usize| &chunks[element * rank..(element + 1) * rank];
        let inner = |element: usize| near.inner_of(dims, point(element));
        let mut sorted: Vec<usize> = (0..positions.len() / rank).collect();
        let compare = |a: &usize, b: &usize| {
            let by_chunk = chunk(*a).cmp(chunk(*b));
            let by_inner = || inner(*a).cmp(inner(*b));
            by_chunk.then_with(by_inner).then_with(|| point(*a).cmp(point(*b)))
        };
        if !sorted.is_sorted_by(|a, b| compare(a, b).is_le()) {
            sorted.sort_unstable_by(compare);
        }
        let mut order = vec![0; sorted.len()];
        let mut list = Vec::with_capacity(positions.len());
        let mut side = Self {
            dims: dims.to_vec(),
            elements: Elements::List(Vec::new()),
            count: 0,
            chunks: Vec::new(),
            clusters: Vec::new(),
        };
        let mut firsts: Vec<(usize, u64)> = Vec::new();
        for (nth, element) in sorted.iter().enumerate() {
            let before = nth.checked_sub(1).map(|nth| sorted[nth]);
            if before.is_none_or(|before| point(before) != point(*element)) {
                if before.is_none_or(|before| chunk(before) != chunk(*element)) {
                    firsts.push((*element, side.count));
                }
                list.extend_from_slice(point(*element));
                side.count += 1;
            }
            order[*element] = side.count - 1;
        }
        side.elements = Elements::List(list);
        for (nth, (element, first)) in firsts.iter().enumerate() {
            let end = firsts.get(nth + 1).map_or(side.count, |(_, next)| *next);
            let spans = dims.iter().zip(chunk(*element)).map(|(dim, index)| grid.span(*dim, *index));
            let spans: Vec<Range<u64>> = spans.map(Option::unwrap_or_default).collect();
            let (start, length) = (
                spans.iter().map(|span| span.start).collect(),
                spans.iter().map(|s| s.end - s.start).collect(),
            );
            side.add(chunk(*element).into(), start, length, *first..end, near);
        }
        let is_same = order.iter().zip(0..).all(|(order, element)| *order == element);
        Ok((side, if is_same { Order::Same } else { Order::List(order) }))
    }

    /// Adds a chunk with these elements, and divides them into clusters.
    fn add(&mut self, index: Dims, start: Dims, length: Dims, elements: Range<u64>, near: &Nearness<'_>) {
        let first = self.clusters.len();
        let mut begin = elements.start;
        while begin < elements.end {
            let end = self.cluster_end(begin, elements.end, near);
            self.clusters.push(begin..end);
            begin = end;
        }
        self.chunks.push(SideChunk { index, start, length, clusters: first..self.clusters.len() });
    }

    /// Returns the exclusive end of the cluster that begins with element `begin`: the elements before `end` that are
    /// close enough to be read together.
    fn cluster_end(&self, begin: u64, end: u64, near: &Nearness<'_>) -> u64 {
        if !near.parts {
            return end;
        }
        match (&self.elements, near.inner) {
            (Elements::Steps { start, step }, Some(inner)) => {
                let inner = inner[self.dims[0]];
                if *step > inner {
                    return begin + 1;
                }
                let border = (start + begin * step) / inner * inner;
                let border = border.saturating_add(inner.saturating_mul(INNER));
                end.min((border - start).div_ceil(*step))
            }
            (Elements::Steps { .. }, None) => end,
            (Elements::List(_), _) => {
                let far = |next: &u64| !near.are_close(&self.dims, self.point(*next - 1), self.point(*next));
                (begin + 1..end).find(far).unwrap_or(end)
            }
        }
    }

    /// The positions of an element of a list.
    fn point(&self, element: u64) -> &[u64] {
        let Elements::List(list) = &self.elements else { return &[] };
        let first = usize::try_from(element).unwrap_or(usize::MAX).saturating_mul(self.dims.len());
        list.get(first..first + self.dims.len()).unwrap_or_default()
    }

    /// The position of an element in the dimension `self.dims[at]`.
    fn position(&self, element: u64, at: usize) -> u64 {
        match &self.elements {
            Elements::Steps { start, step } => start + element * step,
            Elements::List(_) => self.point(element)[at],
        }
    }

    /// Returns the lowest and the highest position of some elements in the dimension `self.dims[at]`.
    pub(super) fn bounds(&self, elements: &Range<u64>, at: usize) -> (u64, u64) {
        let Some(last) = elements.end.checked_sub(1).filter(|last| *last >= elements.start) else {
            return (0, 0);
        };
        if self.dims.len() == 1 {
            return (self.position(elements.start, at), self.position(last, at));
        }
        let positions = || elements.clone().map(|element| self.position(element, at));
        (positions().min().unwrap_or(0), positions().max().unwrap_or(0))
    }

    /// Returns the elements that lie in a box, as runs: the first element, and the place of each in the box. `corner`
    /// has the first position, the length and the distance of elements of the box for each dimension of the side.
    pub(super) fn runs(&self, elements: &Range<u64>, corner: &[(u64, u64, u64)]) -> Vec<(u64, Vec<u64>)> {
        let place = |element: u64| {
            corner.iter().enumerate().try_fold(0, |place, (at, (first, length, stride))| {
                let offset =
                    self.position(element, at).checked_sub(*first).filter(|offset| offset < length)?;
                Some(place + offset * stride)
            })
        };
        let mut candidates = elements.clone();
        if let [(first, length, _)] = corner {
            // Positions ascend, so the elements in the box follow each other.
            let before = |bound: u64| partition(elements, |element| self.position(element, 0) < bound);
            candidates = before(*first)..before(first.saturating_add(*length));
        }
        let mut runs: Vec<(u64, Vec<u64>)> = Vec::new();
        for element in candidates {
            let Some(place) = place(element) else { continue };
            match runs.last_mut() {
                Some((first, places)) if *first + places.len() as u64 == element => places.push(place),
                _ => runs.push((element, vec![place])),
            }
        }
        runs
    }

    /// Returns the largest number of inner chunks that a cluster touches along this side.
    pub(super) fn most_inner(&self, inner: &[u64]) -> u64 {
        match self.elements {
            Elements::Steps { step, .. } if step <= inner[self.dims[0]] => INNER,
            _ => 1,
        }
    }
}

impl Nearness<'_> {
    /// The index of the inner chunk of a point in each of `dims`; nothing if there are no inner chunks.
    fn inner_of<'a>(&'a self, dims: &'a [usize], point: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        let inner = self.inner.unwrap_or_default();
        dims.iter().zip(point).filter_map(|(dim, position)| Some(position / inner.get(*dim)?))
    }

    /// Whether two points, the second after the first, belong to one cluster.
    fn are_close(&self, dims: &[usize], first: &[u64], second: &[u64]) -> bool {
        if !self.inner_of(dims, first).eq(self.inner_of(dims, second)) {
            return false;
        }
        if self.inner.is_some() {
            return true;
        }
        let last = dims.len() - 1;
        let gap = if dims[last] == self.last { self.gap } else { 0 };
        first[..last] == second[..last] && second[last] - first[last] - 1 <= gap
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
