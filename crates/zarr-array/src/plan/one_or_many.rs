//! A list that needs no allocation for one value.

use std::ops::Deref;

/// One value, or any other number of them. Most reads have one plan, and most cells one take.
#[derive(Debug, Clone)]
pub(crate) enum OneOrMany<T> {
    One([T; 1]),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    pub(crate) fn one(value: T) -> Self {
        Self::One([value])
    }

    pub(crate) fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(one) => one.into(),
            Self::Many(many) => many,
        }
    }
}

impl<T> Deref for OneOrMany<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::One(one) => one,
            Self::Many(many) => many,
        }
    }
}

impl<T> FromIterator<T> for OneOrMany<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut values = values.into_iter();
        let Some(first) = values.next() else { return Self::Many(Vec::new()) };
        match values.next() {
            None => Self::one(first),
            Some(second) => Self::Many([first, second].into_iter().chain(values).collect()),
        }
    }
}
