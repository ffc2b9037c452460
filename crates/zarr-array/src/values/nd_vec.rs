//! Values of reads and writes: elements with a shape.

use std::fmt;
use std::ops::{Index, IndexMut};

use zarr_strided::{Dims, View, ViewMut};

use super::position::Position;
use crate::error::{ArrayError, ArrayResult};

/// Elements in C order, with a shape. Reads return it and writes take it.
///
/// It is small on purpose: [`into_vec`](Self::into_vec) or, with the feature `ndarray`, `into_ndarray` return the
/// memory without a copy. Iteration is over the elements in C order.
///
/// ```
/// # use zarr_array::NdVec;
/// let mut grid = NdVec::new([2, 3], vec![1, 2, 3, 4, 5, 6])?;
/// grid[[1, 2]] = 60;
/// assert_eq!((grid[[0, 1]], grid.get(&[2, 0])), (2, None));
/// assert_eq!(grid.into_iter().sum::<i32>(), 75);
/// # Ok::<(), zarr_array::ArrayError>(())
/// ```
#[derive(Clone, PartialEq, Default)]
pub struct NdVec<T> {
    shape: Vec<u64>,
    values: Vec<T>,
}

impl<T> NdVec<T> {
    /// Returns elements with a shape.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ArrayErrorKind::InvalidArgument) when the number of elements is not that of the
    /// shape.
    ///
    /// ```
    /// let v = zarr_array::NdVec::new([2, 3], vec![1, 2, 3, 4, 5, 6])?;
    /// # Ok::<(), zarr_array::ArrayError>(())
    /// ```
    pub fn new(shape: impl Into<Vec<u64>>, values: Vec<T>) -> ArrayResult<Self> {
        let shape = shape.into();
        if Dims::from(&shape[..]).product() != Some(values.len() as u64) {
            return Err(ArrayError::invalid(format!("{} values do not fill shape {shape:?}", values.len())));
        }
        Ok(Self { shape, values })
    }

    /// The lengths of the dimensions.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The elements, in C order.
    pub fn as_slice(&self) -> &[T] {
        &self.values
    }

    /// The elements, in C order, for changes.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Returns a view of the elements.
    pub(crate) fn view(&self) -> View<'_, T> {
        match View::dense(&self.values, &self.shape) {
            Ok(view) => view,
            Err(_) => unreachable!("`new` checks that the values fill the shape"),
        }
    }

    /// Returns a view of the elements, for changes.
    pub(crate) fn view_mut(&mut self) -> ViewMut<'_, T> {
        match ViewMut::dense(&mut self.values, &self.shape) {
            Ok(view) => view,
            Err(_) => unreachable!("`new` checks that the values fill the shape"),
        }
    }

    /// Returns the elements without the shape.
    pub fn into_vec(self) -> Vec<T> {
        self.values
    }

    /// Returns the shape and the elements.
    pub fn into_parts(self) -> (Vec<u64>, Vec<T>) {
        (self.shape, self.values)
    }

    /// Returns the element at `index`, or `None` outside the shape.
    pub fn get(&self, index: &[u64]) -> Option<&T> {
        self.values.get(self.offset(index)?)
    }

    /// Returns the element at `index` for changes, or `None` outside the shape.
    pub fn get_mut(&mut self, index: &[u64]) -> Option<&mut T> {
        let offset = self.offset(index)?;
        self.values.get_mut(offset)
    }

    /// Returns the offset of the element at `index` in the values, or `None` outside the shape.
    fn offset<I: Position>(&self, index: &[I]) -> Option<usize> {
        if index.len() != self.shape.len() {
            return None;
        }
        let offset = index.iter().zip(&self.shape).try_fold(0_u64, |offset, (i, length)| {
            let i = u64::try_from(i.position()).ok().filter(|i| i < length)?;
            offset.checked_mul(*length)?.checked_add(i)
        });
        usize::try_from(offset?).ok()
    }

    /// Panics with the index and the shape.
    fn outside<I: Position>(&self, index: &[I]) -> ! {
        panic!("index {index:?} is outside shape {:?}", self.shape)
    }
}

/// The element at an index, one position per dimension.
///
/// # Panics
/// When the index is outside the shape. [`get`](NdVec::get) returns `None` instead.
impl<T, I: Position, const N: usize> Index<[I; N]> for NdVec<T> {
    type Output = T;

    fn index(&self, index: [I; N]) -> &T {
        self.offset(&index).map_or_else(|| self.outside(&index), |offset| &self.values[offset])
    }
}

/// The element at an index, for changes.
///
/// # Panics
/// When the index is outside the shape.
impl<T, I: Position, const N: usize> IndexMut<[I; N]> for NdVec<T> {
    fn index_mut(&mut self, index: [I; N]) -> &mut T {
        match self.offset(&index) {
            Some(offset) => &mut self.values[offset],
            None => self.outside(&index),
        }
    }
}

impl<T> IntoIterator for NdVec<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.values.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a NdVec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.values.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut NdVec<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.values.iter_mut()
    }
}

impl<T: fmt::Debug> fmt::Debug for NdVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NdVec {:?} ", self.shape)?;
        let shown = &self.values[..self.values.len().min(16)];
        shown.fmt(f)?;
        if shown.len() < self.values.len() { f.write_str("…") } else { Ok(()) }
    }
}

#[cfg(feature = "ndarray")]
impl<T> NdVec<T> {
    /// Returns an array of the crate `ndarray`, without a copy.
    pub fn into_ndarray(self) -> ndarray::ArrayD<T> {
        let shape: Vec<usize> =
            self.shape.iter().map(|n| usize::try_from(*n).unwrap_or(usize::MAX)).collect();
        match ndarray::ArrayD::from_shape_vec(shape, self.values) {
            Ok(array) => array,
            Err(_) => unreachable!("`new` checks that the values fill the shape"),
        }
    }

    /// Takes an array of the crate `ndarray`, without a copy if it is in C order.
    pub fn from_ndarray<D: ndarray::Dimension>(array: ndarray::Array<T, D>) -> Self
    where
        T: Clone,
    {
        let shape = array.shape().iter().map(|n| *n as u64).collect();
        let values = if array.is_standard_layout() {
            array.into_raw_vec_and_offset().0
        } else {
            array.iter().cloned().collect()
        };
        Self { shape, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_must_fill_the_shape() {
        let v = NdVec::new([2, 3], vec![1, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!((v.get(&[1, 2]), v.get(&[2, 0]), v.get(&[0])), (Some(&6), None, None));
        assert!(NdVec::new([2, 3], vec![1]).is_err());
        assert!(NdVec::<u8>::new([u64::MAX, 2], vec![]).is_err());
        assert_eq!(NdVec::new([], vec![7]).unwrap().get(&[]), Some(&7));
    }

    #[test]
    fn elements_are_read_by_index_of_any_integer_type_or_in_order() {
        let mut v = NdVec::new([2, 3], vec![1, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!((v[[1, 2]], v[[1_u64, 0]], v[[0_usize, 1]]), (6, 4, 2));
        v[[0, 2]] = 30;
        *v.get_mut(&[1, 0]).unwrap() = 40;
        for value in &mut v {
            *value += 1;
        }
        assert_eq!((&v).into_iter().copied().collect::<Vec<_>>(), [2, 3, 31, 41, 6, 7]);
        assert_eq!(v.clone().into_iter().max(), Some(41));
        assert_eq!(NdVec::new([], vec![7]).unwrap()[[] as [u64; 0]], 7);
        assert_eq!(
            NdVec::<u8>::new([1 << 40, 1 << 40, 0], vec![]).unwrap().get(&[1 << 39, 1 << 39, 0]),
            None
        );
        for outside in [[2, 0], [0, 3], [-1, 0]] {
            assert!(std::panic::catch_unwind(|| v[outside]).is_err(), "{outside:?}");
        }
    }

    #[test]
    #[should_panic(expected = "index [0] is outside shape [2, 3]")]
    fn an_index_of_another_rank_is_outside() {
        let _ = NdVec::new([2, 3], vec![0; 6]).unwrap()[[0]];
    }
}
