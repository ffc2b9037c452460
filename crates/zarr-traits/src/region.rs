//! Boxes of elements, with checked arithmetic.

use std::fmt;

use zarr_strided::Dims;

/// A box of elements: its start and its length in each dimension.
///
/// A built region is always consistent: start and shape have the same rank, and no end exceeds `u64`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Region {
    start: Dims,
    shape: Dims,
}

impl Region {
    /// Returns a box, or `None` if the ranks differ or an end exceeds `u64`.
    ///
    /// ```
    /// use zarr_traits::Region;
    /// let region = Region::new([10, 0], [5, 3]).unwrap();
    /// assert!(region.is_inside(&[15, 3]) && !region.is_inside(&[14, 3]));
    /// ```
    pub fn new(start: impl Into<Dims>, shape: impl Into<Dims>) -> Option<Self> {
        let (start, shape) = (start.into(), shape.into());
        let fits = start.len() == shape.len()
            && start.iter().zip(shape.iter()).all(|(s, n)| s.checked_add(*n).is_some());
        fits.then_some(Self { start, shape })
    }

    /// Returns the box of all elements of an array or chunk of `shape`.
    pub fn whole(shape: &[u64]) -> Self {
        Self { start: Dims::filled(0, shape.len()), shape: shape.into() }
    }

    /// The position of the first element.
    pub fn start(&self) -> &[u64] {
        &self.start
    }

    /// The length in each dimension.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.start.len()
    }

    /// Returns the number of elements, or `None` if it exceeds `u64`.
    pub fn len(&self) -> Option<u64> {
        self.shape.product()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Whether it lies completely inside an array or chunk of `shape`.
    pub fn is_inside(&self, shape: &[u64]) -> bool {
        self.rank() == shape.len()
            && self.start.iter().zip(self.shape.iter()).zip(shape).all(|((s, n), len)| s + n <= *len)
    }

    /// Whether it covers all of an array or chunk of `shape`.
    pub fn is_whole(&self, shape: &[u64]) -> bool {
        self.shape[..] == *shape && self.start.iter().all(|s| *s == 0)
    }

    /// Returns the box with its dimensions reordered: dimension `i` of the result is dimension `order[i]`. Returns
    /// `None` if `order` is not a permutation.
    pub fn permute(&self, order: &[u64]) -> Option<Self> {
        Some(Self { start: self.start.permuted(order)?, shape: self.shape.permuted(order)? })
    }
}

/// Displays the ranges of the box: `[10..15, 0..3]`.
impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = self.start.iter().zip(self.shape.iter()).map(|(start, len)| *start..start + len);
        f.debug_list().entries(ranges).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_always_consistent() {
        assert!(Region::new([0], [1, 2]).is_none());
        assert!(Region::new([u64::MAX], [1]).is_none());
        let r = Region::new([1, 2, 3], [4, 5, 6]).unwrap();
        assert_eq!(r.permute(&[2, 0, 1]).unwrap(), Region::new([3, 1, 2], [6, 4, 5]).unwrap());
        for bad in [&[0, 1][..], &[0, 0, 1], &[0, 1, 3]] {
            assert!(r.permute(bad).is_none());
        }
        for order in [[0, 1, 2], [2, 0, 1], [1, 0, 2]] {
            let there = r.permute(&order).unwrap();
            assert_eq!(there.permute(&Dims::from(order).inverse().unwrap()).unwrap(), r);
        }
        assert_eq!(Region::new([0, 0], [u64::MAX, 2]).unwrap().len(), None);
        assert!(Region::whole(&[]).is_whole(&[]));
        assert_eq!(r.to_string(), "[1..5, 2..7, 3..9]");
        assert_eq!(Region::whole(&[]).to_string(), "[]");
    }
}
