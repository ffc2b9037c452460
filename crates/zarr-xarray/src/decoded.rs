//! Decoded elements of any type.

use zarr_array::traits::number::with_primitive;
use zarr_array::{AnyArray, DataType, Element, NdVec};

use crate::calendar::Calendar;
use crate::number::NumberType;
use crate::times::{Spans, Times};
use crate::units::TimeUnit;

/// The type of the decoded elements of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodedType {
    /// Numbers. In floats NaN is missing.
    Numbers(NumberType),
    /// Booleans.
    Booleans,
    /// Texts.
    Texts,
    /// Byte strings.
    Bytes,
    /// Times. The unit may become finer if the elements need it.
    Times(Calendar, TimeUnit),
    /// Spans of time. The unit may become finer if the elements need it.
    Spans(TimeUnit),
    /// Elements of another type, as they are stored.
    Other,
}

/// Decoded elements. They are in C order.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Decoded {
    /// Numbers. In floats NaN is missing.
    Numbers(AnyArray),
    /// Booleans; `None` is missing.
    Booleans(NdVec<Option<bool>>),
    /// Texts; `None` is missing.
    Texts(NdVec<Option<String>>),
    /// Byte strings without the zeros that pad them; `None` is missing.
    Bytes(NdVec<Option<Vec<u8>>>),
    /// Times.
    Times {
        /// The length of each dimension.
        shape: Vec<u64>,
        /// The elements.
        times: Times,
    },
    /// Spans of time.
    Spans {
        /// The length of each dimension.
        shape: Vec<u64>,
        /// The elements.
        spans: Spans,
    },
    /// Elements of another type, as they are stored.
    Other(AnyArray),
}

impl Decoded {
    /// Returns no elements of a type, along one dimension.
    pub(crate) fn none(data_type: DecodedType) -> Self {
        let other = |data_type| AnyArray::Other { data_type, shape: vec![0], bytes: Vec::new() };
        match data_type {
            DecodedType::Numbers(of) => {
                with_primitive!(of, T => Vec::<T>::new().into(), Self::Numbers(other(of.into())))
            }
            DecodedType::Booleans => Vec::<bool>::new().into(),
            DecodedType::Texts => Vec::<String>::new().into(),
            DecodedType::Bytes => Vec::<Vec<u8>>::new().into(),
            DecodedType::Times(calendar, unit) => Times::new(calendar, unit, Vec::new()).into(),
            DecodedType::Spans(unit) => Spans::new(unit, Vec::new()).into(),
            DecodedType::Other => Self::Other(other(DataType::Bytes)),
        }
    }

    /// The length of each dimension.
    pub fn shape(&self) -> &[u64] {
        match self {
            Self::Numbers(values) | Self::Other(values) => values.shape(),
            Self::Booleans(values) => values.shape(),
            Self::Texts(values) => values.shape(),
            Self::Bytes(values) => values.shape(),
            Self::Times { shape, .. } | Self::Spans { shape, .. } => shape,
        }
    }
}

/// A Rust type for decoded elements that can be missing: `f32`, `f64`, `bool`, `String`, `Vec<u8>`.
pub trait Maskable: Element + sealed::Sealed {
    /// Returns the elements, with `None` for missing ones, or `None` if they have another type.
    #[doc(hidden)]
    fn masked(decoded: Decoded) -> Option<NdVec<Option<Self>>>;
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for bool {}
    impl Sealed for String {}
    impl Sealed for Vec<u8> {}
}

macro_rules! floats {
    ($($t:ty, $variant:ident;)*) => {$(
        impl Maskable for $t {
            fn masked(decoded: Decoded) -> Option<NdVec<Option<Self>>> {
                let Decoded::Numbers(AnyArray::$variant(values)) = decoded else { return None };
                let (shape, values) = values.into_parts();
                let values = values.into_iter().map(|value| Some(value).filter(|value| !value.is_nan()));
                NdVec::new(shape, values.collect()).ok()
            }
        }
    )*};
}

floats! {
    f32, Float32;
    f64, Float64;
}

macro_rules! nullable {
    ($($t:ty, $variant:ident;)*) => {$(
        impl Maskable for $t {
            fn masked(decoded: Decoded) -> Option<NdVec<Option<Self>>> {
                if let Decoded::$variant(values) = decoded { Some(values) } else { None }
            }
        }
    )*};
}

nullable! {
    bool, Booleans;
    String, Texts;
    Vec<u8>, Bytes;
}
