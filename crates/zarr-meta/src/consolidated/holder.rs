//! The object that holds the consolidated metadata of a group, in either form.

use zarr_traits::Limits;

use super::{ConsolidatedForm, ConsolidatedIndex, DOCUMENT, OBJECT2, remove_inline};
use crate::diagnostic::{Ignore, Sink};
use crate::error::{MetaError, MetaResult};
use crate::text::parse_json;
use crate::v3::GroupDocument;

impl ConsolidatedForm {
    /// Returns the name of the object, which lies directly in the group.
    pub const fn holder(self) -> &'static str {
        match self {
            Self::Inline => DOCUMENT,
            Self::Object => OBJECT2,
        }
    }

    /// Whether `holder`, the content of that object, has consolidated metadata. Returns false for an unreadable group
    /// document.
    pub fn is_held(self, holder: &[u8], limits: &Limits) -> bool {
        match self {
            Self::Object => true,
            Self::Inline => {
                let group = GroupDocument::parse(holder, limits, &mut Ignore);
                group.is_ok_and(|group| group.consolidated().is_some())
            }
        }
    }

    /// Returns the object without consolidated metadata, or `None` if it has no other content.
    ///
    /// # Errors
    /// If the object cannot be read.
    pub fn without(self, holder: &[u8], limits: &Limits) -> MetaResult<Option<String>> {
        match self {
            Self::Object => Ok(None),
            Self::Inline => remove_inline(holder, limits).map(Some),
        }
    }
}

impl ConsolidatedIndex {
    /// Reads an index from the object that holds it. Returns `None` if the document of the group has no consolidated
    /// metadata.
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse) and [`inline`](Self::inline), and if `holder` is not the document of a group.
    pub fn held(
        form: ConsolidatedForm,
        holder: &[u8],
        limits: &Limits,
        sink: &mut dyn Sink,
    ) -> MetaResult<Option<Self>> {
        match form {
            ConsolidatedForm::Object => Self::parse(holder, limits, sink).map(Some),
            ConsolidatedForm::Inline => {
                let metadata = GroupDocument::parse(holder, limits, &mut Ignore)?.consolidated();
                metadata.map(|metadata| Self::inline(&metadata, sink)).transpose()
            }
        }
    }

    /// Returns the object that holds this index. `old` is its present content.
    ///
    /// # Errors
    /// For the inline form: if the document of the group is missing or cannot be read.
    pub fn to_holder(&self, old: Option<&[u8]>, limits: &Limits) -> MetaResult<String> {
        match self.form {
            ConsolidatedForm::Object => Ok(self.to_text()),
            ConsolidatedForm::Inline => {
                self.write_into(old.ok_or_else(|| MetaError::invalid("the group has no document"))?, limits)
            }
        }
    }

    /// Puts a document at a key relative to the group, like [`insert`](Self::insert).
    ///
    /// # Errors
    /// If `text` is not JSON.
    pub fn insert_text(&mut self, key: &str, text: &[u8], limits: &Limits) -> MetaResult<()> {
        self.insert(key, parse_json(text, limits, &mut Ignore)?.root);
        Ok(())
    }
}
