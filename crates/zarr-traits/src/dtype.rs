//! Data types: a name, and apart from it how an element lies in memory, so that a codec that only moves bytes works with
//! every type it has never heard of. **For type authors.**

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use serde_json::{Map, Value};
use zarr_strided::{Swap, swap_in_place};

use crate::codec::{Configuration, Context};
use crate::error::{CodecError, CodecResult};
use crate::fill::FillValue;
use crate::heap::Slot;
use crate::registry::{ExtensionPoint, NamedEntry};
use zarr_number::{FloatFormat, Numeric};

/// How one element lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// Every element has `size` bytes; byte order concerns units of `unit` bytes (1: it concerns nothing).
    Fixed {
        /// Bytes of an element.
        size: usize,
        /// Bytes of a unit of byte order: half the size for complex numbers.
        unit: usize,
    },
    /// Every element has `size` bytes, in parts each of which has a byte order of its own unit (structs):
    /// [`ExtensionType::swap`] turns them over.
    Packed {
        /// Bytes of an element.
        size: usize,
    },
    /// Elements differ in length (strings). In the memory of chunks there is a [`Slot`](crate::heap::Slot) for each.
    Variable,
}

/// The data type of an array. In memory elements are always in the byte order of the machine.
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
    /// `r<N>`: this many opaque bytes (N / 8).
    Raw(u32),
    /// `string`: UTF-8 of any length.
    String,
    /// `bytes`: bytes of any length.
    Bytes,
    /// A type from a registry.
    Extension(Arc<dyn ExtensionType>),
}

impl DataType {
    /// The fixed list of types that need no registry, without `r<N>`.
    pub const CORE: [Self; 16] = [
        Self::Bool,
        Self::Int8,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::UInt8,
        Self::UInt16,
        Self::UInt32,
        Self::UInt64,
        Self::Float16,
        Self::Float32,
        Self::Float64,
        Self::Complex64,
        Self::Complex128,
        Self::String,
        Self::Bytes,
    ];

    /// The core type of this name; `None` for every other name, also for an ill-formed `r<N>`.
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
            Self::Bool => "bool",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::UInt8 => "uint8",
            Self::UInt16 => "uint16",
            Self::UInt32 => "uint32",
            Self::UInt64 => "uint64",
            Self::Float16 => "float16",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Complex64 => "complex64",
            Self::Complex128 => "complex128",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Raw(bytes) => return Cow::Owned(format!("r{}", u64::from(*bytes) * 8)),
            Self::Extension(t) => t.name(),
        })
    }

    /// How one element lies in memory.
    pub fn layout(&self) -> Layout {
        let (size, unit) = match self {
            Self::Bool | Self::Int8 | Self::UInt8 => (1, 1),
            Self::Int16 | Self::UInt16 | Self::Float16 => (2, 2),
            Self::Int32 | Self::UInt32 | Self::Float32 => (4, 4),
            Self::Int64 | Self::UInt64 | Self::Float64 => (8, 8),
            Self::Complex64 => (8, 4),
            Self::Complex128 => (16, 8),
            Self::Raw(bytes) => (*bytes as usize, 1),
            Self::String | Self::Bytes => return Layout::Variable,
            Self::Extension(t) => return t.layout(),
        };
        Layout::Fixed { size, unit }
    }

    /// Bytes of an element; `None` when elements differ in length.
    pub fn size(&self) -> Option<usize> {
        match self.layout() {
            Layout::Fixed { size, .. } | Layout::Packed { size } => Some(size),
            Layout::Variable => None,
        }
    }

    /// Bytes that an element takes in the memory of a chunk: those of the element, or of the slot of one that differs in
    /// length from others.
    pub fn memory_size(&self) -> usize {
        self.size().unwrap_or(Slot::SIZE)
    }

    /// What the elements are as numbers; `None` when they are none.
    pub fn numeric(&self) -> Option<Numeric> {
        let integer = |bits, signed| Some(Numeric::Integer { bits, signed });
        match self {
            Self::Bool => Some(Numeric::Bool),
            Self::Int8 => integer(8, true),
            Self::Int16 => integer(16, true),
            Self::Int32 => integer(32, true),
            Self::Int64 => integer(64, true),
            Self::UInt8 => integer(8, false),
            Self::UInt16 => integer(16, false),
            Self::UInt32 => integer(32, false),
            Self::UInt64 => integer(64, false),
            Self::Float16 => Some(Numeric::Float(FloatFormat::FLOAT16)),
            Self::Float32 => Some(Numeric::Float(FloatFormat::FLOAT32)),
            Self::Float64 => Some(Numeric::Float(FloatFormat::FLOAT64)),
            Self::Complex64 => Some(Numeric::Complex(FloatFormat::FLOAT32)),
            Self::Complex128 => Some(Numeric::Complex(FloatFormat::FLOAT64)),
            Self::Raw(_) | Self::String | Self::Bytes => None,
            Self::Extension(t) => t.numeric(),
        }
    }

    /// How many parts of an element have a byte order of their own: more than one in [packed](Layout::Packed) types alone.
    pub fn parts(&self) -> usize {
        match self {
            Self::Extension(t) => t.parts(),
            _ => 1,
        }
    }

    /// Turns the byte order of dense elements over: from that of this machine to the other one, and back.
    pub fn swap_bytes(&self, elements: &mut [u8]) {
        self.swap_parts(elements, &vec![true; self.parts()]);
    }

    /// Turns over those [parts](Self::parts) of dense elements for which `turn` says so.
    pub fn swap_parts(&self, elements: &mut [u8], turn: &[bool]) {
        match self {
            Self::Extension(t) if matches!(t.layout(), Layout::Packed { .. }) => t.swap(elements, turn),
            _ if turn.first() == Some(&true) => {
                swap_in_place(elements, self.swap());
            }
            _ => {}
        }
    }

    /// The swap between the byte order of this machine and the other one, where all of an element has the same unit.
    pub fn swap(&self) -> Swap {
        match self.layout() {
            Layout::Fixed { unit, .. } => Swap::units(unit).unwrap_or(Swap::NONE),
            Layout::Packed { .. } | Layout::Variable => Swap::NONE,
        }
    }
}

impl PartialEq for DataType {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Extension(a), Self::Extension(b)) => {
                a.name() == b.name() && a.configuration() == b.configuration()
            }
            (Self::Extension(_), _) | (_, Self::Extension(_)) => false,
            (a, b) => a.name() == b.name(),
        }
    }
}

impl Eq for DataType {}

/// By the name: equal types have equal names.
impl Hash for DataType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

/// The core type of a name, as [`core`](DataType::core). A [registry](crate::Registry::data_type) has the other types.
///
/// ```
/// use zarr_traits::DataType;
/// assert_eq!("float32".parse::<DataType>()?, DataType::Float32);
/// # Ok::<(), zarr_traits::CodecError>(())
/// ```
impl FromStr for DataType {
    type Err = CodecError;

    fn from_str(name: &str) -> CodecResult<Self> {
        Self::core(name).ok_or_else(|| CodecError::unknown(ExtensionPoint::DataType, name))
    }
}

impl std::fmt::Display for DataType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

/// A data type that the core does not know. Whoever knows it gets at what else it has by a downcast.
pub trait ExtensionType: Any + Debug + Send + Sync {
    /// The name in metadata documents.
    fn name(&self) -> &str;

    /// The configuration in metadata documents; empty when there is none.
    fn configuration(&self) -> Map<String, Value>;

    /// How one element lies in memory.
    fn layout(&self) -> Layout;

    /// What the elements are as numbers, so that codecs can calculate with them. An element has as many bytes as its
    /// components together.
    fn numeric(&self) -> Option<Numeric> {
        None
    }

    /// How many parts an element has that have a byte order of their own: with [`Layout::Packed`], the fields, and those
    /// of fields that have such themselves.
    fn parts(&self) -> usize {
        1
    }

    /// Turns the byte order of those parts of dense elements over for which `turn` says so, for a type of
    /// [`Layout::Packed`].
    fn swap(&self, elements: &mut [u8], turn: &[bool]) {
        let _ = (elements, turn);
    }

    /// The element that `fill_value` of a document stands for (for a type of variable length: its content). Elements are
    /// shown to users with [`fill_to_json`](Self::fill_to_json), which is its inverse.
    ///
    /// # Errors
    /// When it is no fill value of this type.
    fn fill_from_json(&self, value: &Value) -> CodecResult<FillValue>;

    /// The `fill_value` of a document that stands for `fill`.
    ///
    /// # Errors
    /// When `fill` is no element of this type.
    fn fill_to_json(&self, fill: &FillValue) -> CodecResult<Value>;
}

/// Makes a data type from its configuration.
pub type DataTypeEntry =
    NamedEntry<fn(&mut Configuration<'_>, &Context<'_>) -> CodecResult<Arc<dyn ExtensionType>>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::CodecErrorKind;

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
