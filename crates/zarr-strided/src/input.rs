//! One memory that many threads read.

use std::fmt;
use std::marker::PhantomData;
use std::slice;
use std::sync::Arc;

use crate::layout::Layout;
use crate::output::{Gate, Release, Wait};
use crate::{Plain, Source, StridedError, bytes_of};

/// A handle to elements that are read, by any thread: what is written to an array.
///
/// It is `'static`, so that jobs of a thread pool can hold clones of it.
///
/// ```
/// use zarr_strided::{Input, Swap};
///
/// let input = Input::new(vec![1u8, 2, 3, 4, 5, 6], &[2, 3])?;
/// let mut column = Vec::new();
/// input.source().sub(&[0, 1], &[2, 1])?.append_to(&mut column, Swap::NONE)?;
/// assert_eq!(column, [2, 5]);
/// # Ok::<(), zarr_strided::StridedError>(())
/// ```
#[derive(Clone)]
pub struct Input(Arc<Shared>);

struct Shared {
    memory: Memory,
    layout: Layout,
}

enum Memory {
    Owned(Box<dyn Bytes>),
    /// Bytes that somebody lends until this is dropped, and not before.
    Lent(Borrowed, #[allow(dead_code, reason = "dropping it ends the borrow")] Release),
}

/// Whatever memory has an owner, as its bytes.
trait Bytes: Send + Sync {
    fn bytes(&self) -> &[u8];
}

impl<T: Plain> Bytes for Vec<T> {
    fn bytes(&self) -> &[u8] {
        bytes_of(self)
    }
}

/// Memory that somebody else may own as well, and how many bytes it has.
struct Held<O>(O, usize);

impl<O: AsRef<[u8]> + Send + Sync> Bytes for Held<O> {
    fn bytes(&self) -> &[u8] {
        let bytes = self.0.as_ref();
        assert_eq!(bytes.len(), self.1, "memory that is written has another length than it had");
        bytes
    }
}

struct Borrowed {
    first: *const u8,
    len: usize,
    memory: PhantomData<&'static [u8]>,
}

// SAFETY: it stands for a shared borrow of bytes.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl Input {
    /// Takes `values`, in C order.
    ///
    /// # Errors
    ///
    /// If they are not as many as the shape asks for.
    pub fn new<T: Plain>(values: Vec<T>, shape: &[u64]) -> Result<Input, StridedError> {
        Input::sized(values, size_of::<T>(), shape)
    }

    /// Takes `values`, which hold elements of `size` bytes in C order: for elements that have no Rust type.
    ///
    /// # Errors
    ///
    /// If their bytes are not as many as the shape asks for.
    pub fn sized<T: Plain>(values: Vec<T>, size: usize, shape: &[u64]) -> Result<Input, StridedError> {
        let layout = Source::dense(bytes_of(&values), shape, size)?.layout().clone();
        Ok(Input(Arc::new(Shared { memory: Memory::Owned(Box::new(values)), layout })))
    }

    /// Takes what holds elements of `size` bytes in C order, and may be held by others as well: nothing is copied.
    ///
    /// # Errors
    ///
    /// If its bytes are not as many as the shape asks for.
    ///
    /// # Panics
    ///
    /// Later, if it has another number of bytes by then.
    pub fn held<O>(owner: O, size: usize, shape: &[u64]) -> Result<Input, StridedError>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        let bytes = owner.as_ref();
        let (layout, len) = (Source::dense(bytes, shape, size)?.layout().clone(), bytes.len());
        let held = Held(owner, len);
        Ok(Input(Arc::new(Shared { memory: Memory::Owned(Box::new(held)), layout })))
    }

    /// As many copies of `element` as the shape asks for, in the memory of one.
    ///
    /// # Errors
    ///
    /// If the shape is too large to count.
    pub fn repeat(element: Vec<u8>, shape: &[u64]) -> Result<Input, StridedError> {
        let strides = vec![0; shape.len()];
        let layout = Source::strided(&element, 0, shape, &strides, element.len())?.layout().clone();
        Ok(Input(Arc::new(Shared { memory: Memory::Owned(Box::new(element)), layout })))
    }

    /// Lends `values` to other threads for the length of a call: `f` is given a handle that it may clone and send.
    ///
    /// Returns only when every clone is dropped, also when `f` panics. So a handle that is leaked, or returned by `f`,
    /// makes it wait for ever.
    ///
    /// # Errors
    ///
    /// As for [`Input::new`]; then `f` is not called.
    pub fn lend<T: Plain, R>(
        values: &[T],
        shape: &[u64],
        f: impl FnOnce(Input) -> R,
    ) -> Result<R, StridedError> {
        let bytes = bytes_of(values);
        let layout = Source::dense(bytes, shape, size_of::<T>())?.layout().clone();
        let gate = Arc::new(Gate::default());
        // Dropped last, on return as on unwind: until then the borrow of `values` goes on.
        let _wait = Wait(&gate);
        let borrowed = Borrowed { first: bytes.as_ptr(), len: bytes.len(), memory: PhantomData };
        let memory = Memory::Lent(borrowed, Release(Arc::clone(&gate)));
        Ok(f(Input(Arc::new(Shared { memory, layout }))))
    }

    /// The elements.
    pub fn source(&self) -> Source<'_> {
        let shared = &*self.0;
        let bytes = match &shared.memory {
            Memory::Owned(values) => values.bytes(),
            // SAFETY: whoever lent these bytes waits until this handle is dropped, and `self` is borrowed meanwhile.
            Memory::Lent(bytes, _) => unsafe { slice::from_raw_parts(bytes.first, bytes.len) },
        };
        Source::from_parts(bytes, shared.layout.clone())
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Input").field(&self.source()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use super::*;
    use crate::Swap;

    #[test]
    fn threads_read_what_is_lent_and_the_lender_waits() {
        let values: Vec<u32> = (0..1000).collect();
        let sum = Arc::new(AtomicU32::new(0));
        Input::lend(&values, &[10, 100], |input| {
            for row in 0..10 {
                let (input, sum) = (input.clone(), Arc::clone(&sum));
                thread::spawn(move || {
                    let mut bytes = Vec::new();
                    input
                        .source()
                        .sub(&[row, 0], &[1, 100])
                        .unwrap()
                        .append_to(&mut bytes, Swap::NONE)
                        .unwrap();
                    let numbers = bytes.chunks_exact(4).map(|b| u32::from_ne_bytes(b.try_into().unwrap()));
                    sum.fetch_add(numbers.sum::<u32>(), Ordering::SeqCst);
                });
            }
        })
        .unwrap();
        assert_eq!(sum.load(Ordering::SeqCst), 499_500);
    }

    #[test]
    fn one_element_stands_for_many() {
        let input = Input::repeat(vec![7, 8], &[2, 3]).unwrap();
        let mut bytes = Vec::new();
        input.source().append_to(&mut bytes, Swap::NONE).unwrap();
        assert_eq!(bytes, [7, 8].repeat(6));
        assert!(Input::new(vec![1u8], &[2]).is_err());
        assert!(Input::sized(vec![1u8; 6], 3, &[2]).is_ok());
    }

    #[test]
    fn memory_that_others_hold_is_read_where_it_lies() {
        let memory: Arc<[u8]> = Arc::from([1, 2, 3, 4, 5, 6]);
        let input = Input::held(Arc::clone(&memory), 2, &[3]).unwrap();
        let mut bytes = Vec::new();
        input.source().sub(&[1], &[2]).unwrap().append_to(&mut bytes, Swap::NONE).unwrap();
        assert_eq!(bytes, [3, 4, 5, 6]);
        assert_eq!(Arc::strong_count(&memory), 2);
        drop(input);
        assert_eq!(Arc::strong_count(&memory), 1);
        assert!(Input::held(memory, 2, &[4]).is_err());
    }

    #[test]
    #[should_panic(expected = "another length")]
    fn memory_that_has_become_shorter_is_not_read() {
        struct Shrinking(AtomicU32);
        impl AsRef<[u8]> for Shrinking {
            fn as_ref(&self) -> &[u8] {
                if self.0.fetch_add(1, Ordering::SeqCst) == 0 { &[0; 4] } else { &[] }
            }
        }
        let _ = Input::held(Shrinking(AtomicU32::new(0)), 1, &[4]).unwrap().source();
    }
}
