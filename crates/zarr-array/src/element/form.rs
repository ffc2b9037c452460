//! What elements are made from, and into.

use zarr_traits::{
    CodecResult, DataType,
    heap::{Heap, Slot},
};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::select::Picked;

/// What elements are made from and into: their data type, the heap of what they contain where they differ in length,
/// and which elements of the array they are, for messages.
#[derive(Debug)]
pub struct Form<'a> {
    data_type: &'a DataType,
    heap: Option<&'a Heap>,
    /// What elements may contain together, in bytes.
    limit: u64,
    places: &'a [Picked],
}

impl<'a> Form<'a> {
    pub(crate) fn new(
        data_type: &'a DataType,
        heap: Option<&'a Heap>,
        limit: u64,
        places: &'a [Picked],
    ) -> Self {
        Self { data_type, heap, limit, places }
    }

    /// The data type of the elements.
    pub fn data_type(&self) -> &'a DataType {
        self.data_type
    }

    /// Which elements of the array they are.
    pub(crate) fn places(&self) -> &'a [Picked] {
        self.places
    }

    /// Bytes of an element in memory.
    pub fn size(&self) -> usize {
        self.data_type.memory_size()
    }

    /// What elements of variable length contain.
    ///
    /// # Errors
    /// When those of this data type have one length.
    pub fn heap(&self) -> ArrayResult<&'a Heap> {
        let message = "elements of variable length have no heap here";
        self.heap.ok_or_else(|| ArrayError::new(ArrayErrorKind::Unsupported, message))
    }

    /// Bytes that the elements of variable length contain together, of which the slots are given.
    ///
    /// # Errors
    /// [`LimitExceeded`](ArrayErrorKind::LimitExceeded) when they are more than a result may have: many elements may
    /// refer to one content, the fill value.
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

    /// Calls `visit` with the position and the content of each element of variable length, of which the slots are
    /// given.
    ///
    /// # Errors
    /// Those of `visit`; before any is visited, those of [`content_len`](Self::content_len).
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

    /// An error of the element at `position`, counted in C order from 0: which one of the array it is, and `what` is
    /// wrong with it (`is 9, …`).
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

    /// An [error](Self::error) of an element that has no place in the data type, or in the Rust type.
    pub(crate) fn wrong(&self, position: usize, what: impl std::fmt::Display) -> ArrayError {
        self.error(ArrayErrorKind::InvalidArgument, position, what)
    }

    /// The index in the array.
    fn index(&self, position: usize) -> Vec<u64> {
        let mut rest = position as u64;
        let mut index: Vec<u64> = self
            .places
            .iter()
            .rev()
            .map(|picked| {
                let count = picked.count.max(1);
                let at = picked.start.saturating_add(rest % count * picked.step);
                rest /= count;
                at
            })
            .collect();
        index.reverse();
        index
    }
}
