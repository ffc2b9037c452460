//! dtypes: the type strings of NumPy, and lists of fields (checklist H.2, B.7).

use std::collections::HashSet;
use std::fmt;

use zarr_traits::{DataType, Limits};

use super::time::Time;
use crate::diagnostic::{Code, Diagnostic, Ignore, Sink};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Kind as JsonKind, Object, Value, pointer};
use crate::v3::{self, Extension};

/// How deep structs may be nested.
const DEPTH: usize = 32;

/// What one element is, and how its bytes lie in a chunk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Dtype {
    /// One value.
    Scalar(Scalar),
    /// Fields, packed one behind the other (checklist H11).
    Struct(Vec<Field>),
    /// Elements that an object codec turns to bytes (checklist H.6).
    Object,
}

/// A value of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scalar {
    pub(crate) kind: Kind,
    /// Bytes of an element.
    pub(crate) size: u32,
    pub(crate) endian: Endian,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// A type that both formats have under a name of its own.
    Core(Core),
    /// `V`: bytes that mean nothing; in a struct, padding.
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

/// The kinds of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Core {
    Bool,
    Int,
    UInt,
    Float,
    Complex,
}

/// The byte order of a value; of one without, `Little`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

/// A field of a struct.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    /// Empty for padding.
    pub(crate) name: String,
    pub(crate) dtype: Dtype,
    /// The shape of a sub-array; empty for a single value.
    pub(crate) shape: Vec<u64>,
}

/// The byte order of all values of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    /// No value has one.
    None,
    /// One for all.
    One(Endian),
    /// One for each field that is no struct itself, in order; `Little` for those without.
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
            let message = format!("{text:?} is no type string, read as \"{scalar}\"");
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
        let (kind, size) = match (letter, number) {
            ('b', 1) => (Kind::Core(Core::Bool), 1),
            ('i', 1 | 2 | 4 | 8) => (Kind::Core(Core::Int), number),
            ('u', 1 | 2 | 4 | 8) => (Kind::Core(Core::UInt), number),
            ('f', 2 | 4 | 8) => (Kind::Core(Core::Float), number),
            ('c', 8 | 16) => (Kind::Core(Core::Complex), number),
            ('f', 10 | 12 | 16) | ('c', 20 | 24 | 32) => {
                let message = format!("dtype {text:?}: the layout of long doubles depends on the machine");
                return Err(MetaError::new(MetaErrorKind::Unsupported, message));
            }
            ('S', _) => (Kind::Bytes, number),
            ('V', _) => (Kind::Raw, number),
            ('U', _) => (Kind::Text, number.checked_mul(4).ok_or_else(wrong)?),
            _ => return Err(wrong()),
        };
        check_size(u64::from(size), limits)?;
        let mut scalar = Self { kind, size, endian: Endian::Little };
        if scalar.unit() > 1 {
            // Without byte order it would be that of the machine that wrote it.
            scalar.endian = order.ok_or_else(wrong)?;
        } else if text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let message = format!("{text:?} is written \"{scalar}\"");
            sink.report(Diagnostic::new(Code::DtypeSpelling, "", message))?;
        }
        Ok(scalar)
    }

    /// Checklist H13: the names of NumPy, from others than NumPy.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        let (word, bits) = name.split_at(digits);
        let bits: u32 = if bits.is_empty() { 8 } else { bits.parse().ok()? };
        let (kind, fits) = match word {
            "bool" => (Core::Bool, name == word),
            "int" => (Core::Int, matches!(bits, 8 | 16 | 32 | 64)),
            "uint" => (Core::UInt, matches!(bits, 8 | 16 | 32 | 64)),
            "float" => (Core::Float, matches!(bits, 16 | 32 | 64)),
            "complex" => (Core::Complex, matches!(bits, 64 | 128)),
            _ => return None,
        };
        let given = word == "bool" || name != word;
        (fits && given).then_some(Self { kind: Kind::Core(kind), size: bits / 8, endian: Endian::Little })
    }

    /// The same value in little-endian order.
    pub(crate) fn little(self) -> Self {
        Self { endian: Endian::Little, ..self }
    }

    /// Bytes of what a byte order concerns; 1 when there is none.
    pub(crate) fn unit(&self) -> u32 {
        match self.kind {
            Kind::Core(Core::Complex) => self.size / 2,
            Kind::Core(_) => self.size,
            Kind::Raw | Kind::Bytes => 1,
            Kind::Text => 4,
            Kind::Datetime(_) | Kind::Timedelta(_) => 8,
        }
    }

    /// The data type of format 3 whose elements have the same JSON forms: that of times is `int64`. None for bytes and
    /// text.
    pub(crate) fn number(&self) -> Option<DataType> {
        Some(match (self.kind, self.size) {
            (Kind::Core(Core::Bool), _) => DataType::Bool,
            (Kind::Core(Core::Int), 1) => DataType::Int8,
            (Kind::Core(Core::Int), 2) => DataType::Int16,
            (Kind::Core(Core::Int), 4) => DataType::Int32,
            (Kind::Core(Core::Int), _) | (Kind::Datetime(_) | Kind::Timedelta(_), _) => DataType::Int64,
            (Kind::Core(Core::UInt), 1) => DataType::UInt8,
            (Kind::Core(Core::UInt), 2) => DataType::UInt16,
            (Kind::Core(Core::UInt), 4) => DataType::UInt32,
            (Kind::Core(Core::UInt), _) => DataType::UInt64,
            (Kind::Core(Core::Float), 2) => DataType::Float16,
            (Kind::Core(Core::Float), 4) => DataType::Float32,
            (Kind::Core(Core::Float), _) => DataType::Float64,
            (Kind::Core(Core::Complex), 8) => DataType::Complex64,
            (Kind::Core(Core::Complex), _) => DataType::Complex128,
            (Kind::Raw | Kind::Bytes | Kind::Text, _) => return None,
        })
    }

    /// The data type in a document of format 3 (checklist B.7).
    fn data_type(&self) -> Value {
        let sized = |name: &str| Extension::new(name).with("length_bytes", self.size).into();
        match self.kind {
            Kind::Core(_) => {
                Value::from(&*self.number().map_or_else(|| "bool".into(), |t| t.name().into_owned()))
            }
            Kind::Raw => format!("r{}", u64::from(self.size) * 8).into(),
            Kind::Bytes => sized("null_terminated_bytes"),
            Kind::Text => sized("fixed_length_utf32"),
            Kind::Datetime(time) => time.data_type("numpy.datetime64"),
            Kind::Timedelta(time) => time.data_type("numpy.timedelta64"),
        }
    }
}

/// The type string.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.unit(), self.endian) {
            (1, _) => "|",
            (_, Endian::Little) => "<",
            (_, Endian::Big) => ">",
        })?;
        let letter = match self.kind {
            Kind::Core(Core::Bool) => 'b',
            Kind::Core(Core::Int) => 'i',
            Kind::Core(Core::UInt) => 'u',
            Kind::Core(Core::Float) => 'f',
            Kind::Core(Core::Complex) => 'c',
            Kind::Raw => 'V',
            Kind::Bytes => 'S',
            Kind::Text => return write!(f, "U{}", self.size / 4),
            Kind::Datetime(time) => return write!(f, "M8{time}"),
            Kind::Timedelta(time) => return write!(f, "m8{time}"),
        };
        write!(f, "{letter}{}", self.size)
    }
}

/// The data type that a dtype of format 2 stands for, and whether its values are big-endian.
///
/// # Errors
/// When `dtype` is none, for objects, of which the filters say what they are, and when fields differ in their byte order.
pub fn data_type_of_dtype(dtype: &Value, limits: &Limits) -> MetaResult<(Extension, bool)> {
    let dtype = Dtype::parse(dtype, limits, &mut Ignore)?;
    if dtype == Dtype::Object {
        let message = "objects are strings or bytes: the data type has one of these names";
        return Err(MetaError::new(MetaErrorKind::Unsupported, message));
    }
    let is_big = match dtype.byte_order() {
        ByteOrder::Mixed(_) => return Err(MetaError::argument("the fields are of several byte orders")),
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
            JsonKind::String => match &*value.to_text()? {
                "|O" => Ok(Self::Object),
                text => Scalar::parse(text, limits, sink).map(Self::Scalar),
            },
            JsonKind::Array if depth == 0 => {
                Err(MetaError::limit(format!("structs are nested deeper than {DEPTH} levels")))
            }
            JsonKind::Array => {
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
            _ => Err(value.expected("a type string or a list of fields")),
        }
    }

    /// Bytes of an element. A fill value spells them out, so they are few against those of a document.
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

    /// The data type in a document of format 3 (checklist B.7), and whether the registered types cannot say it.
    pub(crate) fn data_type(&self) -> (Value, bool) {
        let fields = match self {
            Self::Scalar(scalar) => return (scalar.data_type(), false),
            Self::Object => return ("string".into(), false),
            Self::Struct(fields) => fields,
        };
        let mut private = false;
        let mut list = Vec::with_capacity(fields.len());
        for field in fields {
            let (data_type, inner) = field.dtype.data_type();
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

    /// The byte order of its values.
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

    /// The scalars in order, that of a sub-array once.
    fn leaves<'a>(&'a self, out: &mut Vec<&'a Scalar>) {
        match self {
            Self::Scalar(scalar) => out.push(scalar),
            Self::Struct(fields) => fields.iter().for_each(|field| field.dtype.leaves(out)),
            Self::Object => {}
        }
    }

    /// The dtype as a document of format 2 has it.
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
            return Err(expected());
        }
        let name = name.to_text().map_err(|e| e.at("/0"))?.into_owned();
        let dtype = Dtype::read(&dtype, depth - 1, limits, sink).map_err(|e| e.at("/1"))?;
        let shape =
            shape.map(|shape| v3::lengths(&shape, "/2", limits.rank, sink)).transpose()?.unwrap_or_default();
        if shape.contains(&0) || dtype == Dtype::Object {
            return Err(MetaError::new(MetaErrorKind::Unsupported, "a field without a size of its own"));
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
