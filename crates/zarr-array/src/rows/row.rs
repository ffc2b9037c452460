//! Rust structs as elements.

use zarr_traits::DataType;

use super::lane::Lane;
use super::struct_of;
use crate::element::Element;
use crate::error::{ArrayError, ArrayResult};
use crate::values::check_element;

/// Whether the field `name` has elements of the type that `_` takes out of a row; for [`row!`](crate::row).
#[doc(hidden)]
pub fn check_field<R, T: Element>(data_type: &DataType, name: &str, _: impl Fn(&R) -> &T) -> ArrayResult<()> {
    let lane = Lane::find(data_type, name).and_then(|lane| {
        check_element::<T>(&lane.data_type)?;
        if lane.shape.is_empty() {
            return Ok(());
        }
        Err(ArrayError::invalid(format!("a sub-array of shape {:?} is no single element", lane.shape)))
    });
    lane.map_err(|e| e.while_doing(format!("field {name:?}")))
}

/// Whether there are fields at all; for [`row!`](crate::row).
#[doc(hidden)]
pub fn is_struct(data_type: &DataType) -> bool {
    struct_of(data_type).is_ok()
}

/// Makes a Rust struct the [`Element`](crate::Element) of arrays of structs: `row!(Type { field, field: "name in the
/// array", … })`.
///
/// All fields of the Rust struct are named, in any order; each has the element type of the field of the array that has
/// its name, or the one that is given, which may be a [path](crate::Rows). That is checked before anything is read. An
/// array may have more fields, and is then only read, as it is by a path.
///
/// ```
/// # use zarr_array::traits::{Spec, codec::Context, serde_json::json};
/// # use zarr_array::{ArrayMeta, Limits, NdVec, blocking::Array, standard};
/// # let registry = standard();
/// # let limits = Limits::default();
/// # let context = Context::new(&registry, &limits);
/// # let city = Spec::new("struct", json!({"fields": [
/// #     {"name": "name", "data_type": "r64"}, {"name": "lat", "data_type": "float32"},
/// #     {"name": "area [km2]", "data_type": "float64"}]}))?;
/// # let meta = ArrayMeta::builder([100], registry.data_type(&city, &context)?.0).chunks([10]).build()?;
/// # let array = Array::create(zarr_store::MemoryStore::new(), "/cities", meta, &registry)?;
/// #[derive(Debug, Clone, PartialEq)]
/// struct City {
///     name: [u8; 8],
///     lat: f32,
///     area: f64,
/// }
/// zarr_array::row!(City { name, lat, area: "area [km2]" });
///
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
