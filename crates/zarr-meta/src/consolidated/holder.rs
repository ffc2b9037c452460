//! The object that holds the consolidated metadata of a group, whichever form that has.

use zarr_traits::Limits;

use super::{DOCUMENT, Form, Index, OBJECT2, remove_inline};
use crate::diagnostic::{Ignore, Sink};
use crate::error::{MetaError, MetaResult};
use crate::json::Document;
use crate::v3::GroupDocument;

impl Form {
    /// The name of the object, directly in the group.
    pub const fn holder(self) -> &'static str {
        match self {
            Self::Inline => DOCUMENT,
            Self::Object => OBJECT2,
        }
    }

    /// Whether an object of that name holds some. The document of a group that cannot be read holds none that anybody trusts.
    pub fn is_held(self, holder: &[u8], limits: &Limits) -> bool {
        match self {
            Self::Object => true,
            Self::Inline => {
                let group = GroupDocument::parse(holder, limits, &mut Ignore);
                group.is_ok_and(|group| group.consolidated().is_some())
            }
        }
    }

    /// The object without consolidated metadata; nothing where all of it is that.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn without(self, holder: &[u8], limits: &Limits) -> MetaResult<Option<String>> {
        match self {
            Self::Object => Ok(None),
            Self::Inline => remove_inline(holder, limits).map(Some),
        }
    }
}

impl Index {
    /// From the object that holds it; nothing for the document of a group that has none.
    ///
    /// # Errors
    /// As [`parse`](Self::parse) and [`inline`](Self::inline), and when the document of a group is none.
    pub fn held(form: Form, holder: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Option<Self>> {
        match form {
            Form::Object => Self::parse(holder, limits, sink).map(Some),
            Form::Inline => {
                let metadata = GroupDocument::parse(holder, limits, &mut Ignore)?.consolidated();
                metadata.map(|metadata| Self::inline(&metadata, sink)).transpose()
            }
        }
    }

    /// The object that holds this one, in the place of `old`.
    ///
    /// # Errors
    /// When it lies in the document of a group, and that is not there or cannot be read.
    pub fn to_holder(&self, old: Option<&[u8]>, limits: &Limits) -> MetaResult<String> {
        match self.form {
            Form::Object => Ok(self.to_text()),
            Form::Inline => {
                self.write_into(old.ok_or_else(|| MetaError::invalid("the group is gone"))?, limits)
            }
        }
    }

    /// Puts a document at a key relative to the group, as [`insert`](Self::insert).
    ///
    /// # Errors
    /// When the text is no JSON.
    pub fn insert_text(&mut self, key: &str, text: &[u8], limits: &Limits) -> MetaResult<()> {
        self.insert(key, Document::parse(text, limits, &mut Ignore)?.root);
        Ok(())
    }
}
