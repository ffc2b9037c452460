//! Advice about valid metadata that some implementation cannot read, or reads wrongly.

use crate::RectilinearGrid;
use zarr_traits::extension::ExtensionPoint;

use super::sharding::Sharding;
use super::{ArrayDocument, Extension, GroupDocument};
use crate::diagnostic::{Capped, Code, Diagnostic, Sink};
use crate::error::MetaResult;
use crate::json::{Object, Value, ValueKind, pointer};
use crate::known::{in_zarr_python, is_registered};

/// The largest integer up to which all integers are exact in JavaScript.
const EXACT_IN_A_DOUBLE: i128 = 1 << 53;

impl ArrayDocument {
    /// Reports advice about valid but unwise metadata, of [`Severity::Warning`](crate::Severity::Warning).
    ///
    /// # Errors
    /// Only those of `sink`.
    pub fn lint(&self, sink: &mut dyn Sink) -> MetaResult<()> {
        let sink: &mut dyn Sink = &mut Capped::new(sink);
        data_type(self.data_type(), sink)?;
        extension(self.chunk_grid(), ExtensionPoint::ChunkGrid, "/chunk_grid", sink)?;
        if self.chunk_grid().name() == RectilinearGrid::ENTRY.name() {
            let message = "TensorStore and zarrita do not read chunks of different lengths, zarr-python only if enabled";
            sink.report(Diagnostic::new(Code::RareChunkGrid, "/chunk_grid", message))?;
        }
        extension(self.chunk_key_encoding(), ExtensionPoint::KeyEncoding, "/chunk_key_encoding", sink)?;
        codecs(self.codecs(), "/codecs", sink)?;
        for (i, transformer) in self.storage_transformers().iter().enumerate() {
            let place = pointer::element("/storage_transformers", i);
            extension(transformer, ExtensionPoint::Transformer, &place, sink)?;
        }
        dimension_names(self.dimension_names().unwrap_or_default(), sink)?;
        for (name, _) in self.additional() {
            additional(&name, sink)?;
        }
        attributes(&self.attributes(), sink)
    }
}

impl GroupDocument {
    /// Reports advice about valid but unwise metadata, of [`Severity::Warning`](crate::Severity::Warning).
    ///
    /// # Errors
    /// Only those of `sink`.
    pub fn lint(&self, sink: &mut dyn Sink) -> MetaResult<()> {
        let sink: &mut dyn Sink = &mut Capped::new(sink);
        for (name, _) in self.additional() {
            additional(&name, sink)?;
        }
        attributes(&self.attributes(), sink)
    }
}

fn data_type(data_type: &Extension, sink: &mut dyn Sink) -> MetaResult<()> {
    let name = data_type.name();
    if zarr_traits::DataType::core(name).is_none() {
        if is_registered(ExtensionPoint::DataType, name) && !in_zarr_python(name) {
            let message = format!("zarr-python does not read {name}");
            sink.report(Diagnostic::new(Code::RareDataType, "/data_type", message))?;
        }
        return registered(name, ExtensionPoint::DataType, "/data_type", sink);
    }
    if !data_type.is_short_hand() {
        let message = format!("zarr-python and TensorStore require the plain string {name:?}");
        sink.report(Diagnostic::new(Code::ObjectDataType, "/data_type", message))?;
    }
    if name.starts_with('r') {
        let message = format!("zarr-python and zarrita do not read {name}");
        sink.report(Diagnostic::new(Code::RareDataType, "/data_type", message))?;
    }
    Ok(())
}

/// Checks codecs, also inside of shards.
fn codecs(codecs: &[Extension], place: &str, sink: &mut dyn Sink) -> MetaResult<()> {
    for (i, codec) in codecs.iter().enumerate() {
        let place = pointer::element(place, i);
        extension(codec, ExtensionPoint::Codec, &place, sink)?;
        if let Ok(Some(sharding)) = Sharding::parse(codec) {
            self::codecs(&sharding.codecs, &format!("{place}/configuration/codecs"), sink)?;
            self::codecs(&sharding.index_codecs, &format!("{place}/configuration/index_codecs"), sink)?;
        }
    }
    Ok(())
}

fn extension(
    extension: &Extension,
    point: ExtensionPoint,
    place: &str,
    sink: &mut dyn Sink,
) -> MetaResult<()> {
    if extension.is_short_hand() {
        let message = format!("{:?} is short for an object, which more readers understand", extension.name());
        sink.report(Diagnostic::new(Code::ShortHand, place, message))?;
    }
    if let Some(must) = extension.explicit_must_understand() {
        let message = format!("must_understand: {must} is refused by 3.0 readers");
        sink.report(Diagnostic::new(Code::ExplicitWaiver, place, message))?;
    }
    registered(extension.name(), point, place, sink)
}

/// Checks that a name is registered, and can be: `^[a-z][a-z0-9-_.]+$`.
fn registered(name: &str, point: ExtensionPoint, place: &str, sink: &mut dyn Sink) -> MetaResult<()> {
    let rest = name.strip_prefix(|c: char| c.is_ascii_lowercase()).unwrap_or_default();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    let (code, what) = match !rest.is_empty() && rest.chars().all(plain) {
        true if is_registered(point, name) => return Ok(()),
        true => (Code::UnlistedName, "is not registered"),
        false => (Code::UnregisteredName, "cannot be registered"),
    };
    sink.report(Diagnostic::new(code, place, format!("the name {name:?} of a {point} {what}")))
}

fn dimension_names(names: &[Option<String>], sink: &mut dyn Sink) -> MetaResult<()> {
    for (i, name) in names.iter().enumerate() {
        let Some(name) = name else { continue };
        let place = pointer::element("/dimension_names", i);
        if name.contains('\0') {
            sink.report(Diagnostic::new(Code::NulInText, &*place, "the name contains U+0000"))?;
        }
        if !name.is_empty() && names[..i].iter().flatten().any(|n| n == name) {
            let message =
                format!("{name:?} also names an earlier dimension, TensorStore requires distinct names");
            sink.report(Diagnostic::new(Code::RepeatedDimensionName, place, message))?;
        }
    }
    Ok(())
}

fn additional(name: &str, sink: &mut dyn Sink) -> MetaResult<()> {
    let message = "some readers refuse additional members, put it into attributes";
    sink.report(Diagnostic::new(Code::AdditionalMember, pointer::join("", name), message))
}

/// Checks all attributes, without recursion.
pub(crate) fn attributes(attributes: &Object, sink: &mut dyn Sink) -> MetaResult<()> {
    let mut todo: Vec<(String, Value)> = vec![("/attributes".to_owned(), attributes.to_value())];
    while let Some((place, value)) = todo.pop() {
        match value.kind() {
            ValueKind::Number => {
                let number = value.as_number().filter(|n| n.is_plain_integer());
                let small = |n: i128| (-EXACT_IN_A_DOUBLE..=EXACT_IN_A_DOUBLE).contains(&n);
                if number.is_some_and(|n| !n.to_integer().is_some_and(small)) {
                    let message = format!("JavaScript readers lose digits of {}", value.summary());
                    sink.report(Diagnostic::new(Code::LargeInteger, place, message))?;
                }
            }
            ValueKind::Array => {
                let elements = value.elements().into_iter().flatten();
                todo.extend(elements.enumerate().map(|(i, v)| (pointer::element(&place, i), v)));
            }
            ValueKind::Object => {
                for member in value.as_object().unwrap_or_default().members() {
                    let name = member.name_lossy();
                    let place = pointer::join(&place, &name);
                    if name.contains('\0') {
                        sink.report(Diagnostic::new(Code::NulInText, &*place, "the name contains U+0000"))?;
                    }
                    todo.push((place, member.value()));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
