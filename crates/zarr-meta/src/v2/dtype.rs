//! dtypes: the type strings of NumPy, and lists of fields.

use std::collections::HashSet;
use std::fmt;

use zarr_traits::number::NumberType;
use zarr_traits::{DataType, Limits};

use super::time::Time;
use crate::diagnostic::{Code, Diagnostic, Ignore, Sink};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Object, Value, ValueKind, pointer};
use crate::v3::{self, Extension};

/// The deepest nesting of structs.
const DEPTH: usize = 32;

/// The type and the byte layout of an element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Dtype {
    /// A single value.
    Scalar(Scalar),
    /// Fields, packed one after the other.
    Struct(Vec<Field>),
    /// Objects, which an object codec turns into bytes.
    Object,
}

/// The type of a single value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scalar {
    pub(crate) kind: Kind,
    /// The size of an element in bytes.
    pub(crate) size: u32,
    pub(crate) endian: Endian,
}

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// A type that has a name in both formats.
    Core(NumberType),
    /// `V`: opaque bytes; padding in a struct.
    Raw,
    /// `S`: bytes, padded with zeros.
    Bytes,
    /// `U`: code points of four bytes, padded with zeros.
    Text,
    /// `M`: a time.
    Datetime(Time),
    /// `m`: a span of time.
    Timedelta(Time),
}

/// The byte order of a value. `Little` for a value without byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

/// A field of a struct.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    /// The name; empty for padding.
    pub(crate) name: String,
    pub(crate) dtype: Dtype,
    /// The shape of a sub-array; empty for a single value.
    pub(crate) shape: Vec<u64>,
}

/// The byte order of the values of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    /// No value has a byte order.
    None,
    /// All values have this byte order.
    One(Endian),
    /// The byte order of each scalar field in order, including fields of nested structs.
    Mixed(Vec<Endian>),
}

impl Endian {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Little => "little",
            Self::Big => "big",
        }
    }
}

impl Scalar {
    /// Reads a type string.
    pub(crate) fn parse(text: &str, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        let wrong = || MetaError::invalid(format!("expected a dtype such as \"<f4\", found {text:?}"));
        if let Some(scalar) = Self::by_name(text) {
            let message = format!("{text:?} is not a type string, read as \"{scalar}\"");
            sink.report(Diagnostic::new(Code::DtypeSpelling, "", message))?;
            return Ok(scalar);
        }
        let (order, rest) = match text.as_bytes().first() {
            Some(b'<') => (Some(Endian::Little), &text[1..]),
            Some(b'>') => (Some(Endian::Big), &text[1..]),
            Some(b'|') => (None, &text[1..]),
            _ => (None, text),
        };
        let mut rest = rest.chars();
        let letter = rest.next().ok_or_else(wrong)?;
        let rest = rest.as_str();
        if let 'M' | 'm' = letter {
            let unit = rest.strip_prefix('8').ok_or_else(wrong)?;
            let time = Time::parse(unit).ok_or_else(wrong)?;
            let kind = if letter == 'M' { Kind::Datetime(time) } else { Kind::Timedelta(time) };
            return Ok(Self { kind, size: 8, endian: order.ok_or_else(wrong)? });
        }
        let plain = !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
        let number = rest.parse::<u32>().ok().filter(|_| plain).ok_or_else(wrong)?;
        let numpy_name = format!("{letter}{number}");
        let (kind, size) = match (letter, number) {
            ('f', 10 | 12 | 16) | ('c', 20 | 24 | 32) => {
                let message = format!("dtype {text:?}: the layout of long doubles depends on the machine");
                return Err(MetaError::new(MetaErrorKind::Unsupported, message));
            }
            ('S', _) => (Kind::Bytes, number),
            ('V', _) => (Kind::Raw, number),
            ('U', _) => (Kind::Text, number.checked_mul(4).ok_or_else(wrong)?),
            _ => {
                let core = NumberType::ALL.iter().find(|core| core.numpy_name() == numpy_name);
                (Kind::Core(*core.ok_or_else(wrong)?), number)
            }
        };
        check_size(u64::from(size), limits)?;
        let mut scalar = Self { kind, size, endian: Endian::Little };
        if scalar.unit() > 1 {
            // Without a byte order in the document, the order would depend on the machine of the writer.
            scalar.endian = order.ok_or_else(wrong)?;
        } else if text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let message = format!("expected \"{scalar}\", found {text:?}");
            sink.report(Diagnostic::new(Code::DtypeSpelling, "", message))?;
        }
        Ok(scalar)
    }

    /// Returns the type with a name of NumPy such as `float32`, which writers other than NumPy use.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        let core = *NumberType::ALL.iter().find(|core| core.name() == name)?;
        let size = u32::try_from(core.size()).ok()?;
        Some(Self { kind: Kind::Core(core), size, endian: Endian::Little })
    }

    /// Returns the same type in little-endian order.
    pub(crate) fn little(self) -> Self {
        Self { endian: Endian::Little, ..self }
    }

    /// Returns the size in bytes of the unit that a byte order applies to; 1 without byte order.
    pub(crate) fn unit(&self) -> u32 {
        match self.kind {
            Kind::Core(core) => self.size >> u32::from(core.numeric().components() == 2),
            Kind::Raw | Kind::Bytes => 1,
            Kind::Text => 4,
            Kind::Datetime(_) | Kind::Timedelta(_) => 8,
        }
    }

    /// Returns the data type of format 3 whose elements have the same JSON forms, which is `int64` for times. Returns
    /// `None` for bytes and text.
    pub(crate) fn number(&self) -> Option<DataType> {
        match self.kind {
            Kind::Core(core) => Some(core.into()),
            Kind::Datetime(_) | Kind::Timedelta(_) => Some(DataType::Int64),
            Kind::Raw | Kind::Bytes | Kind::Text => None,
        }
    }

    /// Returns the data type in a document of format 3.
    fn data_type(&self) -> Value {
        let sized = |name: &str| Extension::new(name).with("length_bytes", self.size).into();
        match self.kind {
            Kind::Core(core) => Value::from(core.name()),
            // `r<N>` has no fill value that zarr-python or TensorStore reads.
            Kind::Raw => sized("raw_bytes"),
            Kind::Bytes => sized("null_terminated_bytes"),
            Kind::Text => sized("fixed_length_utf32"),
            Kind::Datetime(time) => time.data_type("numpy.datetime64"),
            Kind::Timedelta(time) => time.data_type("numpy.timedelta64"),
        }
    }
}

/// Prints the type string.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.unit(), self.endian) {
            (1, _) => "|",
            (_, Endian::Little) => "<",
            (_, Endian::Big) => ">",
        })?;
        let letter = match self.kind {
            Kind::Core(core) => return f.write_str(core.numpy_name()),
            Kind::Raw => 'V',
            Kind::Bytes => 'S',
            Kind::Text => return write!(f, "U{}", self.size / 4),
            Kind::Datetime(time) => return write!(f, "M8{time}"),
            Kind::Timedelta(time) => return write!(f, "m8{time}"),
        };
        write!(f, "{letter}{}", self.size)
    }
}

/// Returns the data type of format 3 for a dtype of format 2, and whether its values are big-endian.
///
/// # Errors
/// If `dtype` is not valid, is that of objects, whose type depends on the filters, or has fields of different byte
/// orders.
pub fn data_type_of_dtype(dtype: &Value, limits: &Limits) -> MetaResult<(Extension, bool)> {
    let dtype = Dtype::parse(dtype, limits, &mut Ignore)?;
    if dtype == Dtype::Object {
        let message = "dtype \"|O\" has no data type of its own, use \"string\" or \"bytes\"";
        return Err(MetaError::new(MetaErrorKind::Unsupported, message));
    }
    let is_big = match dtype.byte_order() {
        ByteOrder::Mixed(_) => return Err(MetaError::argument("the fields have different byte orders")),
        order => order == ByteOrder::One(Endian::Big),
    };
    Ok((Extension::parse(&dtype.data_type().0, &mut Ignore)?, is_big))
}

impl Dtype {
    /// Reads a dtype. Pointers of errors and reports are relative to it.
    pub(crate) fn parse(value: &Value, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        let dtype = Self::read(value, DEPTH, limits, sink)?;
        dtype.size(limits)?;
        Ok(dtype)
    }

    fn read(value: &Value, depth: usize, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        match value.kind() {
            ValueKind::String => match &*value.to_text()? {
                "|O" => Ok(Self::Object),
                text => Scalar::parse(text, limits, sink).map(Self::Scalar),
            },
            ValueKind::Array if depth == 0 => {
                Err(MetaError::limit(format!("structs are nested deeper than {DEPTH} levels")))
            }
            ValueKind::Array => {
                let mut fields = Vec::new();
                for (i, field) in value.elements().into_iter().flatten().enumerate() {
                    let field = Field::read(&field, depth, limits, sink);
                    fields.push(field.map_err(|e| e.at(&pointer::element("", i)))?);
                }
                let mut names = HashSet::new();
                let named = fields.iter().map(|f| &*f.name).filter(|name| !name.is_empty());
                if let Some(name) = named.clone().find(|name| !names.insert(*name)) {
                    return Err(MetaError::invalid(format!("two fields have the name {name:?}")));
                }
                if named.count() == 0 {
                    return Err(MetaError::invalid("expected a list of fields, found none with a name"));
                }
                Ok(Self::Struct(fields))
            }
            _ => Err(value.expected("a type string or a list of fields").into()),
        }
    }

    /// Returns the size of an element in bytes. It is limited, because a fill value contains a whole element.
    pub(crate) fn size(&self, limits: &Limits) -> MetaResult<u64> {
        let size = match self {
            Self::Scalar(scalar) => u64::from(scalar.size),
            Self::Object => return Ok(0),
            Self::Struct(fields) => {
                let mut size = 0;
                for field in fields {
                    let one = field.dtype.size(limits)?;
                    let all = field.shape.iter().try_fold(one, |size, n| size.checked_mul(*n));
                    let all = all.and_then(|all| all.checked_add(size));
                    size = all.ok_or_else(|| MetaError::limit("the size of an element overflows"))?;
                }
                size
            }
        };
        check_size(size, limits)?;
        Ok(size)
    }

    /// Returns the data type in a document of format 3, and whether it needs a private name.
    pub(crate) fn data_type(&self) -> (Value, bool) {
        let fields = match self {
            Self::Scalar(scalar) => return (scalar.data_type(), false),
            Self::Object => return ("string".into(), false),
            Self::Struct(fields) => fields,
        };
        let mut private = false;
        let mut list = Vec::with_capacity(fields.len());
        for field in fields {
            let (data_type, inner) = match &field.dtype {
                // The padding of the private type is `r<N>`.
                Dtype::Scalar(scalar) if field.name.is_empty() => {
                    (DataType::Raw(scalar.size).name().into_owned().into(), false)
                }
                dtype => dtype.data_type(),
            };
            let mut members = Object::new();
            members.set("name", &field.name);
            members.set("data_type", data_type);
            if !field.shape.is_empty() {
                members.set("shape", field.shape.iter().copied().collect::<Value>());
            }
            private |= inner || field.name.is_empty() || !field.shape.is_empty();
            list.push(Value::from(members));
        }
        let plain = !fields.iter().any(|f| f.name.is_empty() || !f.shape.is_empty());
        let name = if plain { "struct" } else { "numcodecs:struct" };
        (Extension::new(name).with("fields", list).into(), private)
    }

    /// Returns the byte order of the values.
    pub(crate) fn byte_order(&self) -> ByteOrder {
        let mut leaves = Vec::new();
        self.leaves(&mut leaves);
        let mut orders = leaves.iter().filter(|s| s.unit() > 1).map(|s| s.endian);
        match orders.next() {
            None => ByteOrder::None,
            Some(first) if orders.all(|order| order == first) => ByteOrder::One(first),
            Some(_) => ByteOrder::Mixed(leaves.iter().map(|s| s.endian).collect()),
        }
    }

    /// Appends the scalars in order. That of a sub-array is appended once.
    fn leaves<'a>(&'a self, out: &mut Vec<&'a Scalar>) {
        match self {
            Self::Scalar(scalar) => out.push(scalar),
            Self::Struct(fields) => fields.iter().for_each(|field| field.dtype.leaves(out)),
            Self::Object => {}
        }
    }

    /// Returns the dtype in the form of a document of format 2.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Scalar(scalar) => scalar.to_string().into(),
            Self::Object => "|O".into(),
            Self::Struct(fields) => fields.iter().map(Field::to_value).collect(),
        }
    }
}

impl Field {
    fn read(value: &Value, depth: usize, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        let expected = || value.expected("[name, dtype] or [name, dtype, shape]");
        let mut elements = value.elements().ok_or_else(expected)?;
        let (name, dtype) = elements.next().zip(elements.next()).ok_or_else(expected)?;
        let (shape, more) = (elements.next(), elements.next());
        if more.is_some() {
            return Err(expected().into());
        }
        let name = name.to_text().map_err(|e| e.at("/0"))?.into_owned();
        let dtype = Dtype::read(&dtype, depth - 1, limits, sink).map_err(|e| e.at("/1"))?;
        let shape =
            shape.map(|shape| v3::lengths(&shape, "/2", limits.rank, sink)).transpose()?.unwrap_or_default();
        if shape.contains(&0) || dtype == Dtype::Object {
            return Err(MetaError::new(MetaErrorKind::Unsupported, "a field must have a fixed size above 0"));
        }
        let padding = matches!(dtype, Dtype::Scalar(Scalar { kind: Kind::Raw, .. })) && shape.is_empty();
        if name.is_empty() && !padding {
            return Err(MetaError::invalid("a field without a name must be padding of kind V").at("/0"));
        }
        Ok(Self { name, dtype, shape })
    }

    fn to_value(&self) -> Value {
        let shape = (!self.shape.is_empty()).then(|| self.shape.iter().copied().collect::<Value>());
        [Value::from(&self.name), self.dtype.to_value()].into_iter().chain(shape).collect()
    }
}

fn check_size(size: u64, limits: &Limits) -> MetaResult<()> {
    let most = limits.metadata_bytes / 64;
    match size {
        0 => Err(MetaError::new(MetaErrorKind::Unsupported, "elements without bytes are not supported")),
        _ if size > most => Err(MetaError::limit(format!("an element has {size} bytes, more than {most}"))),
        _ => Ok(()),
    }
}
