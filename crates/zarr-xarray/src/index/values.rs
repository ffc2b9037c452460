//! The elements of an index from decoded elements, and some of them.

use zarr_array::{AnyArray, NdVec};
use zarr_meta::DataType;

use super::{Index, IndexValues};
use crate::decoded::Decoded;
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::positions::Picked;
use crate::times::{Spans, Times};

impl Index {
    /// Returns the index of the elements of a coordinate.
    ///
    /// # Errors
    /// `Invalid` if a boolean or a text is missing. `Unsupported` for elements that cannot be labels.
    pub(crate) fn of(decoded: Decoded) -> XarrayResult<Self> {
        IndexValues::of(decoded).map(Self::new)
    }

    /// Returns the index of some of the elements.
    pub(crate) fn pick(&self, picked: &Picked) -> Self {
        Self::new(self.values.pick(picked))
    }
}

impl IndexValues {
    fn of(decoded: Decoded) -> XarrayResult<Self> {
        let no_label = || XarrayError::new(XarrayErrorKind::Unsupported, "its elements cannot be labels");
        Ok(match decoded {
            Decoded::Numbers(numbers) => match numbers {
                AnyArray::Int8(values) => Self::Integers(wide(values)),
                AnyArray::Int16(values) => Self::Integers(wide(values)),
                AnyArray::Int32(values) => Self::Integers(wide(values)),
                AnyArray::Int64(values) => Self::Integers(values.into_vec()),
                AnyArray::UInt8(values) => Self::Integers(wide(values)),
                AnyArray::UInt16(values) => Self::Integers(wide(values)),
                AnyArray::UInt32(values) => Self::Integers(wide(values)),
                AnyArray::UInt64(values) => Self::Unsigned(values.into_vec()),
                AnyArray::Float32(values) => Self::SmallFloats(values.into_vec()),
                AnyArray::Float64(values) => Self::Floats(values.into_vec()),
                AnyArray::Other { data_type: DataType::Float16, bytes, .. } => {
                    let half = |bytes: &[u8; 2]| half::f16::from_ne_bytes(*bytes).to_f32();
                    Self::SmallFloats(bytes.as_chunks().0.iter().map(half).collect())
                }
                _ => return Err(no_label()),
            },
            Decoded::Booleans(values) => Self::Booleans(present(values)?),
            Decoded::Texts(values) => Self::Texts(present(values)?),
            Decoded::Times { times, .. } => Self::Times(times),
            Decoded::Spans { spans, .. } => Self::Spans(spans),
            Decoded::Bytes(_) | Decoded::Other(_) => return Err(no_label()),
        })
    }

    fn pick(&self, picked: &Picked) -> Self {
        match self {
            Self::Integers(values) => Self::Integers(some(values, picked)),
            Self::Unsigned(values) => Self::Unsigned(some(values, picked)),
            Self::Floats(values) => Self::Floats(some(values, picked)),
            Self::SmallFloats(values) => Self::SmallFloats(some(values, picked)),
            Self::Booleans(values) => Self::Booleans(some(values, picked)),
            Self::Texts(values) => Self::Texts(some(values, picked)),
            Self::Times(times) => {
                Self::Times(Times::new(times.calendar(), times.unit(), some(times.values(), picked)))
            }
            Self::Spans(spans) => Self::Spans(Spans::new(spans.unit(), some(spans.values(), picked))),
        }
    }
}

fn wide<T: Into<i64>>(values: NdVec<T>) -> Vec<i64> {
    values.into_iter().map(Into::into).collect()
}

fn present<T>(values: NdVec<Option<T>>) -> XarrayResult<Vec<T>> {
    let all: Option<Vec<T>> = values.into_iter().collect();
    all.ok_or_else(|| XarrayError::invalid("an element is missing, so it cannot be a label"))
}

/// Returns the elements at some positions.
fn some<T: Clone>(values: &[T], picked: &Picked) -> Vec<T> {
    let at = |position| values.get(usize::try_from(picked.at(position)).ok()?).cloned();
    (0..picked.len()).filter_map(at).collect()
}
