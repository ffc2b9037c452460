//! The context for converting elements to and from memory.

use zarr_traits::{
    CodecResult, DataType,
    heap::{Heap, Slot},
};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::select::Along;

/// The context for converting elements to and from memory: their data type, the heap of contents of variable length,
/// and their places in the array for messages.
#[derive(Debug)]
pub struct Form<'a> {
    data_type: &'a DataType,
    heap: Option<&'a Heap>,
    /// The largest sum of the sizes of contents, in bytes.
    limit: u64,
    places: &'a [Along],
}

impl<'a> Form<'a> {
    pub(crate) fn new(
        data_type: &'a DataType,
        heap: Option<&'a Heap>,
        limit: u64,
        places: &'a [Along],
    ) -> Self {
        Self { data_type, heap, limit, places }
    }

    /// The data type of the elements.
    pub fn data_type(&self) -> &'a DataType {
        self.data_type
    }

    /// The places of the elements in the array.
    pub(crate) fn places(&self) -> &'a [Along] {
        self.places
    }

    /// The size of an element in memory, in bytes.
    pub fn size(&self) -> usize {
        self.data_type.memory_size()
    }

    /// The heap with the contents of elements of variable length.
    ///
    /// # Errors
    /// When the elements have a fixed size.
    pub fn heap(&self) -> ArrayResult<&'a Heap> {
        let message = "elements of a fixed size have no heap";
        self.heap.ok_or_else(|| ArrayError::new(ArrayErrorKind::Unsupported, message))
    }

    /// Returns the sum of the content sizes of `slots`, in bytes.
    ///
    /// # Errors
    /// [`LimitExceeded`](ArrayErrorKind::LimitExceeded) when the sum exceeds `Limits::result_bytes`. It can be larger
    /// than the heap, because many elements may refer to one content, such as the fill value.
    pub fn content_len(&self, slots: &[u8]) -> ArrayResult<usize> {
        let (slots, _) = slots.as_chunks::<{ Slot::SIZE }>();
        let bytes = self.heap()?.with(|blocks| {
            slots.iter().try_fold(0_u64, |bytes, slot| {
                let content = Slot::from_bytes(*slot).of(blocks)?;
                CodecResult::Ok(bytes.saturating_add(content.len() as u64))
            })
        })?;
        let fits = usize::try_from(bytes).ok().filter(|_| bytes <= self.limit);
        fits.ok_or_else(|| {
            let message = format!("elements of {bytes} bytes exceed the limit of {}", self.limit);
            ArrayError::new(ArrayErrorKind::LimitExceeded, message)
        })
    }

    /// Calls `visit` with the position and the content of each of the `slots`.
    ///
    /// # Errors
    /// Those of [`content_len`](Self::content_len), before the first visit; and those of `visit`.
    pub fn contents(
        &self,
        slots: &[u8],
        mut visit: impl FnMut(usize, &[u8]) -> ArrayResult<()>,
    ) -> ArrayResult<()> {
        self.content_len(slots)?;
        let (slots, _) = slots.as_chunks::<{ Slot::SIZE }>();
        self.heap()?.with(|blocks| {
            let mut contents = slots.iter().map(|slot| Slot::from_bytes(*slot).of(blocks)).enumerate();
            contents.try_for_each(|(position, content)| visit(position, content?))
        })
    }

    /// Returns an error about the element at `position`, counted in C order from 0. The message has its index in the
    /// array, then `what`, which completes the sentence (`is 9, …`).
    ///
    /// ```
    /// # use zarr_array::{ArrayErrorKind, ArrayResult, Form};
    /// fn percent(memory: &[u8], form: &Form<'_>) -> ArrayResult<()> {
    ///     match memory.iter().position(|n| *n > 100) {
    ///         Some(at) => Err(form.error(ArrayErrorKind::Corrupt, at, "is more than 100 %")),
    ///         None => Ok(()),
    ///     }
    /// }
    /// ```
    pub fn error(&self, kind: ArrayErrorKind, position: usize, what: impl std::fmt::Display) -> ArrayError {
        ArrayError::new(kind, format!("the element at {:?} {what}", self.index(position)))
    }

    /// Returns an [error](Self::error) about a value that the data type or the Rust type cannot represent.
    pub(crate) fn wrong(&self, position: usize, what: impl std::fmt::Display) -> ArrayError {
        self.error(ArrayErrorKind::InvalidArgument, position, what)
    }

    /// Returns the index in the array of the element at `position`.
    fn index(&self, position: usize) -> Vec<u64> {
        let mut rest = position as u64;
        let mut index = Vec::new();
        for along in self.places.iter().rev() {
            let count = along.count().max(1);
            along.locate(rest % count, |dim, position| {
                index.resize(index.len().max(dim + 1), 0);
                index[dim] = position;
            });
            rest /= count;
        }
        index
    }
}
