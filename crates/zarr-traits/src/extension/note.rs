//! Accepted deviations from the specification, and pointers to them.

/// The kind of deviation that a [`Note`] describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// An unknown member of the configuration. It is ignored.
    UnknownMember,
    /// An old name of an extension.
    Alias,
    /// An unknown codec that the document allows to skip. The array can be read but not written.
    SkippedCodec,
    /// `must_understand: false` on an extension that is known, where it has no effect.
    MeaninglessWaiver,
    /// An integer written with a fraction or an exponent.
    IntegerSpelling,
    /// A chunk length of 0 in a dimension of length 0.
    ZeroChunk,
    /// Any other accepted deviation.
    Other,
}

/// A deviation from the specification that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The kind of deviation.
    pub kind: NoteKind,
    /// A JSON pointer to the deviation, relative to the extension object (`/configuration/level`).
    pub pointer: String,
    /// The deviation, and how it was read.
    pub message: String,
}

impl Note {
    /// Returns a note of this kind. `pointer` is a JSON pointer to the deviation, `message` says how it was read.
    pub fn new(kind: NoteKind, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind, pointer: pointer.into(), message: message.into() }
    }

    /// Returns the note with its pointer below `place`, a JSON pointer to what it was relative to.
    #[must_use]
    pub fn below(self, place: &str) -> Self {
        Self { pointer: format!("{place}{}", self.pointer), ..self }
    }

    /// Returns the note that an extension was named by `used`, an old name of `name`, or `None` if both are equal.
    /// `place` is a JSON pointer to the extension.
    pub fn alias(used: &str, name: &str, place: &str) -> Option<Self> {
        let message = || format!("{used:?} is an old name of {name:?}");
        (used != name).then(|| Self::new(NoteKind::Alias, format!("{place}/name"), message()))
    }
}

/// Returns the pointer to a member of the configuration.
pub(super) fn pointer(member: &str) -> String {
    zarr_json::pointer::join("/configuration", member)
}
