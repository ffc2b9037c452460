//! A short list: up to eight values inline, more on the heap. It is the base of `Dims`, strides and the axes of a copy.

use std::ops::{Deref, DerefMut};

/// The number of inline values. Arrays with more dimensions exist, but their pieces take more than a microsecond.
const INLINE: usize = 8;

#[derive(Clone)]
pub(crate) enum List<T> {
    Inline { len: u8, values: [T; INLINE] },
    Heap(Vec<T>),
}

impl<T: Copy + Default> List<T> {
    pub(crate) fn new() -> Self {
        List::Inline { len: 0, values: [T::default(); INLINE] }
    }

    pub(crate) fn filled(value: T, len: usize) -> Self {
        match u8::try_from(len) {
            Ok(short) if len <= INLINE => List::Inline { len: short, values: [value; INLINE] },
            _ => List::Heap(vec![value; len]),
        }
    }

    pub(crate) fn push(&mut self, value: T) {
        match self {
            List::Inline { len, values } => match values.get_mut(usize::from(*len)) {
                Some(slot) => {
                    *slot = value;
                    *len += 1;
                }
                None => {
                    let mut all = Vec::with_capacity(2 * INLINE);
                    all.extend_from_slice(values);
                    all.push(value);
                    *self = List::Heap(all);
                }
            },
            List::Heap(values) => values.push(value),
        }
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        match self {
            List::Inline { len, values } => {
                *len = len.checked_sub(1)?;
                Some(values[usize::from(*len)])
            }
            List::Heap(values) => values.pop(),
        }
    }
}

impl<T: Copy + Default> From<&[T]> for List<T> {
    fn from(from: &[T]) -> Self {
        match u8::try_from(from.len()) {
            Ok(len) if from.len() <= INLINE => {
                let mut values = [T::default(); INLINE];
                values[..from.len()].copy_from_slice(from);
                List::Inline { len, values }
            }
            _ => List::Heap(from.to_vec()),
        }
    }
}

impl<T: Copy + Default> From<Vec<T>> for List<T> {
    fn from(values: Vec<T>) -> Self {
        if values.len() <= INLINE { List::from(&values[..]) } else { List::Heap(values) }
    }
}

impl<T: Copy + Default> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut iter = values.into_iter();
        let (mut values, mut len) = ([T::default(); INLINE], 0);
        for slot in &mut values {
            let Some(value) = iter.next() else { return List::Inline { len, values } };
            (*slot, len) = (value, len + 1);
        }
        let Some(next) = iter.next() else { return List::Inline { len, values } };
        List::Heap(values.into_iter().chain([next]).chain(iter).collect())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            List::Inline { len, values } => &values[..usize::from(*len)],
            List::Heap(values) => values,
        }
    }
}

impl<T> DerefMut for List<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            List::Inline { len, values } => &mut values[..usize::from(*len)],
            List::Heap(values) => values,
        }
    }
}
