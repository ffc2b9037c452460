//! Documents of format 1, which are read but never written.
//!
//! The rules are in [Zarr v1](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/format-1.md).

use zarr_traits::Limits;

use crate::diagnostic::{Capped, Code, Diagnostic, Sink};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Object, Value, ValueKind};
use crate::root::Root;
use crate::text::parse_json;
use crate::v2::{self, Array, Codec, Order};
use crate::v3::required;

/// Reads `meta` and returns the array of format 2 that has the same chunks. Members that format 1 does not define are
/// ignored.
pub(crate) fn parse(
    bytes: &[u8],
    literal: bool,
    limits: &Limits,
    sink: &mut dyn Sink,
) -> MetaResult<(Root, Array)> {
    let root = Root::new(parse_json(bytes, limits, sink)?)?;
    let sink: &mut dyn Sink = &mut Capped::new(sink);
    let members = &root.members;
    v2::format(members, 1, sink)?;
    let (shape, chunks) = v2::shapes(members, limits, sink)?;
    if shape.is_empty() {
        // The key of the only chunk would be empty.
        let message = "arrays of format 1 without dimensions are not supported, their chunk has no key";
        return Err(MetaError::new(MetaErrorKind::Unsupported, message).at("/shape"));
    }
    let compression = required(members, "/compression")?;
    let compressor = compressor(&compression, &required(members, "/compression_opts")?, sink)?;
    let mut order = v2::order(&required(members, "/order")?)?;
    let dtype = required(members, "/dtype")?;
    let fill_value = required(members, "/fill_value")?;
    let blosc = compressor.as_ref().is_some_and(|c| c.id == "blosc");
    if order == Order::F && shape.len() > 1 && !blosc {
        // zarr-python 1 passed a copy in C order to the compressors, but wrote F.
        if !literal {
            order = Order::C;
        }
        let how = if literal { "F, as the specification says" } else { "C, as zarr-python 1 wrote it" };
        let message = format!("order \"F\" with compression {compression}, read as {how}");
        sink.report(Diagnostic::new(Code::OrderOfVersion1, "/order", message))?;
    }
    let array =
        Array { shape, chunks, dtype, compressor, fill_value, order, filters: Vec::new(), separator: '.' };
    Ok((root, array))
}

/// Returns the compressor of format 2 that encodes the same bytes.
fn compressor(name: &Value, options: &Value, sink: &mut dyn Sink) -> MetaResult<Option<Codec>> {
    const PLACE: &str = "/compression";
    let mut alias = |message: &str| sink.report(Diagnostic::new(Code::CompressionAlias, PLACE, message));
    if name.is_null() {
        alias("expected \"none\", found null")?;
        return Ok(None);
    }
    let id = name.to_text().map_err(|e| e.at(PLACE))?;
    let id = match &*id {
        "none" => return Ok(None),
        "gzip" => {
            alias("\"gzip\" stands for \"zlib\"")?;
            "zlib"
        }
        other => other,
    };
    let configuration = options_of(id, options).map_err(|e| e.at("/compression_opts"))?;
    Ok(Some(Codec { id: id.to_owned(), configuration }))
}

/// Returns the options as members, with the defaults of zarr-python 1.
fn options_of(id: &str, options: &Value) -> MetaResult<Object> {
    let mut configuration = Object::new();
    match (id, options.kind()) {
        ("zlib" | "bz2", ValueKind::Null) => configuration.set("level", 1),
        ("zlib" | "bz2", ValueKind::Number) => configuration.set("level", options),
        ("zlib" | "bz2", _) => return Err(options.expected("a level").into()),
        (_, ValueKind::Null) => {}
        (_, ValueKind::Object) => configuration = options.as_object().unwrap_or_default(),
        // The options of an unknown compression are unknown as well, so keep them.
        ("blosc" | "lzma", _) => return Err(options.expected("null or an object").into()),
        _ => configuration.set("compression_opts", options),
    }
    if id == "lzma" {
        let plain = configuration.get("filters").is_none_or(|f| f.is_null());
        for (name, value) in [("format", 1), ("check", 0), ("preset", 1)] {
            if !configuration.contains(name) && (plain || name != "preset") {
                configuration.set(name, value);
            }
        }
    }
    Ok(configuration)
}
