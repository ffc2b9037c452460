//! A finding of `zarr validate`.

use std::error::Error;
use std::iter;

use zarr_array::Diagnostic;
use zarr_array::meta::json::Object;
use zarr_array::meta::{MetaError, MetaErrorKind, Severity};
use zarr_hierarchy::HierarchyError;
use zarr_store::references::Why;

use crate::colour::Look;
use crate::exit::Exit;
use crate::out::json;
use crate::out::table::count;
use crate::walk::reason;

/// The place of a finding in an array.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The index of the chunk in the grid.
    pub(super) chunk: Option<Vec<u64>>,
    /// The first element of an inner chunk, relative to the chunk.
    pub(super) inner_start: Option<Vec<u64>>,
    pub(super) key: String,
}

/// The object that references of chunks name.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) location: String,
    pub(super) why: Why,
    /// The number of chunks that refer to it.
    pub(super) chunks: u64,
}

impl Target {
    /// Returns the message of a finding.
    pub(super) fn to_text(&self) -> String {
        let why = match self.why {
            Why::Missing => "does not exist",
            Why::Changed => "has changed since the reference was made",
            Why::TooShort => "ends before the bytes of the chunk",
            _ => "is not allowed: allow it, or a folder above it, with `--allow-references`",
        };
        let chunks = if self.chunks == 1 { "refers" } else { "refer" };
        format!("{:?} {why}; {} {chunks} to it", self.location, count(self.chunks, "chunk"))
    }
}

#[derive(Debug)]
pub(super) struct Finding {
    pub(super) weight: Weight,
    /// The exit code of an error.
    pub(super) exit: Exit,
    /// The place of a finding in the chunks of an array.
    pub(super) place: Option<Place>,
    /// The object that the reference of a chunk names.
    pub(super) target: Option<Target>,
    /// The code of a diagnostic (`ZM012`), or the kind of an error (`invalid`).
    pub(super) code: &'static str,
    pub(super) title: &'static str,
    pub(super) pointer: String,
    pub(super) message: String,
    pub(super) explanation: &'static str,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(super) enum Weight {
    /// Neither wrong nor unwise.
    Info,
    /// Valid, but unwise.
    Warning,
    /// Wrong.
    Error,
}

impl From<Severity> for Weight {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Warning => Self::Warning,
            _ => Self::Error,
        }
    }
}

impl Weight {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    pub(super) fn look(self) -> Look {
        match self {
            Self::Info => Look::Heading,
            Self::Warning => Look::Warning,
            Self::Error => Look::Error,
        }
    }
}

impl Finding {
    pub(super) fn of(code: &'static str, pointer: String, message: String) -> Self {
        let (title, explanation) = match code {
            "syntax" => ("not JSON", "The document cannot be parsed. No reader opens this node."),
            "unsupported" => (
                "not supported",
                "The document has another version, or needs a feature that is not implemented here.",
            ),
            "unknown-extension" => (
                "unknown extension",
                "The document uses an extension that is unknown here. The node can be listed and described, but its \
                 elements cannot be read.",
            ),
            "limit" => ("limit exceeded", "The document is larger than the limits allow."),
            "unreadable" => (
                "cannot be read",
                "The store returned an error instead of the document or the list of children.",
            ),
            "interrupted-append" => (
                "interrupted append",
                "A writer died while it stored the new lengths of the arrays, which may differ now, so programs may not \
                 open the group. All elements are stored: the next `zarr append` finishes it, and `zarr rm --unfinished` \
                 undoes it.",
            ),
            "stale" => (
                "stale consolidated metadata",
                "Readers that trust the consolidated metadata do not see the node, or see old metadata. `zarr \
                 consolidate` writes it again.",
            ),
            "corrupt-chunk" => (
                "corrupt chunk",
                "The stored bytes cannot be decoded. Reads of these elements fail; restore the object from a backup.",
            ),
            "checksum" => (
                "wrong checksum",
                "The stored bytes do not match their checksum: they were changed after they were written.",
            ),
            "unreadable-chunk" => (
                "chunk not checked",
                "The chunk was not decoded: the store returned an error, or a limit is exceeded.",
            ),
            "dangling-reference" => (
                "dangling reference",
                "The chunk is in another object, which cannot be read as the reference says. Reads of these elements fail; \
                 bring the object back, or make the references again.",
            ),
            "stray-object" => (
                "stray object",
                "No node has the object. Readers ignore it. But a chunk of an array that was larger or is erased becomes \
                 elements again, if an array gets it: `zarr resize` to the shape that the array has, or an erased object, \
                 prevents that.",
            ),
            "missing-chunks" => (
                "missing chunks",
                "Chunks that are not stored hold only the fill value. This is valid, also where a writer was \
                 interrupted.",
            ),
            _ => (
                "invalid metadata",
                "The document breaks a rule of the specification, and its meaning is not certain.",
            ),
        };
        let (weight, exit, place, target) = (Weight::Error, Exit::Invalid, None, None);
        Self { weight, exit, place, target, code, title, pointer, message, explanation }
    }

    pub(super) fn exits(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    pub(super) fn at(self, place: Place) -> Self {
        Self { place: Some(place), ..self }
    }

    /// Returns a value that sorts findings by chunk and key.
    pub(super) fn order(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// Returns the place of the finding as text behind its code.
    pub(super) fn within(&self) -> String {
        match &self.place {
            None if self.pointer.is_empty() => String::new(),
            None => format!(" at {}", self.pointer),
            Some(Place { key, chunk: None, .. }) => format!(" at key {key:?}"),
            Some(Place { key, chunk: Some(chunk), inner_start }) => {
                let inner = inner_start.as_ref().map(|start| format!(", inner chunk at {start:?}"));
                format!(" in chunk {chunk:?}{} (key {key:?})", inner.unwrap_or_default())
            }
        }
    }

    pub(super) fn to_json(&self) -> Object {
        let mut object = json::object([
            ("severity", self.weight.name().into()),
            ("code", self.code.into()),
            ("title", self.title.into()),
            ("pointer", (&self.pointer).into()),
            ("message", (&self.message).into()),
            ("explanation", self.explanation.into()),
        ]);
        if let Some(target) = &self.target {
            object.set("target", &target.location);
            object.set("reason", target.why.to_string());
            object.set("chunks", target.chunks);
        }
        if let Some(place) = &self.place {
            object.set("key", &place.key);
            if let Some(chunk) = &place.chunk {
                object.set("index", chunk.clone());
            }
            if let Some(start) = &place.inner_start {
                object.set("inner_start", start.clone());
            }
        }
        object
    }

    /// Returns the finding for an error of a node.
    pub(super) fn of_found(e: &HierarchyError, path: &str) -> Self {
        let mut causes = iter::successors(Some(e as &(dyn Error + 'static)), |e| (*e).source());
        match causes.find_map(|e| e.downcast_ref::<MetaError>()) {
            Some(e) => Self::of_error(e, Some(path)),
            None => Self::of("unreadable", String::new(), reason(e, path)),
        }
    }

    pub(super) fn of_error(e: &MetaError, path: Option<&str>) -> Self {
        let code = match e.kind() {
            MetaErrorKind::Syntax => "syntax",
            MetaErrorKind::Unsupported => "unsupported",
            MetaErrorKind::UnknownExtension => "unknown-extension",
            MetaErrorKind::LimitExceeded => "limit",
            _ => "invalid",
        };
        // The report shows node and pointer beside the message.
        let mut message = format!("{e:#}");
        for known in
            [path.map(|path| format!("node {path:?}: ")), Some(format!("member {:?}: ", e.pointer()))]
        {
            message = known.map_or(message.clone(), |known| message.replacen(&known, "", 1));
        }
        Self::of(code, e.pointer().to_owned(), message)
    }
}

impl From<Diagnostic> for Finding {
    fn from(d: Diagnostic) -> Self {
        let Diagnostic { code, pointer, message, .. } = d;
        Self {
            weight: code.severity().into(),
            title: code.title(),
            explanation: code.explanation(),
            ..Self::of(code.id(), pointer, message)
        }
    }
}
