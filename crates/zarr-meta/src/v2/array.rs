//! The document `.zarray`.

use zarr_traits::Limits;

use crate::diagnostic::{Capped, Code, Diagnostic, Sink};
use crate::error::{MetaError, MetaResult};
use crate::json::{Object, Value, ValueKind, pointer};
use crate::root::Root;
use crate::text::parse_json;
use crate::v3;

/// The member with the separator of the numbers in a chunk key.
pub(crate) const SEPARATOR: &str = "dimension_separator";

/// The order of the elements in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The last index varies fastest.
    C,
    /// The first index varies fastest.
    F,
}

/// The members of an array of format 2: complete and of the right kind, but dtype, codecs and fill value not yet
/// interpreted.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    pub(crate) shape: Vec<u64>,
    pub(crate) chunks: Vec<u64>,
    pub(crate) dtype: Value,
    pub(crate) compressor: Option<Codec>,
    pub(crate) fill_value: Value,
    pub(crate) order: Order,
    pub(crate) filters: Vec<Codec>,
    pub(crate) separator: char,
}

/// A filter or a compressor: an `id` and other members.
#[derive(Debug, Clone)]
pub(crate) struct Codec {
    pub(crate) id: String,
    pub(crate) configuration: Object,
}

impl Array {
    pub(crate) fn parse(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<(Root, Self)> {
        let root = Root::new(parse_json(bytes, limits, sink)?)?;
        let sink: &mut dyn Sink = &mut Capped::new(sink);
        super::format(&root.members, 2, sink)?;
        let array = Self::read(&root.members, limits, sink)?;
        Ok((root, array))
    }

    fn read(members: &Object, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        let (shape, chunks) = shapes(members, limits, sink)?;
        let dtype = v3::required(members, "/dtype")?;
        let mut optional = |name: &str, default: &str| match members.get(name) {
            Some(value) => Ok(value),
            None => {
                let message = format!("this member is missing, read as {default}");
                let place = pointer::join("", name);
                sink.report(Diagnostic::new(Code::MissingMember, place, message))?;
                Value::parse(default).map_err(MetaError::from)
            }
        };
        let compressor = optional("compressor", "null")?;
        let filters = optional("filters", "null")?;
        let fill_value = optional("fill_value", "null")?;
        let order = order(&optional("order", "\"C\"")?)?;
        let compressor = match compressor.kind() {
            ValueKind::Null => None,
            _ => Some(Codec::parse(&compressor).map_err(|e| e.at("/compressor"))?),
        };
        Ok(Self {
            dtype,
            compressor,
            fill_value,
            order,
            filters: codecs(&filters, limits).map_err(|e| e.at("/filters"))?,
            separator: separator(members, sink)?,
            shape,
            chunks,
        })
    }
}

impl Codec {
    pub(super) fn parse(value: &Value) -> MetaResult<Self> {
        let mut configuration =
            value.as_object().ok_or_else(|| value.expected("null or an object with an id"))?;
        let id = configuration.remove("id").ok_or_else(|| value.expected("an object with an id"))?;
        let id = id.to_text().map_err(|e| e.at("/id"))?.into_owned();
        Ok(Self { id, configuration })
    }
}

/// Reads `shape` and `chunks`.
pub(crate) fn shapes(
    members: &Object,
    limits: &Limits,
    sink: &mut dyn Sink,
) -> MetaResult<(Vec<u64>, Vec<u64>)> {
    let shape = v3::lengths(&v3::required(members, "/shape")?, "/shape", limits.rank, sink)?;
    let given = v3::required(members, "/chunks")?;
    let mut chunks = v3::lengths(&given, "/chunks", limits.rank, sink)?;
    if chunks.len() != shape.len() {
        let message = format!("expected one length for each of {} dimensions, found {given}", shape.len());
        return Err(MetaError::invalid(message).at("/chunks"));
    }
    for (i, (chunk, length)) in chunks.iter_mut().zip(&shape).enumerate().filter(|(_, (c, _))| **c == 0) {
        let place = pointer::element("/chunks", i);
        if *length > 0 {
            return Err(MetaError::invalid("a chunk length must not be 0").at(&place));
        }
        sink.report(Diagnostic::new(Code::ZeroChunk, place, "chunk length 0, read as 1"))?;
        *chunk = 1;
    }
    Ok((shape, chunks))
}

/// Reads `order`.
pub(crate) fn order(value: &Value) -> MetaResult<Order> {
    match value.to_text().as_deref() {
        Ok("C") => Ok(Order::C),
        Ok("F") => Ok(Order::F),
        _ => Err(value.expected("\"C\" or \"F\"").at("/order").into()),
    }
}

/// Reads `filters`. An empty list has the same meaning as null.
fn codecs(value: &Value, limits: &Limits) -> MetaResult<Vec<Codec>> {
    if value.is_null() {
        return Ok(Vec::new());
    }
    let elements = value.elements().ok_or_else(|| value.expected("null or an array"))?;
    let mut codecs = Vec::new();
    for (i, element) in elements.enumerate() {
        if i >= limits.chain_length {
            return Err(MetaError::limit(format!("expected at most {} elements", limits.chain_length)));
        }
        codecs.push(Codec::parse(&element).map_err(|e| e.at(&pointer::element("", i)))?);
    }
    Ok(codecs)
}

/// Reads `dimension_separator`.
fn separator(members: &Object, sink: &mut dyn Sink) -> MetaResult<char> {
    const PLACE: &str = "/dimension_separator";
    let Some(value) = members.get(SEPARATOR) else { return Ok('.') };
    if value.is_null() {
        let message = "expected \".\" or \"/\", found null, read as if it were absent";
        sink.report(Diagnostic::new(Code::NullSeparator, PLACE, message))?;
        return Ok('.');
    }
    match value.to_text().as_deref() {
        Ok(".") => Ok('.'),
        Ok("/") => Ok('/'),
        _ => Err(value.expected("\".\" or \"/\"").at(PLACE).into()),
    }
}
