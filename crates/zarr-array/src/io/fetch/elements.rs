//! Elements at any places and short rows of an uncompressed chunk: fetched without a piece for each of them, which takes
//! longer to prepare than to read.

use zarr_strided::{Dims, Swap, to_usize};
use zarr_traits::{Scratch, Span};

use super::{ChunkObject, FetchError, RESTARTS, Seen, changed_often};
use crate::error::ArrayResult;
use crate::io::core::Core;
use crate::io::loaded::Fetched;
use crate::plan::{Cell, Plan};

/// The most bytes of elements that are copied before they are put into the result.
const MOST_BYTES: u64 = 1 << 20;

/// The most rows of a box that are fetched so. More are read and copied as boxes.
const FEW: u64 = 8;

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
    /// Returns the places of the elements of a cell, or `None` if they are better fetched by takes: those of other chunks
    /// than uncompressed ones, whole chunks, and very many or many rows, which are read and copied as boxes.
    pub(crate) fn of(core: &Core, plan: &Plan, cell: &Cell) -> Option<Self> {
        if plan.is_steps() && (plan.has_rows(cell, FEW) || cell.count.product() == cell.shape.product()) {
            return None;
        }
        let (order, swap) = core.chain.plain(cell.shape.len())?;
        let size = core.size as u64;
        let spans = plan.spans(cell, &strides(&cell.shape, &order, size)?, size)?;
        let one = spans.len() == 1;
        if !one && core.bytes_of(&cell.count) > MOST_BYTES {
            return None;
        }
        let is_short = || {
            let ends = spans.first().zip(spans.last());
            ends.is_some_and(|(first, last)| last.offset + last.len - first.offset <= core.fetching.span)
        };
        (one || !plan.is_steps() || is_short()).then_some(Self { spans, swap })
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

    /// Returns the elements, one after the other in the order of the plan, if they are so in the object.
    pub(crate) fn as_one(&self) -> ArrayResult<Option<&[u8]>> {
        match self.at.spans[..] {
            [span] => self.fetched.bytes(span, 1).map(Some),
            _ => Ok(None),
        }
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
