//! Rust structs as elements.

use zarr_traits::DataType;

use super::lane::Lane;
use super::struct_of;
use crate::element::Element;
use crate::element::check::check_element;
use crate::error::{ArrayError, ArrayResult};

/// Checks that the field `name` has elements of the type that `_` returns. For [`row!`](crate::row).
#[doc(hidden)]
pub fn check_field<R, T: Element>(data_type: &DataType, name: &str, _: impl Fn(&R) -> &T) -> ArrayResult<()> {
    let lane = Lane::find(data_type, name).and_then(|lane| {
        check_element::<T>(&lane.data_type)?;
        if lane.shape.is_empty() {
            return Ok(());
        }
        Err(ArrayError::invalid(format!("a sub-array of shape {:?} is not a single element", lane.shape)))
    });
    lane.map_err(|e| e.while_doing(format!("field {name:?}")))
}

/// Returns the data type of new elements of the type that `_` returns. For [`row!`](crate::row).
#[doc(hidden)]
pub fn type_of_field<R, T: Element>(_: impl Fn(&R) -> &T) -> Option<DataType> {
    T::data_type()
}

/// Returns a struct of these fields, if all of them have a data type. For [`row!`](crate::row).
#[doc(hidden)]
pub fn struct_of_fields<const N: usize>(fields: [(&str, Option<DataType>); N]) -> Option<DataType> {
    let fields: Option<Vec<_>> = fields.into_iter().map(|(name, field)| Some((name, field?))).collect();
    zarr_meta::types::structure(fields?).ok()
}

/// Whether the data type is a struct. For [`row!`](crate::row).
#[doc(hidden)]
pub fn is_struct(data_type: &DataType) -> bool {
    struct_of(data_type).is_ok()
}

/// Implements [`Element`](crate::Element) for a Rust struct, for arrays of structs: `row!(Type { field, field: "name in
/// the array", … })`.
///
/// Name all fields of the Rust struct, in any order. Each must have the element type of the field of the array with its
/// name or with the given name, which may be a [path](crate::Rows). This is checked before anything is read. If the
/// array has more fields or a name is a path, the struct can only be read.
///
/// ```
/// # use zarr_array::{ArrayMeta, NdVec, blocking::Array, data_type_of, standard};
/// #[derive(Debug, Clone, PartialEq)]
/// struct City {
///     name: [u8; 8],
///     lat: f32,
///     area: f64,
/// }
/// zarr_array::row!(City { name, lat, area: "area [km2]" });
///
/// let meta = ArrayMeta::builder([100], data_type_of::<City>()?).build()?;
/// let array = Array::create(zarr_store::MemoryStore::new(), "/cities", meta, &standard())?;
/// let oslo = City { name: *b"Oslo    ", lat: 59.9, area: 454.0 };
/// array.write(1, &[oslo.clone()])?;
/// let cities: NdVec<City> = array.read(..)?;
/// assert_eq!(cities.get(&[1]), Some(&oslo));
/// # Ok::<(), zarr_array::ArrayError>(())
/// ```
#[macro_export]
macro_rules! row {
    ($row:ident { $($field:ident $(: $name:literal)?),+ $(,)? }) => {
        impl $crate::WriteElement for $row {
            type Memory = u8;

            const NAME: &'static str = ::std::stringify!($row);

            fn fits(data_type: &$crate::DataType) -> $crate::ArrayResult<bool> {
                if !$crate::is_struct(data_type) {
                    return Ok(false);
                }
                $($crate::check_field(data_type, $crate::row!(@name $field $($name)?), |row: &$row| &row.$field)?;)+
                Ok(true)
            }

            fn data_type() -> Option<$crate::DataType> {
                $crate::struct_of_fields([$((
                    $crate::row!(@name $field $($name)?),
                    $crate::type_of_field(|row: &$row| &row.$field),
                )),+])
            }

            fn as_memory<'a>(
                elements: &'a [Self],
                form: &$crate::Form<'_>,
            ) -> $crate::ArrayResult<::std::borrow::Cow<'a, [u8]>> {
                let mut rows = form.blank_rows(elements.len(), &[$($crate::row!(@name $field $($name)?)),+])?;
                $(
                    let column: Vec<_> = elements.iter().map(|row| ::std::clone::Clone::clone(&row.$field)).collect();
                    rows.set($crate::row!(@name $field $($name)?), &column)?;
                )+
                Ok(::std::borrow::Cow::Owned(rows.into_bytes()))
            }
        }

        impl $crate::Element for $row {
            fn from_memory(memory: Vec<u8>, form: &$crate::Form<'_>) -> $crate::ArrayResult<Vec<Self>> {
                let rows = form.rows(memory)?;
                $(let mut $field = rows.field($crate::row!(@name $field $($name)?))?.into_vec().into_iter();)+
                Ok(::std::iter::from_fn(|| Some($row { $($field: $field.next()?),+ })).collect())
            }
        }
    };
    (@name $field:ident) => {
        ::std::stringify!($field)
    };
    (@name $field:ident $name:literal) => {
        $name
    };
}
