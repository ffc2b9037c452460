//! Lists with one number per dimension: shapes, positions, steps, orders.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

use crate::list::List;

/// A list with one number per dimension: a shape, a position, an order of axes.
///
/// Up to eight numbers are stored inline, more on the heap. It dereferences to a slice of `u64`.
///
/// ```
/// use zarr_strided::Dims;
///
/// let shape = Dims::from([4, 512, 512]);
/// assert_eq!(shape.len(), 3);
/// assert_eq!(shape.product(), Some(1 << 20));
/// let halves: Dims = shape.iter().map(|n| n / 2).collect();
/// assert_eq!(halves, [2, 256, 256]);
/// ```
#[derive(Clone)]
pub struct Dims(List<u64>);

impl Dims {
    /// Returns an empty list, for rank 0.
    pub fn new() -> Self {
        Dims(List::new())
    }

    /// Returns `value` for each of `rank` dimensions.
    pub fn filled(value: u64, rank: usize) -> Self {
        Dims(List::filled(value, rank))
    }

    /// Adds a dimension at the end.
    pub fn push(&mut self, value: u64) {
        self.0.push(value);
    }

    /// Returns the number of elements of this shape, the product. It is 1 for rank 0 and 0 if a dimension is 0. Returns
    /// `None` if it is 2^64 or more.
    pub fn product(&self) -> Option<u64> {
        product(self)
    }

    /// Returns these numbers reordered: number `i` of the result is number `order[i]`. Returns `None` if `order` is not a
    /// permutation of the dimensions.
    ///
    /// ```
    /// use zarr_strided::Dims;
    ///
    /// let order = Dims::from([2, 0, 1]);
    /// let shape = Dims::from([4, 5, 6]).permuted(&order).unwrap();
    /// assert_eq!(shape, [6, 4, 5]);
    /// assert_eq!(shape.permuted(&order.inverse().unwrap()).unwrap(), [4, 5, 6]);
    /// ```
    pub fn permuted(&self, order: &[u64]) -> Option<Self> {
        let mut seen = Dims::filled(0, self.len());
        if order.len() != self.len() {
            return None;
        }
        order
            .iter()
            .map(|i| {
                let i = usize::try_from(*i).ok()?;
                let taken = seen.get_mut(i)?;
                (std::mem::replace(taken, 1) == 0).then(|| self[i])
            })
            .collect()
    }

    /// Returns the order that undoes [`permuted`](Self::permuted) with this order, or `None` if this is not a permutation.
    pub fn inverse(&self) -> Option<Self> {
        let mut back = Dims::filled(u64::MAX, self.len());
        for (i, from) in (0..).zip(self) {
            let slot = back.get_mut(usize::try_from(*from).ok()?)?;
            if std::mem::replace(slot, i) != u64::MAX {
                return None;
            }
        }
        Some(back)
    }
}

/// A zero takes precedence over an overflow, so that an array with an empty dimension is empty.
pub(crate) fn product(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1u64, |all, &n| all.checked_mul(n))
}

impl Default for Dims {
    fn default() -> Self {
        Dims::new()
    }
}

impl Deref for Dims {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl DerefMut for Dims {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

impl AsRef<[u64]> for Dims {
    fn as_ref(&self) -> &[u64] {
        self
    }
}

impl fmt::Debug for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for Dims {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Dims {}

/// In C order, as lists of numbers.
impl Ord for Dims {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl PartialOrd for Dims {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq<[u64]> for Dims {
    fn eq(&self, other: &[u64]) -> bool {
        **self == *other
    }
}

impl PartialEq<&[u64]> for Dims {
    fn eq(&self, other: &&[u64]) -> bool {
        **self == **other
    }
}

impl<const N: usize> PartialEq<[u64; N]> for Dims {
    fn eq(&self, other: &[u64; N]) -> bool {
        **self == *other
    }
}

/// Equal lists have equal hashes, inline or on the heap.
impl Hash for Dims {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl From<&[u64]> for Dims {
    fn from(values: &[u64]) -> Self {
        Dims(List::from(values))
    }
}

impl<const N: usize> From<[u64; N]> for Dims {
    fn from(values: [u64; N]) -> Self {
        Dims(List::from(&values[..]))
    }
}

impl From<Vec<u64>> for Dims {
    fn from(values: Vec<u64>) -> Self {
        Dims(List::from(values))
    }
}

impl FromIterator<u64> for Dims {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        Dims(values.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Dims {
    type Item = &'a u64;
    type IntoIter = std::slice::Iter<'a, u64>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
