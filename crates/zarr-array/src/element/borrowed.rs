//! Memory of the caller that a blocking call borrows: elements to write, and memory to read into.

use zarr_strided::{View, ViewMut};

use crate::values::NdVec;

/// Values that a blocking write borrows, in any layout in memory. They are taken in C order of their shape, the last
/// dimension fastest, and are not copied before they are encoded.
///
/// [`NdVec`] has a shape. So have the arrays and views of the crate `ndarray` (feature `ndarray`), and a [`View`] with any
/// strides. The shape must be that of the selection. Slices, `[T; N]` and `Vec` have no shape: only their number of
/// elements must be that of the selection.
///
/// ```
/// # use zarr_array::{ArrayMeta, ArrayResult, DataType, NdVec, blocking::Array, standard};
/// # let meta = ArrayMeta::builder([4, 6], DataType::Int32).chunks([2, 3]).build()?;
/// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
/// array.write([0..2, 0..3], &[1, 2, 3, 4, 5, 6])?;
/// let values = NdVec::new([3, 2], vec![1, 2, 3, 4, 5, 6])?;
/// assert!(array.write([0..2, 0..3], &values).is_err());
/// array.write([0..3, 0..2], &values)?;
/// # ArrayResult::Ok(())
/// ```
pub trait ArrayValues<T> {
    /// Whether the values have a shape. Otherwise they are a flat list.
    fn has_shape(&self) -> bool {
        true
    }

    /// The values, where they lie.
    fn as_view(&self) -> View<'_, T>;
}

/// Memory that a blocking read fills, in any layout.
///
/// [`NdVec`] has a shape. So have the arrays and mutable views of the crate `ndarray` (feature `ndarray`), and a
/// [`ViewMut`] with any strides. The shape must be that of the selection. Slices, `[T; N]` and `Vec` have no shape: only
/// their number of elements must be that of the selection.
///
/// Numbers are decoded directly into the memory. Elements that must be converted, such as strings, are assigned to it
/// when all of them are read.
///
/// ```
/// # use zarr_array::{ArrayMeta, ArrayResult, DataType, blocking::Array, standard};
/// # let meta = ArrayMeta::builder([4, 6], DataType::Int32).chunks([2, 3]).build()?;
/// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
/// use zarr_array::ViewMut;
///
/// array.write(0, &[1, 2, 3, 4, 5, 6])?;
/// let mut columns = [0; 12]; // two columns of six
/// let mut second = ViewMut::strided(&mut columns, 1, &[6], &[2])?;
/// array.read_into(0, &mut second)?;
/// assert_eq!(columns, [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]);
/// # ArrayResult::Ok(())
/// ```
pub trait ArrayMemory<T> {
    /// Whether the memory has a shape. Otherwise it is a flat list.
    fn has_shape(&self) -> bool {
        true
    }

    /// The memory.
    fn as_view_mut(&mut self) -> ViewMut<'_, T>;
}

macro_rules! flat {
    ($([$($generic:tt)*] $list:ty;)*) => {$(
        impl<T, $($generic)*> ArrayValues<T> for $list {
            fn has_shape(&self) -> bool {
                false
            }

            fn as_view(&self) -> View<'_, T> {
                View::of(self)
            }
        }

        impl<T, $($generic)*> ArrayMemory<T> for $list {
            fn has_shape(&self) -> bool {
                false
            }

            fn as_view_mut(&mut self) -> ViewMut<'_, T> {
                ViewMut::of(self)
            }
        }
    )*};
}

flat! {
    [] [T];
    [] Vec<T>;
    [const N: usize] [T; N];
}

impl<T> ArrayValues<T> for NdVec<T> {
    fn as_view(&self) -> View<'_, T> {
        self.view()
    }
}

impl<T> ArrayMemory<T> for NdVec<T> {
    fn as_view_mut(&mut self) -> ViewMut<'_, T> {
        self.view_mut()
    }
}

impl<T> ArrayValues<T> for View<'_, T> {
    fn as_view(&self) -> View<'_, T> {
        self.clone()
    }
}

impl<T> ArrayMemory<T> for ViewMut<'_, T> {
    fn as_view_mut(&mut self) -> ViewMut<'_, T> {
        self.reborrow()
    }
}

#[cfg(feature = "ndarray")]
impl<T, S: ndarray::Data<Elem = T>, D: ndarray::Dimension> ArrayValues<T> for ndarray::ArrayBase<S, D> {
    fn as_view(&self) -> View<'_, T> {
        self.view().into()
    }
}

#[cfg(feature = "ndarray")]
impl<T, S: ndarray::DataMut<Elem = T>, D: ndarray::Dimension> ArrayMemory<T> for ndarray::ArrayBase<S, D> {
    fn as_view_mut(&mut self) -> ViewMut<'_, T> {
        self.view_mut().into()
    }
}
