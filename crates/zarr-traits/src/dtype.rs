//! Data types: a name and a memory layout. A codec that only moves bytes needs the layout alone and so works with every
//! type. **For type authors.**

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use zarr_json::{Object, Value};
use zarr_strided::{Swap, swap_in_place};

use crate::error::{CodecError, CodecResult};
use crate::fill::FillValue;
use crate::heap::Slot;
use crate::point::ExtensionPoint;
use zarr_number::{NumberType, Numeric};

/// The layout of one element in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// Every element has `size` bytes, and byte order applies to units of `unit` bytes. A unit has 1 byte, and no byte
    /// order, or 2, 4, 8 or 16; `size` is a multiple of it. An element of another size, such as 3 bytes, has units of 1.
    Fixed {
        /// The bytes of an element.
        size: usize,
        /// The bytes of a unit of byte order, 1, 2, 4, 8 or 16: half the size for complex numbers.
        unit: usize,
    },
    /// Every element has `size` bytes and consists of parts with different units of byte order (structs).
    /// [`ExtensionType::swap`] swaps them.
    Packed {
        /// The bytes of an element.
        size: usize,
    },
    /// Elements differ in length (strings). The memory of a chunk holds a [`Slot`](crate::heap::Slot) for each.
    Variable,
}

impl Layout {
    /// Whether elements can have this layout: a unit of byte order has 1, 2, 4, 8 or 16 bytes, and divides the element.
    pub const fn is_valid(self) -> bool {
        match self {
            Self::Fixed { size, unit } => Swap::units(unit).is_some() && size.is_multiple_of(unit),
            Self::Packed { .. } | Self::Variable => true,
        }
    }
}

/// The data type of an array. Elements in memory are always in the byte order of this machine.
///
/// The rules are in [core data types](https://github.com/zarr-rs/zarr/blob/traits-v0.1.0/docs/specification/data-types.md#b.1).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum DataType {
    /// One byte, 0 or 1.
    Bool,
    /// Signed, 1 byte.
    Int8,
    /// Signed, 2 bytes.
    Int16,
    /// Signed, 4 bytes.
    Int32,
    /// Signed, 8 bytes.
    Int64,
    /// Unsigned, 1 byte.
    UInt8,
    /// Unsigned, 2 bytes.
    UInt16,
    /// Unsigned, 4 bytes.
    UInt32,
    /// Unsigned, 8 bytes.
    UInt64,
    /// IEEE 754 binary16.
    Float16,
    /// IEEE 754 binary32.
    Float32,
    /// IEEE 754 binary64.
    Float64,
    /// Two `float32`: real, imaginary.
    Complex64,
    /// Two `float64`: real, imaginary.
    Complex128,
    /// `r<N>`: N / 8 opaque bytes; this is their number.
    Raw(u32),
    /// `string`: UTF-8 of any length.
    String,
    /// `bytes`: bytes of any length.
    Bytes,
    /// A type from a registry.
    Extension(Arc<dyn ExtensionType>),
}

impl DataType {
    /// Returns the core type with this name, or `None` for any other name, also for a malformed `r<N>`.
    pub fn core(name: &str) -> Option<Self> {
        if let Some(digits) = name.strip_prefix('r') {
            let plain = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
            let bits: u32 = if plain { digits.parse().ok()? } else { return None };
            return bits.is_multiple_of(8).then_some(Self::Raw(bits / 8));
        }
        Self::CORE.into_iter().find(|t| t.name() == name)
    }

    /// The name in metadata documents.
    pub fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Raw(bytes) => return Cow::Owned(format!("r{}", u64::from(*bytes) * 8)),
            Self::Extension(t) => t.name(),
            number => number.number().map_or("", NumberType::name),
        })
    }

    /// The layout of one element in memory.
    pub fn layout(&self) -> Layout {
        match self {
            Self::Raw(bytes) => Layout::Fixed { size: *bytes as usize, unit: 1 },
            Self::Extension(t) => t.layout(),
            number => number.number().map_or(Layout::Variable, |number| Layout::Fixed {
                size: number.size(),
                unit: number.numeric().size(),
            }),
        }
    }

    /// Returns the bytes of an element, or `None` if elements differ in length.
    pub fn size(&self) -> Option<usize> {
        match self.layout() {
            Layout::Fixed { size, .. } | Layout::Packed { size } => Some(size),
            Layout::Variable => None,
        }
    }

    /// Returns the bytes that an element takes in the memory of a chunk: its size, or that of its slot if elements
    /// differ in length.
    pub fn memory_size(&self) -> usize {
        self.size().unwrap_or(Slot::SIZE)
    }

    /// Returns the numeric format of the elements, or `None` if they are not numbers.
    pub fn numeric(&self) -> Option<Numeric> {
        match self {
            Self::Extension(t) => t.numeric(),
            number => number.number().map(NumberType::numeric),
        }
    }

    /// The number of parts of an element with their own byte order; above 1 only for [packed](Layout::Packed) types.
    pub fn parts(&self) -> usize {
        match self {
            Self::Extension(t) => t.parts(),
            _ => 1,
        }
    }

    /// Swaps contiguous elements between the byte order of this machine and the other one.
    pub fn swap_bytes(&self, elements: &mut [u8]) {
        self.swap_parts(elements, &vec![true; self.parts()]);
    }

    /// Swaps those [parts](Self::parts) of contiguous elements whose item in `turn` is true.
    pub fn swap_parts(&self, elements: &mut [u8], turn: &[bool]) {
        match self {
            Self::Extension(t) if matches!(t.layout(), Layout::Packed { .. }) => t.swap(elements, turn),
            _ if turn.first() == Some(&true) => {
                swap_in_place(elements, self.swap());
            }
            _ => {}
        }
    }

    /// Returns the swap between the two byte orders, if all of an element has the same unit; else no swap.
    pub fn swap(&self) -> Swap {
        match self.layout() {
            Layout::Fixed { unit, .. } => Swap::units(unit).unwrap_or(Swap::NONE),
            Layout::Packed { .. } | Layout::Variable => Swap::NONE,
        }
    }
}

macro_rules! numbers {
    ($($variant:ident)*) => {
        impl DataType {
            /// The types that need no registry, without `r<N>`.
            pub const CORE: [Self; 16] = [$(Self::$variant,)* Self::String, Self::Bytes];

            /// Returns the type of the numbers, or `None` if elements are not numbers of a core type.
            pub fn number(&self) -> Option<NumberType> {
                match self {
                    $(Self::$variant => Some(NumberType::$variant),)*
                    _ => None,
                }
            }
        }

        impl From<NumberType> for DataType {
            fn from(number: NumberType) -> Self {
                match number {
                    $(NumberType::$variant => Self::$variant,)*
                }
            }
        }
    };
}

numbers! {
    Bool Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float16 Float32 Float64 Complex64 Complex128
}

impl PartialEq for DataType {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Extension(a), Self::Extension(b)) => {
                a.name() == b.name() && a.configuration().is_same(&b.configuration())
            }
            (Self::Extension(_), _) | (_, Self::Extension(_)) => false,
            (a, b) => a.name() == b.name(),
        }
    }
}

impl Eq for DataType {}

/// Hashes the name; equal types have equal names.
impl Hash for DataType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

/// Parses the name of a core type, as [`core`](DataType::core). Other types need a
/// [registry](crate::Registry::data_type).
///
/// ```
/// use zarr_traits::DataType;
/// assert_eq!("float32".parse::<DataType>()?, DataType::Float32);
/// # Ok::<(), zarr_traits::CodecError>(())
/// ```
impl FromStr for DataType {
    type Err = CodecError;

    fn from_str(name: &str) -> CodecResult<Self> {
        Self::core(name).ok_or_else(|| unknown(name))
    }
}

/// Returns the error for an unknown name. It names the data type that a type string of NumPy means.
pub(crate) fn unknown(name: &str) -> CodecError {
    let error = CodecError::unknown(ExtensionPoint::DataType, name);
    match of_type_string(name) {
        Some(meant) => error.with_hint(&format!("NumPy and format 2 call it so, its name is {meant:?}")),
        None => error,
    }
}

/// Returns the name of the data type that a type string of NumPy means, such as `<i2`.
fn of_type_string(text: &str) -> Option<String> {
    let plain = text.strip_prefix(['<', '>', '|']).unwrap_or(text);
    let size = plain.get(1..)?;
    let number = |kind: &str, sizes: &[u32]| {
        let size = size.parse::<u32>().ok().filter(|size| sizes.contains(size))?;
        Some(format!("{kind}{}", size * 8))
    };
    let is_count = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit());
    let named = |name: &str, fits: bool| fits.then(|| name.to_owned());
    match plain.chars().next()? {
        'b' => named("bool", size == "1"),
        'i' => number("int", &[1, 2, 4, 8]),
        'u' => number("uint", &[1, 2, 4, 8]),
        'f' => number("float", &[2, 4, 8]),
        'c' => number("complex", &[8, 16]),
        'S' => named("null_terminated_bytes", is_count),
        'U' => named("fixed_length_utf32", is_count),
        'V' => named("raw_bytes", is_count),
        'M' => named("numpy.datetime64", size.starts_with("8[")),
        'm' => named("numpy.timedelta64", size.starts_with("8[")),
        _ => None,
    }
}

impl std::fmt::Display for DataType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

/// A data type outside the core. Downcast it to use more than this trait has.
pub trait ExtensionType: Any + Debug + Send + Sync {
    /// The name in metadata documents.
    fn name(&self) -> &str;

    /// The configuration in metadata documents, or an empty object.
    fn configuration(&self) -> Object;

    /// The layout of one element in memory.
    fn layout(&self) -> Layout;

    /// Returns the numeric format of the elements, so that codecs can calculate with them, or `None`. An element then
    /// has exactly the bytes of its components.
    fn numeric(&self) -> Option<Numeric> {
        None
    }

    /// The number of parts of an element with their own byte order. For [`Layout::Packed`] these are the fields; a
    /// field that has parts counts as its parts.
    fn parts(&self) -> usize {
        1
    }

    /// Swaps the byte order of those parts of contiguous elements whose item in `turn` is true. Called only for
    /// [`Layout::Packed`].
    fn swap(&self, elements: &mut [u8], turn: &[bool]) {
        let _ = (elements, turn);
    }

    /// Returns the element for a `fill_value` of a document (for a type of variable length: its content). Elements are
    /// shown to users with the inverse, [`fill_to_json`](Self::fill_to_json). An element of a fixed size has exactly the bytes
    /// of the [`layout`](Self::layout).
    ///
    /// # Errors
    /// If `value` is not a fill value of this type.
    fn fill_from_json(&self, value: &Value) -> CodecResult<FillValue>;

    /// Returns the `fill_value` of a document for `fill`.
    ///
    /// # Errors
    /// If `fill` is not an element of this type.
    fn fill_to_json(&self, fill: &FillValue) -> CodecResult<Value>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::CodecErrorKind;

    #[test]
    fn type_strings_of_numpy_are_refused_with_the_name_that_they_mean() {
        for (text, name) in [
            ("<i2", "int16"),
            (">f8", "float64"),
            ("|b1", "bool"),
            ("u1", "uint8"),
            ("<c16", "complex128"),
            ("|S5", "null_terminated_bytes"),
            ("<U4", "fixed_length_utf32"),
            ("|V3", "raw_bytes"),
            ("<M8[ns]", "numpy.datetime64"),
            ("<m8[15m]", "numpy.timedelta64"),
        ] {
            let error = text.parse::<DataType>().unwrap_err().to_string();
            assert!(error.ends_with(&format!("its name is {name:?}")), "{error}");
        }
        for text in ["", "<", "é", "<i3", "i", "f16", "S", "Sx", "M8", "int", "x4"] {
            let error = text.parse::<DataType>().unwrap_err().to_string();
            assert_eq!(error, format!("unknown data type {text:?}"));
        }
    }

    #[test]
    fn core_names_are_exact() {
        for t in DataType::CORE {
            assert_eq!(DataType::core(&t.name()), Some(t));
        }
        assert_eq!(DataType::core("r24"), Some(DataType::Raw(3)));
        assert_eq!(DataType::Raw(3).name(), "r24");
        for bad in ["Int32", "<i4", "", "r", "r0", "r8 ", "r-8", "r+8", "r08", "r12", "r34359738368", "raw"] {
            assert_eq!(DataType::core(bad), None, "{bad:?}");
            assert_eq!(
                bad.parse::<DataType>().unwrap_err().kind(),
                CodecErrorKind::UnknownExtension,
                "{bad:?}"
            );
        }
        let types: std::collections::HashSet<DataType> =
            ["int8", "r24", "int8"].map(|name| name.parse().unwrap()).into();
        assert_eq!(types, [DataType::Raw(3), DataType::Int8].into());
    }

    #[test]
    fn layouts_follow_the_table() {
        let fixed = |t: &DataType| match t.layout() {
            Layout::Fixed { size, unit } => (size, unit),
            _ => unreachable!(),
        };
        assert_eq!(fixed(&DataType::Complex64), (8, 4));
        assert_eq!(fixed(&DataType::Bool), (1, 1));
        assert_eq!(fixed(&DataType::Raw(3)), (3, 1));
        assert!(DataType::Raw(16).swap().is_none());
        assert_eq!(DataType::Float64.swap().unit(), 8);
    }
}
