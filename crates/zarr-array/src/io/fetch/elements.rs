//! Elements at any places of an uncompressed chunk: fetched without a piece for each of them, which takes longer to
//! prepare than to read.

use zarr_strided::{Dims, Swap, to_usize};
use zarr_traits::{Scratch, Span};

use super::{ChunkObject, FetchError, RESTARTS, Seen, changed_often};
use crate::error::ArrayResult;
use crate::io::core::Core;
use crate::io::loaded::Fetched;
use crate::plan::{Cell, Plan};

/// The most bytes of elements that are copied before they are put into the result.
const MOST_BYTES: u64 = 1 << 20;

/// The places of the selected elements of an uncompressed chunk.
pub(crate) struct ElementSpans {
    /// The bytes of consecutive elements, in the order of the plan. All have one length.
    spans: Vec<Span>,
    swap: Swap,
}

/// Fetched elements.
pub(crate) struct Elements {
    at: ElementSpans,
    fetched: Fetched,
}

impl ElementSpans {
    /// Returns the places of the elements of a cell, or `None` if they are better fetched by takes: those at equal steps,
    /// those of other chunks than uncompressed ones, and very many.
    pub(crate) fn of(core: &Core, plan: &Plan, cell: &Cell) -> Option<Self> {
        if plan.is_steps() || core.bytes_of(&cell.count) > MOST_BYTES {
            return None;
        }
        let (order, swap) = core.chain.plain(cell.shape.len())?;
        let places = plan.places_in(cell, &strides(&cell.shape, &order, core.size as u64)?)?;
        let (last, before) = places.split_last()?;
        // What follows each other along the last side is one span.
        let size = core.size as u64;
        let is_run = last.windows(2).all(|pair| pair[1] == pair[0] + size);
        let (last, len) = match last.first() {
            Some(first) if is_run => (std::slice::from_ref(first), size * last.len() as u64),
            _ => (&last[..], size),
        };
        let mut spans = vec![Span { offset: 0, len }];
        for places in before.iter().map(|places| &places[..]).chain([last]) {
            let along = |span: &Span| {
                let (offset, len) = (span.offset, span.len);
                places.iter().map(move |place| Span { offset: offset + place, len })
            };
            spans = match &spans[..] {
                [span] => along(span).collect(),
                spans => spans.iter().flat_map(along).collect(),
            };
        }
        Some(Self { spans, swap })
    }
}

/// Returns the bytes from one element to the next in each dimension of a chunk, or `None` if it exceeds memory.
fn strides(shape: &[u64], order: &[u64], size: u64) -> Option<Dims> {
    let mut strides = Dims::filled(0, shape.len());
    let mut stride = size;
    for dim in order.iter().rev() {
        let dim = to_usize(*dim);
        strides[dim] = stride;
        stride = stride.checked_mul(*shape.get(dim)?)?;
    }
    i64::try_from(stride).is_ok().then_some(strides)
}

impl Elements {
    /// The number of fetched bytes.
    pub(crate) fn fetched_bytes(&self) -> u64 {
        self.fetched.len() as u64
    }

    /// The swap of the bytes of an element.
    pub(crate) fn swap(&self) -> Swap {
        self.at.swap
    }

    /// Copies the elements to `memory`, one after the other in the order of the plan.
    pub(crate) fn copy_to(&self, memory: &mut [u8]) -> ArrayResult<()> {
        let len = self.at.spans.first().map_or(1, |span| to_usize(span.len).max(1));
        for (span, memory) in self.at.spans.iter().zip(memory.chunks_exact_mut(len)) {
            memory.copy_from_slice(self.fetched.bytes(*span, 1)?);
        }
        Ok(())
    }

    /// Gives the memory of the object back.
    pub(crate) fn give_to(self, scratch: &mut Scratch) {
        self.fetched.give_to(scratch);
    }
}

impl Core {
    /// Fetches elements of an uncompressed chunk. Returns `None` if the chunk is missing.
    pub(crate) async fn fetch_elements(
        &self,
        object: ChunkObject<'_>,
        at: ElementSpans,
        mut scratch: Option<&mut Scratch>,
    ) -> ArrayResult<Option<Elements>> {
        let size = Dims::from(object.shape).product().and_then(|len| len.checked_mul(self.size as u64));
        for _ in 0..RESTARTS {
            let spans = at.spans.iter().copied();
            match self.fetch_spans(object.key, spans, size, Seen::default(), scratch.as_deref_mut()).await {
                Err(FetchError::Changed) => {}
                Err(FetchError::Other(e)) => return Err(e),
                Ok(fetched) => return Ok(fetched.map(|fetched| Elements { at, fetched })),
            }
        }
        Err(changed_often())
    }
}
