//! The size and byte order of elements on their way through a list of codecs.

use zarr_traits::{DataType, Layout, Limits};

use crate::diagnostic::Ignore;
use crate::names::changes_type;
use crate::v2::dtype::Scalar;
use crate::v3::Extension;

/// The elements that reach a codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element {
    /// The size of an element in bytes; 1 for elements of variable length.
    pub(crate) size: u64,
    /// Whether the elements have a byte order.
    pub(crate) has_order: bool,
}

impl Element {
    /// The entries of the index of a shard.
    pub(crate) const OF_INDEX: Self = Self { size: 8, has_order: true };

    /// Returns the elements of a data type.
    pub(crate) fn of(data_type: &DataType) -> Self {
        let (size, has_order) = match data_type.layout() {
            Layout::Fixed { size, unit } => (size, unit > 1),
            Layout::Packed { size } => (size, true),
            _ => (1, false),
        };
        Self { size: size as u64, has_order }
    }

    /// Returns the elements that `codec` makes of these. If their type is unknown, they count as having a byte order.
    pub(crate) fn after(self, codec: &Extension) -> Self {
        match changes_type(codec.name()) {
            true => target(codec).unwrap_or(Self { has_order: true, ..self }),
            false => self,
        }
    }
}

/// Returns the elements after a codec that may change their type, or `None` if the type is unknown.
fn target(codec: &Extension) -> Option<Element> {
    let members = codec.configuration();
    let member = match codec.name() {
        "cast_value" => members.get("data_type"),
        "numcodecs.astype" => members.get("encode_dtype"),
        _ => members.get("astype").or_else(|| members.get("dtype")),
    };
    let name = member?;
    let name = name.to_text().ok()?;
    if let Some(data_type) = DataType::core(&name) {
        return Some(Element::of(&data_type));
    }
    let scalar = Scalar::parse(&name, &Limits::default(), &mut Ignore).ok()?;
    Some(Element { size: scalar.size.into(), has_order: scalar.unit() > 1 })
}
