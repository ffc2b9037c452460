//! JSON texts within limits, and their deviations as diagnostics.

use crate::Limits;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Sink};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{DeviationKind, Document, JsonError, JsonErrorKind};

/// Reads a JSON text. Tolerated deviations are reported to `sink`.
///
/// # Errors
/// [`Syntax`](MetaErrorKind::Syntax) with the position if `bytes` is not a JSON text,
/// [`LimitExceeded`](MetaErrorKind::LimitExceeded) if it is larger or nested deeper than `limits` allow, and those
/// of `sink`.
pub fn parse_json(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Document> {
    if bytes.len() as u64 > limits.metadata_bytes {
        let (size, most) = (bytes.len(), limits.metadata_bytes);
        return Err(MetaError::limit(format!("the document has {size} bytes, more than {most}")));
    }
    let mut deviations = Vec::new();
    let document = Document::parse(bytes, limits.json_depth, &mut deviations);
    for deviation in deviations {
        sink.report(Diagnostic::new(code(deviation.kind), deviation.pointer, deviation.message))?;
    }
    Ok(document?)
}

fn code(kind: DeviationKind) -> Code {
    match kind {
        DeviationKind::ByteOrderMark => Code::ByteOrderMark,
        DeviationKind::LoneSurrogate => Code::LoneSurrogate,
        DeviationKind::DuplicateMember => Code::DuplicateMember,
        _ => Code::BareNonFinite,
    }
}

impl From<JsonError> for MetaError {
    fn from(e: JsonError) -> Self {
        let (kind, message) = match e.kind() {
            JsonErrorKind::Syntax => (MetaErrorKind::Syntax, e.message().to_owned()),
            JsonErrorKind::Deviation(kind) => {
                return Diagnostic::new(code(kind), e.pointer(), e.message()).into();
            }
            JsonErrorKind::LimitExceeded => (MetaErrorKind::LimitExceeded, e.message().to_owned()),
            JsonErrorKind::InvalidArgument => (MetaErrorKind::InvalidArgument, e.message().to_owned()),
            _ => (MetaErrorKind::Invalid, e.message().to_owned()),
        };
        let error = Self::new(kind, message).at(e.pointer());
        match e.position() {
            Some(position) => error.with_position(position),
            None => error,
        }
    }
}
