//! Attributes in a document of their own.

use zarr_traits::Limits;

use crate::diagnostic::{Below, Code, Diagnostic, Sink};
use crate::documents::DocumentName;
use crate::error::{MetaError, MetaResult};
use crate::json::{Object, Value};
use crate::root::Root;
use crate::text::parse_json;
use crate::v3;

/// The attributes of a node of format 2 or 1. If the document cannot be read, the node can still be opened.
#[derive(Debug, Clone)]
pub(crate) enum Attributes {
    /// The node has no document of attributes.
    Absent,
    Read(Root),
    Broken(MetaError),
}

impl Attributes {
    pub(crate) fn parse(
        name: DocumentName,
        bytes: Option<&[u8]>,
        limits: &Limits,
        sink: &mut dyn Sink,
    ) -> MetaResult<Self> {
        let Some(bytes) = bytes else { return Ok(Self::Absent) };
        let mut notes: Vec<Diagnostic> = Vec::new();
        let read = parse_json(bytes, limits, &mut notes).and_then(|document| {
            if document.root.is_null() {
                let message = "expected an object, found null, read as {}";
                notes.push(Diagnostic::new(Code::NullAttributes, "", message));
                return Ok(Self::Absent);
            }
            Root::new(document).map(Self::Read)
        });
        match read {
            Ok(attributes) => {
                let mut below = Below::member("/attributes", sink);
                notes.into_iter().try_for_each(|note| below.report(note))?;
                Ok(attributes)
            }
            Err(e) => {
                let message = format!("{name} cannot be read, the node is opened without attributes: {e:#}");
                sink.report(Diagnostic::new(Code::BrokenAttributes, "/attributes", message))?;
                let message = format!("{name} cannot be read");
                Ok(Self::Broken(MetaError::new(e.kind(), message).with_source(e)))
            }
        }
    }

    /// Returns these attributes for writing. Empty attributes have no document.
    pub(crate) fn new(attributes: &Object) -> Self {
        match attributes.is_empty() {
            true => Self::Absent,
            false => Self::Read(Root::laid_out(&attributes.to_value())),
        }
    }

    pub(crate) fn object(&self) -> Object {
        match self {
            Self::Read(root) => root.members.clone(),
            _ => Object::new(),
        }
    }

    pub(crate) fn error(&self) -> Option<&MetaError> {
        match self {
            Self::Broken(e) => Some(e),
            _ => None,
        }
    }

    pub(crate) fn set(&mut self, attributes: &Value) -> MetaResult<()> {
        let attributes = v3::writable(attributes)?.as_object().unwrap_or_default();
        if let Self::Broken(e) = self {
            return Err(e.clone());
        }
        *self = Self::new(&attributes);
        Ok(())
    }

    pub(crate) fn edit<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> MetaResult<R> {
        match self {
            Self::Broken(e) => Err(e.clone()),
            Self::Read(root) => {
                let result = change(&mut root.members);
                if root.members.is_empty() {
                    *self = Self::Absent;
                }
                Ok(result)
            }
            Self::Absent => {
                let mut members = Object::new();
                let result = change(&mut members);
                *self = Self::new(&members);
                Ok(result)
            }
        }
    }

    /// Returns the document to store. Returns `None` if the stored document cannot be read, so that it stays.
    pub(crate) fn document(&self, name: DocumentName) -> Option<(DocumentName, Option<String>)> {
        match self {
            Self::Broken(_) => None,
            Self::Absent => Some((name, None)),
            Self::Read(root) => Some((name, Some(root.to_text()))),
        }
    }

    pub(crate) fn lint(&self, sink: &mut dyn Sink) -> MetaResult<()> {
        v3::lint_attributes(&self.object(), sink)
    }
}
