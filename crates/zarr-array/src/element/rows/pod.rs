//! `bytemuck::Pod` types as elements.

use zarr_meta::types::StructType;
use zarr_traits::{DataType, number::Numeric};

use super::lane::Lane;
use crate::element::Element;
use crate::element::check::check_element;
use crate::element::text::is_raw;
use crate::error::{ArrayError, ArrayResult};

/// Whether elements of `data_type` are raw bytes of the size of `T`. For [`pod!`](crate::pod).
#[doc(hidden)]
pub fn fits_raw<T>(data_type: &DataType) -> bool {
    is_raw(data_type) && data_type.size() == Some(size_of::<T>())
}

/// Whether elements of `data_type` are structs with only these fields and the size of `T`. For [`pod!`](crate::pod).
#[doc(hidden)]
pub fn fits_struct<T>(data_type: &DataType, names: &[&str]) -> ArrayResult<bool> {
    let Some(fields) = StructType::of(data_type).map(StructType::fields) else { return Ok(false) };
    if let Some(field) = fields.iter().find(|f| !f.is_padding() && !names.contains(&f.name.as_str())) {
        return Err(ArrayError::invalid(format!(
            "field {:?} of the array is not named in `pod!`",
            field.name
        )));
    }
    let size = data_type.size().unwrap_or(0);
    if size != size_of::<T>() {
        let message =
            format!("an element of the array has {size} bytes, the Rust struct has {}", size_of::<T>());
        return Err(ArrayError::invalid(message));
    }
    Ok(true)
}

/// Checks that the field `name` lies at `offset` and has the type that `_` returns. For [`pod!`](crate::pod).
#[doc(hidden)]
pub fn check_place<P, T: Element>(
    data_type: &DataType,
    name: &str,
    offset: usize,
    _: fn(P) -> T,
) -> ArrayResult<()> {
    let checked = Lane::find(data_type, name).and_then(|lane| {
        check_element::<T>(&lane.data_type)?;
        let wrong = |what: String| Err(ArrayError::invalid(what));
        if !lane.shape.is_empty() {
            return wrong(format!("a sub-array of shape {:?} is not a single element", lane.shape));
        }
        if !uses_all_bits(&lane.data_type) {
            return wrong(format!("data type {} does not use all bits of its bytes", lane.data_type));
        }
        if lane.offset != offset {
            return wrong(format!(
                "it is at byte {} in the array, but at byte {offset} in the Rust struct",
                lane.offset
            ));
        }
        Ok(())
    });
    checked.map_err(|e| e.while_doing(format!("field {name:?}")))
}

/// Whether every bit pattern is an element. Not true for integers and floats that do not use all bits of their bytes.
fn uses_all_bits(data_type: &DataType) -> bool {
    let all = data_type.memory_size() * 8;
    match data_type.numeric() {
        Some(Numeric::Integer { bits, .. }) => bits as usize == all,
        Some(Numeric::Float(format)) => format.bits() as usize == all,
        Some(Numeric::Bool) => false,
        _ => true,
    }
}

/// Implements [`Element`](crate::Element) for a `bytemuck::Pod` type, without copies and without `unsafe`.
///
/// `pod!(Type)` is an element of raw types (`r<N>`, `raw_bytes`) of the same size. Its bytes are stored as they are in
/// memory: another machine reads the same numbers only if it has the same byte order.
///
/// `pod!(Type { field, field: "name in the array", … })` is an element of structs of the same size. Each field must lie
/// at the same byte and have the type of the Rust field, and all fields of the array must be named. This is checked
/// before anything is read or written. [`row!`](crate::row) accepts fields at any place, but copies them.
///
/// ```
/// # use zarr_array::{ArrayMeta, DataType, NdVec, blocking::Array, data_types, standard};
/// #[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// struct Point {
///     x: f32,
///     y: f32,
///     number: u64,
/// }
/// zarr_array::pod!(Point { x, y, number: "id" });
///
/// let fields = [("x", DataType::Float32), ("y", DataType::Float32), ("id", DataType::UInt64)];
/// let meta = ArrayMeta::builder([100], data_types::structure(fields)?).build()?;
/// let array = Array::create(zarr_store::MemoryStore::new(), "/points", meta, &standard())?;
/// let point = Point { x: 1.5, y: -2.0, number: 7 };
/// array.write(1, &[point])?;
/// let points: NdVec<Point> = array.read(..)?;
/// assert_eq!(points[[1]], point);
/// # Ok::<(), zarr_array::ArrayError>(())
/// ```
#[macro_export]
macro_rules! pod {
    ($pod:ident) => {
        $crate::pod!(@element $pod, |data_type| Ok($crate::fits_raw::<$pod>(data_type)));
    };
    ($pod:ident { $($field:ident $(: $name:literal)?),+ $(,)? }) => {
        $crate::pod!(@element $pod, |data_type| {
            if !$crate::fits_struct::<$pod>(data_type, &[$($crate::row!(@name $field $($name)?)),+])? {
                return Ok(false);
            }
            $($crate::check_place(
                data_type,
                $crate::row!(@name $field $($name)?),
                ::std::mem::offset_of!($pod, $field),
                |element: $pod| element.$field,
            )?;)+
            Ok(true)
        });
    };
    (@element $pod:ident, |$data_type:ident| $fits:expr) => {
        impl $crate::WriteElement for $pod {
            type Memory = $crate::PlainPod<Self>;

            const NAME: &'static str = ::std::stringify!($pod);

            fn fits($data_type: &$crate::DataType) -> $crate::ArrayResult<bool> {
                $fits
            }

            fn plain<'a>(
                elements: $crate::View<'a, Self>,
                _: &$crate::DataType,
            ) -> Option<$crate::View<'a, Self::Memory>> {
                Some($crate::PlainPod::view(elements))
            }

            fn as_memory<'a>(
                elements: &'a [Self],
                _: &$crate::Form<'_>,
            ) -> $crate::ArrayResult<::std::borrow::Cow<'a, [Self::Memory]>> {
                Ok(::std::borrow::Cow::Borrowed($crate::PlainPod::slice(elements)))
            }

            fn into_memory(elements: Vec<Self>, _: &$crate::Form<'_>) -> $crate::ArrayResult<Vec<Self::Memory>> {
                Ok($crate::PlainPod::vec(elements))
            }
        }

        impl $crate::Element for $pod {
            fn from_memory(memory: Vec<Self::Memory>, _: &$crate::Form<'_>) -> $crate::ArrayResult<Vec<Self>> {
                Ok($crate::PlainPod::into_vec(memory))
            }

            fn plain_mut<'a>(
                elements: $crate::ViewMut<'a, Self>,
                _: &$crate::DataType,
            ) -> Option<$crate::ViewMut<'a, Self::Memory>> {
                Some($crate::PlainPod::view_mut(elements))
            }

            fn reuse(elements: Vec<Self>, _: &$crate::DataType) -> Option<Vec<Self::Memory>> {
                Some($crate::PlainPod::vec(elements))
            }
        }
    };
}
