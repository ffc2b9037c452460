//! A document whose value is an object.

use crate::error::MetaResult;
use crate::json::{Document, Object, Value};

/// A document whose value is an object, for editing member by member.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    document: Document,
    pub(crate) members: Object,
}

impl Root {
    /// # Errors
    /// If the value is not an object.
    pub(crate) fn new(document: Document) -> MetaResult<Self> {
        let members = document.root.as_object().ok_or_else(|| document.root.expected("an object"))?;
        Ok(Self { document, members })
    }

    /// Returns a document for a new object, indented by four spaces for each level like documents of Python in formats
    /// 1 and 2.
    pub(crate) fn laid_out(object: &Value) -> Self {
        let document = Document::from(object.laid_out_by(4));
        let members = document.root.as_object().unwrap_or_default();
        Self { document, members }
    }

    /// Returns the text of the document. Every byte that was not edited is as it was read.
    pub(crate) fn to_text(&self) -> String {
        let mut document = self.document.clone();
        document.root = self.members.to_value();
        document.to_text()
    }
}
