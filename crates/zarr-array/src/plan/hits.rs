//! The selected elements in a box of the array: where they are in the box, and where they are in the result.

use std::ops::Range;

use zarr_strided::{Destination, Dims, Source, Swap};
use zarr_traits::Span;

use crate::error::ArrayResult;
use crate::plan::side::Inside;
use crate::plan::{Cell, MOST_TAKES, Plan};

/// Selected elements in a box.
#[derive(Debug)]
pub(crate) enum Hits {
    /// All elements of the box, in its order: the first of them in the result, and their number.
    Dense { at: Dims, count: Dims },
    /// Elements at equal steps.
    Steps(Box<Steps>),
    /// Groups of elements at any places; none if no element is in the box.
    Places(Vec<Places>),
}

/// Elements at equal steps in each dimension.
#[derive(Debug)]
pub(crate) struct Steps {
    /// The first of them in the result, and their number.
    at: Dims,
    count: Dims,
    /// The place of the first in the box, and their distance.
    start: Dims,
    step: Dims,
}

/// Elements whose place is a sum of offsets, one for each dimension of the result.
#[derive(Debug)]
pub(crate) struct Places {
    /// The first of them in the result, and their number.
    at: Dims,
    count: Dims,
    /// The offsets of the elements along each dimension of the result, counted in elements of the box in C order.
    offsets: Vec<Vec<u64>>,
}

impl Plan {
    /// Returns those of some elements, given by a range along each side, that lie in a box of `shape` whose first element
    /// is at `corner` of the array.
    pub(crate) fn hits(&self, at: &[u64], count: &[u64], corner: &[u64], shape: &[u64]) -> Hits {
        let elements = |side: usize| at[side]..at[side] + count[side];
        if self.has_lists {
            return Hits::Places(self.places(elements, corner, shape));
        }
        let mut hits = Steps::default();
        for (number, side) in self.sides.iter().enumerate() {
            let inside = side.inside(&elements(number), |dim| (corner[dim], shape[dim], 1));
            let Inside::Steps { first, count, place, step } = inside else { continue };
            if count == 0 {
                return Hits::Places(Vec::new());
            }
            hits.at.push(first);
            hits.count.push(count);
            hits.start.push(place);
            hits.step.push(step);
        }
        Hits::Steps(Box::new(hits))
    }

    /// Returns the bytes of the elements of a whole cell, of `size` bytes each, in the order of the plan, in a chunk whose
    /// elements have the distances `strides` in each dimension. Elements that follow each other along the last side are
    /// one span. `None` if there are no elements or very many, or steps skip some.
    pub(crate) fn spans(&self, cell: &Cell, strides: &[u64], size: u64) -> Option<Vec<Span>> {
        let count = cell.count.product().filter(|count| *count > 0)?;
        if cell.takes != (0..cell.all) || (count > MOST_TAKES && self.has_lists) {
            return None;
        }
        let corner = |dim: usize| (cell.start[dim], cell.shape[dim], strides[dim]);
        let mut spans = vec![Span { offset: 0, len: size }];
        for (number, side) in self.sides.iter().enumerate() {
            let elements = cell.at[number]..cell.at[number] + cell.count[number];
            let is_last = number + 1 == self.sides.len();
            let places: Vec<u64> = match side.inside(&elements, corner) {
                // A box around them is read.
                Inside::Steps { count: 2.., step: 2.., .. } => return None,
                Inside::Steps { count, place, .. } => {
                    let stride = side.dims().first().map_or(1, |dim| strides[*dim]);
                    let is_run = is_last && stride == size;
                    if is_run || count == 1 {
                        let len = if is_run { count * size } else { size };
                        spans.iter_mut().for_each(|span| {
                            (span.offset, span.len) = (span.offset + place * stride, len);
                        });
                        continue;
                    }
                    (place..place + count).map(|place| place * stride).collect()
                }
                Inside::Runs(runs) => match <[_; 1]>::try_from(runs) {
                    Ok([(_, places)]) if places.len() as u64 == cell.count[number] => places,
                    _ => return None,
                },
            };
            let is_run = is_last && places.windows(2).all(|pair| pair[1] == pair[0] + size);
            let (places, len) = match places.first() {
                Some(first) if is_run => (std::slice::from_ref(first), places.len() as u64 * size),
                _ => (&places[..], size),
            };
            let mut longer = Vec::with_capacity(spans.len() * places.len());
            for span in &spans {
                longer.extend(places.iter().map(|place| Span { offset: span.offset + place, len }));
            }
            spans = longer;
        }
        Some(spans)
    }

    /// Whether a cell has more than `most` rows along the last side.
    pub(crate) fn has_rows(&self, cell: &Cell, most: u64) -> bool {
        let before = cell.count.split_last().map_or(&[][..], |(_, before)| before);
        before.iter().copied().fold(1, u64::saturating_mul) > most
    }

    fn places(&self, elements: impl Fn(usize) -> Range<u64>, corner: &[u64], shape: &[u64]) -> Vec<Places> {
        let mut strides = Dims::filled(1, shape.len());
        for dim in (1..shape.len()).rev() {
            strides[dim - 1] = strides[dim].saturating_mul(shape[dim]);
        }
        let mut all = vec![Places { at: Dims::new(), count: Dims::new(), offsets: Vec::new() }];
        for (number, side) in self.sides.iter().enumerate() {
            let corner = |dim: usize| (corner[dim], shape[dim], strides[dim]);
            let runs = match side.inside(&elements(number), corner) {
                Inside::Runs(runs) => runs,
                Inside::Steps { count: 0, .. } => Vec::new(),
                Inside::Steps { first, count, place, step } => {
                    let stride = side.dims().first().map_or(1, |dim| strides[*dim]);
                    vec![(first, (0..count).map(|nth| (place + nth * step) * stride).collect())]
                }
            };
            let longer = |places: &Places, (first, offsets): &(u64, Vec<u64>)| {
                let with = |dims: &Dims, last| dims.iter().copied().chain([last]).collect();
                Places {
                    at: with(&places.at, *first),
                    count: with(&places.count, offsets.len() as u64),
                    offsets: places.offsets.iter().chain([offsets]).cloned().collect(),
                }
            };
            all = all.iter().flat_map(|places| runs.iter().map(|run| longer(places, run))).collect();
        }
        all
    }
}

impl Hits {
    /// The first element in the result, if there is any.
    pub(crate) fn first(&self) -> Option<&Dims> {
        match self {
            Self::Dense { at, .. } => Some(at),
            Self::Steps(steps) => Some(&steps.at),
            Self::Places(groups) => groups.first().map(|places| &places.at),
        }
    }

    /// Returns the place of the box in a part of the result whose first element is at `origin`, if all its elements are
    /// selected.
    pub(crate) fn dense<'d>(
        &self,
        origin: &[u64],
        result: &'d mut Destination<'_>,
    ) -> ArrayResult<Option<Destination<'d>>> {
        let Self::Dense { at, count } = self else { return Ok(None) };
        Ok(Some(result.reborrow().sub(&apart(at, origin), count)?))
    }

    /// Takes the elements out of the box, which `memory` holds, and puts them into a part of the result whose first
    /// element is at `origin`.
    pub(crate) fn take(
        &self,
        memory: &[u8],
        shape: &[u64],
        origin: &[u64],
        result: &mut Destination<'_>,
    ) -> ArrayResult<()> {
        let size = result.size();
        match self {
            Self::Dense { at, count } => {
                let elements = Source::dense(memory, shape, size)?;
                Ok(result.reborrow().sub(&apart(at, origin), count)?.put(elements, Swap::NONE)?)
            }
            Self::Steps(steps) => {
                let elements = Source::dense(memory, shape, size)?.sub(&steps.start, &steps.extent())?;
                let elements = elements.step(&steps.step)?;
                Ok(result
                    .reborrow()
                    .sub(&apart(&steps.at, origin), &steps.count)?
                    .put(elements, Swap::NONE)?)
            }
            Self::Places(groups) => groups.iter().try_for_each(|places| {
                let mut part = result.reborrow().sub(&apart(&places.at, origin), &places.count)?;
                Ok(part.gather(memory, &places.slices())?)
            }),
        }
    }

    /// Fills the elements of a part of the result whose first element is at `origin`.
    pub(crate) fn fill(
        &self,
        element: &[u8],
        origin: &[u64],
        result: &mut Destination<'_>,
    ) -> ArrayResult<()> {
        let mut fill = |at: &Dims, count: &Dims| -> ArrayResult<()> {
            Ok(result.reborrow().sub(&apart(at, origin), count)?.fill(element)?)
        };
        match self {
            Self::Dense { at, count } => fill(at, count),
            Self::Steps(steps) => fill(&steps.at, &steps.count),
            Self::Places(groups) => groups.iter().try_for_each(|places| fill(&places.at, &places.count)),
        }
    }

    /// Puts the elements of `input`, which has all elements of the plan, into the box, which `memory` holds.
    pub(crate) fn put(&self, input: &Source<'_>, memory: &mut [u8], shape: &[u64]) -> ArrayResult<()> {
        match self {
            Self::Dense { at, count } => {
                let mut part = Destination::dense(memory, shape, input.size())?;
                Ok(part.put(input.sub(at, count)?, Swap::NONE)?)
            }
            Self::Steps(steps) => {
                steps.put(input, Destination::dense(memory, shape, input.size())?, Swap::NONE)
            }
            Self::Places(groups) => groups.iter().try_for_each(|places| {
                Ok(input.sub(&places.at, &places.count)?.scatter(memory, &places.slices())?)
            }),
        }
    }
}

impl Steps {
    /// The length from the first to the last of them.
    fn extent(&self) -> Dims {
        self.count.iter().zip(&self.step).map(|(count, step)| count.saturating_sub(1) * step + 1).collect()
    }

    /// Puts the elements of `input`, which has all elements of the plan, into the box.
    pub(crate) fn put(&self, input: &Source<'_>, dst: Destination<'_>, swap: Swap) -> ArrayResult<()> {
        let mut part = dst.sub(&self.start, &self.extent())?.step(&self.step)?;
        Ok(part.put(input.sub(&self.at, &self.count)?, swap)?)
    }
}

impl Default for Steps {
    fn default() -> Self {
        let [at, count, start, step] = std::array::from_fn(|_| Dims::new());
        Self { at, count, start, step }
    }
}

impl Places {
    fn slices(&self) -> Vec<&[u64]> {
        self.offsets.iter().map(|offsets| &offsets[..]).collect()
    }
}

/// Returns the distance of a position from an origin before it.
fn apart(at: &[u64], origin: &[u64]) -> Dims {
    at.iter().zip(origin).map(|(at, origin)| at - origin).collect()
}
