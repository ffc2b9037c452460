//! Memory that many threads read.

use std::fmt;
use std::sync::Arc;

use crate::layout::Layout;
use crate::output::{Gate, Release, Wait};
use crate::{Plain, Source, StridedError, bytes_of};

/// A handle on elements that any thread can read, for example the elements to write to an array.
///
/// It is `'static`, so jobs of a thread pool can hold clones of it.
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
    /// The first element of borrowed memory. The borrow ends when this is dropped, not earlier.
    Lent(Borrowed, #[allow(dead_code, reason = "dropping it ends the borrow")] Release),
}

/// Owned memory as bytes.
trait Bytes: Send + Sync {
    fn bytes(&self) -> &[u8];
}

impl<T: Plain> Bytes for Vec<T> {
    fn bytes(&self) -> &[u8] {
        bytes_of(self)
    }
}

/// Memory that may have other owners, and its number of bytes.
struct Held<O>(O, usize);

impl<O: AsRef<[u8]> + Send + Sync> Bytes for Held<O> {
    fn bytes(&self) -> &[u8] {
        let bytes = self.0.as_ref();
        assert_eq!(bytes.len(), self.1, "the memory of an input has another length than at the start");
        bytes
    }
}

struct Borrowed(*const u8);

// SAFETY: it represents a shared borrow of bytes.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl Input {
    /// Takes `values`, in C order.
    ///
    /// # Errors
    ///
    /// If the number of values does not match the shape.
    pub fn new<T: Plain>(values: Vec<T>, shape: &[u64]) -> Result<Input, StridedError> {
        Input::sized(values, size_of::<T>(), shape)
    }

    /// Takes `values`, which hold elements of `size` bytes in C order. Use it for elements without a Rust type.
    ///
    /// # Errors
    ///
    /// If the number of bytes does not match the shape.
    pub fn sized<T: Plain>(values: Vec<T>, size: usize, shape: &[u64]) -> Result<Input, StridedError> {
        let layout = Source::dense(bytes_of(&values), shape, size)?.layout().clone();
        Ok(Input(Arc::new(Shared { memory: Memory::Owned(Box::new(values)), layout })))
    }

    /// Takes memory that holds elements of `size` bytes in C order and may have other owners. Nothing is copied.
    ///
    /// # Errors
    ///
    /// If the number of bytes does not match the shape.
    ///
    /// # Panics
    ///
    /// Later, if the number of bytes has changed by then.
    pub fn held<O>(owner: O, size: usize, shape: &[u64]) -> Result<Input, StridedError>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        let bytes = owner.as_ref();
        let (layout, len) = (Source::dense(bytes, shape, size)?.layout().clone(), bytes.len());
        let held = Held(owner, len);
        Ok(Input(Arc::new(Shared { memory: Memory::Owned(Box::new(held)), layout })))
    }

    /// Repeats `element` for every position of `shape`. Only one copy is in memory.
    ///
    /// # Errors
    ///
    /// If the shape is too large.
    pub fn repeat(element: Vec<u8>, shape: &[u64]) -> Result<Input, StridedError> {
        let strides = vec![0; shape.len()];
        let layout = Source::strided(&element, 0, shape, &strides, element.len())?.layout().clone();
        Ok(Input(Arc::new(Shared { memory: Memory::Owned(Box::new(element)), layout })))
    }

    /// Lends elements to other threads during this call: `f` gets a handle that it may clone and send. The elements may
    /// have any strides.
    ///
    /// Returns only after every clone is dropped, also if `f` panics. If a handle is leaked or returned by `f`, the
    /// call waits forever.
    pub fn lend<R>(elements: Source<'_>, f: impl FnOnce(Input) -> R) -> R {
        let gate = Arc::new(Gate::default());
        // Dropped last, on return and on unwind. The borrow of the elements lasts until then.
        let _wait = Wait(&gate);
        let memory = Memory::Lent(Borrowed(elements.first()), Release(Arc::clone(&gate)));
        f(Input(Arc::new(Shared { memory, layout: elements.layout().clone() })))
    }

    /// Returns a view of the elements.
    pub fn source(&self) -> Source<'_> {
        let Shared { memory, layout } = &*self.0;
        let first = match memory {
            Memory::Owned(values) => values.bytes().as_ptr(),
            Memory::Lent(borrowed, _) => borrowed.0,
        };
        // SAFETY: the layout was checked against the owned bytes, which have their first length, or is that of the lent
        // elements, whose lender waits until this handle is dropped. `self` is borrowed as long as the view.
        unsafe { Source::new(first, layout.clone()) }
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
    fn threads_read_lent_memory_and_the_lender_waits() {
        let values: Vec<u32> = (0..1000).collect();
        let sum = Arc::new(AtomicU32::new(0));
        Input::lend(Source::of(&values, &[10, 100]).unwrap(), |input| {
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
        });
        assert_eq!(sum.load(Ordering::SeqCst), 499_500);
    }

    #[test]
    fn a_repeated_element_is_read_as_many() {
        let input = Input::repeat(vec![7, 8], &[2, 3]).unwrap();
        let mut bytes = Vec::new();
        input.source().append_to(&mut bytes, Swap::NONE).unwrap();
        assert_eq!(bytes, [7, 8].repeat(6));
        assert!(Input::new(vec![1u8], &[2]).is_err());
        assert!(Input::sized(vec![1u8; 6], 3, &[2]).is_ok());
    }

    #[test]
    fn shared_memory_is_read_without_a_copy() {
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
    fn memory_that_has_changed_its_length_is_not_read() {
        struct Shrinking(AtomicU32);
        impl AsRef<[u8]> for Shrinking {
            fn as_ref(&self) -> &[u8] {
                if self.0.fetch_add(1, Ordering::SeqCst) == 0 { &[0; 4] } else { &[] }
            }
        }
        let _ = Input::held(Shrinking(AtomicU32::new(0)), 1, &[4]).unwrap().source();
    }
}
