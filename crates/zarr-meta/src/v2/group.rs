//! The document `.zgroup`.

use zarr_traits::Limits;

use super::Attributes;
use crate::diagnostic::{Capped, Code, Diagnostic, Sink};
use crate::documents::DocumentName;
use crate::error::MetaResult;
use crate::json::{Object, pointer};
use crate::root::Root;
use crate::text::parse_json;

/// A group of format 2.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    root: Root,
    pub(crate) attributes: Attributes,
}

impl Group {
    pub(crate) fn new() -> Self {
        let mut members = Object::new();
        members.set("zarr_format", 2);
        Self { root: Root::laid_out(&members.to_value()), attributes: Attributes::Absent }
    }

    pub(crate) fn parse(
        bytes: &[u8],
        attributes: Option<&[u8]>,
        limits: &Limits,
        sink: &mut dyn Sink,
    ) -> MetaResult<Self> {
        let parsed = Self::members(bytes, limits, sink);
        let root = parsed.map_err(|e| e.in_document(DocumentName::Group2.as_str()))?;
        let attributes = Attributes::parse(DocumentName::Attributes2, attributes, limits, sink)?;
        Ok(Self { root, attributes })
    }

    fn members(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Root> {
        let root = Root::new(parse_json(bytes, limits, sink)?)?;
        let sink: &mut dyn Sink = &mut Capped::new(sink);
        super::format(&root.members, 2, sink)?;
        for member in root.members.members().filter(|m| m.name_lossy() != "zarr_format") {
            let place = pointer::join("", &member.name_lossy());
            let message = "a group of format 2 has no other member than zarr_format, kept and ignored";
            sink.report(Diagnostic::new(Code::GroupMember, place, message))?;
        }
        Ok(root)
    }

    pub(crate) fn documents(&self) -> Vec<(DocumentName, Option<String>)> {
        let group = (DocumentName::Group2, Some(self.root.to_text()));
        [group].into_iter().chain(self.attributes.document(DocumentName::Attributes2)).collect()
    }
}
