//! Reading the configuration of an extension: members by type, with a note for each accepted deviation.

use serde_json::{Map, Value};
use zarr_strided::Dims;

use crate::codec::Context;
use crate::dtype::DataType;
use crate::error::{CodecError, CodecErrorKind, CodecResult};
use crate::registry::Spec;

/// The deepest nesting of data types inside data types (structs).
const TYPE_DEPTH: usize = 32;

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
pub struct Note {
    /// The kind of deviation.
    pub kind: NoteKind,
    /// A JSON pointer to the deviation, relative to the extension object (`/configuration/level`).
    pub pointer: String,
    /// The deviation, and how it was read.
    pub message: String,
}

impl Note {
    /// Returns the note that an extension was named by `used`, an old name of `name`, or `None` if both are equal.
    /// `place` is a JSON pointer to the extension.
    pub fn alias(used: &str, name: &str, place: &str) -> Option<Self> {
        let message = format!("{used:?} is an old name of {name:?}");
        (used != name).then(|| Self { kind: NoteKind::Alias, pointer: format!("{place}/name"), message })
    }
}

/// The configuration of one extension while it is read.
///
/// Each member that is never requested becomes a note, so that a misspelt member is reported.
///
/// ```
/// # use zarr_traits::{CodecResult, codec::Configuration};
/// fn level(configuration: &mut Configuration<'_>) -> CodecResult<i64> {
///     configuration.integer("level", 0..=9)
/// }
/// ```
#[derive(Debug)]
pub struct Configuration<'a> {
    members: &'a Map<String, Value>,
    used: Vec<&'static str>,
    notes: Vec<Note>,
    skipped: Vec<String>,
}

impl<'a> Configuration<'a> {
    /// Reads `members`, the members of the `configuration` object. A missing configuration is an empty map.
    pub fn new(members: &'a Map<String, Value>) -> Self {
        Self { members, used: Vec::new(), notes: Vec::new(), skipped: Vec::new() }
    }

    /// Returns the value of member `name` as it is in the document.
    pub fn get(&mut self, name: &'static str) -> Option<&'a Value> {
        self.used.push(name);
        self.members.get(name)
    }

    /// Records that `member` deviates from the specification but was accepted.
    pub fn note(&mut self, member: &str, message: impl Into<String>) {
        self.note_as(NoteKind::Other, member, message);
    }

    /// Builds the codecs of the required list `member`, for a codec that contains others. `build` gets the codecs of
    /// the list, the context one level deeper, and the place for its notes, whose pointers are relative to the list.
    ///
    /// # Errors
    /// If the member is missing, is not a list of codecs or is longer than the limits allow; errors of `build`.
    pub fn codecs<T>(
        &mut self,
        member: &'static str,
        context: &Context<'_>,
        build: impl FnOnce(&[Spec], &Context<'_>, &mut Vec<Note>) -> CodecResult<T>,
    ) -> CodecResult<T> {
        let (specs, mut notes) = self.specs(member, context)?;
        let inside = context.inside();
        let built = build(&specs, &inside, &mut notes);
        self.take_notes(&pointer(member), notes);
        built.map_err(|e| e.at(&pointer(member)))
    }

    /// Returns the codecs of the required list `member`, with notes on accepted deviations.
    fn specs(&mut self, member: &'static str, context: &Context<'_>) -> CodecResult<(Vec<Spec>, Vec<Note>)> {
        let place = pointer(member);
        let value = self.get(member).ok_or_else(|| missing(member))?;
        let list = value.as_array().ok_or_else(|| wrong(member, value, "a list of codecs"))?;
        // Check before any work on the items.
        if list.len() > context.limits.chain_length {
            let message = format!("{} codecs exceed the limit", list.len());
            return Err(CodecError::new(CodecErrorKind::LimitExceeded, message).at(&place));
        }
        let (mut specs, mut notes) = (Vec::with_capacity(list.len()), Vec::new());
        for (i, item) in list.iter().enumerate() {
            let here = format!("/{i}");
            specs.push(extension(item, "codec", &here, &mut notes).map_err(|e| e.at(&here).at(&place))?);
        }
        Ok((specs, notes))
    }

    /// Builds the data type that `value` names, for a type made of other types. `place` is the JSON pointer of `value`
    /// relative to this configuration; notes on accepted deviations get it, too.
    ///
    /// # Errors
    /// If `value` does not name a data type, or types are nested deeper than 32 levels. Pointers of errors begin with
    /// `place`.
    pub fn data_type(&mut self, value: &Value, place: &str, context: &Context<'_>) -> CodecResult<DataType> {
        let place = format!("/configuration{place}");
        let inside = context.inside();
        if inside.depth > TYPE_DEPTH {
            let message = format!("data types are nested deeper than {TYPE_DEPTH} levels");
            return Err(CodecError::new(CodecErrorKind::LimitExceeded, message).at(&place));
        }
        let mut notes = Vec::new();
        let built = extension(value, "data type", "", &mut notes).and_then(|spec| {
            let (data_type, more) = context.registry.data_type(&spec, &inside)?;
            Ok((spec.must_understand, data_type, more))
        });
        let (must_understand, data_type, more) = built.map_err(|e| e.at(&place))?;
        if !must_understand {
            let message = "must_understand: false has no meaning here, ignored".to_owned();
            let pointer = "/must_understand".to_owned();
            notes.push(Note { kind: NoteKind::MeaninglessWaiver, pointer, message });
        }
        notes.extend(more);
        self.take_notes(&place, notes);
        Ok(data_type)
    }

    /// Records unknown codecs that are skipped inside this one. This codec then cannot encode.
    pub fn skip(&mut self, codecs: &[String]) {
        self.skipped.extend_from_slice(codecs);
    }

    /// The names of unknown codecs that are skipped inside this one.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// Fails for members that were not requested, if ignoring one would change the meaning of the others.
    ///
    /// # Errors
    /// If there is such a member.
    pub fn no_more(&self) -> CodecResult<()> {
        match self.unknown().next() {
            None => Ok(()),
            Some(name) => {
                Err(CodecError::configuration(format!("unknown member {name:?}")).at(&pointer(name)))
            }
        }
    }

    fn unknown(&self) -> impl Iterator<Item = &'a String> {
        self.members.keys().filter(|k| !self.used.contains(&k.as_str()))
    }

    /// Adds the notes of an extension at `place`.
    fn take_notes(&mut self, place: &str, notes: Vec<Note>) {
        self.notes.extend(
            notes.into_iter().map(|note| Note { pointer: format!("{place}{}", note.pointer), ..note }),
        );
    }

    /// Records an accepted deviation of a given kind in `member`.
    pub fn note_as(&mut self, kind: NoteKind, member: &str, message: impl Into<String>) {
        self.notes.push(Note { kind, pointer: pointer(member), message: message.into() });
    }

    /// Returns a required integer inside `range`.
    ///
    /// # Errors
    /// If it is missing, is not an integer or is outside `range`. `1.0` is accepted with a note.
    pub fn integer(&mut self, name: &'static str, range: std::ops::RangeInclusive<i64>) -> CodecResult<i64> {
        self.optional_integer(name, range)?.ok_or_else(|| missing(name))
    }

    /// Returns an optional integer inside `range`.
    ///
    /// # Errors
    /// If it is not an integer or is outside `range`.
    pub fn optional_integer(
        &mut self,
        name: &'static str,
        range: std::ops::RangeInclusive<i64>,
    ) -> CodecResult<Option<i64>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = self.whole(name, value)?;
        if range.contains(&number) {
            return Ok(Some(number));
        }
        let message = format!("{name} is {number}, it must be between {} and {}", range.start(), range.end());
        Err(CodecError::configuration(message).at(&pointer(name)))
    }

    /// Returns an optional boolean.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn optional_bool(&mut self, name: &'static str) -> CodecResult<Option<bool>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(b)) => Ok(Some(*b)),
            Some(other) => Err(wrong(name, other, "true or false")),
        }
    }

    /// Returns an optional string.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn optional_string(&mut self, name: &'static str) -> CodecResult<Option<&'a str>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(s)) => Ok(Some(s)),
            Some(other) => Err(wrong(name, other, "a string")),
        }
    }

    /// Returns a required list of integers, each at least 0: one per dimension.
    ///
    /// # Errors
    /// If it is missing or anything else.
    pub fn lengths(&mut self, name: &'static str) -> CodecResult<Dims> {
        let list = self.list(name)?;
        let length =
            |item| self.length(name, item).ok_or_else(|| wrong(name, item, "a list of integers >= 0"));
        list.iter().map(length).collect()
    }

    /// Returns a required list.
    ///
    /// # Errors
    /// If it is missing or not a list.
    pub fn list(&mut self, name: &'static str) -> CodecResult<&'a [Value]> {
        let value = self.get(name).ok_or_else(|| missing(name))?;
        value.as_array().map(Vec::as_slice).ok_or_else(|| wrong(name, value, "a list"))
    }

    /// Returns a `value` inside member `name` as an integer of at least 0, or `None` if it is not one.
    pub fn length(&mut self, name: &'static str, value: &Value) -> Option<u64> {
        value.as_u64().or_else(|| self.whole(name, value).ok()?.try_into().ok())
    }

    /// Returns all notes, with one for each member that was not requested.
    pub fn finish(mut self) -> Vec<Note> {
        let unknown: Vec<&String> = self.unknown().collect();
        for name in unknown {
            self.note_as(NoteKind::UnknownMember, name, format!("unknown member {name:?}, ignored"));
        }
        self.notes
    }

    /// Returns a `value` inside member `name` as an integer.
    ///
    /// # Errors
    /// If it is not an integer. `1.0` is accepted with a note.
    #[allow(clippy::cast_possible_truncation, reason = "the number is whole and inside the range of i64")]
    pub fn whole(&mut self, name: &'static str, value: &Value) -> CodecResult<i64> {
        if let Some(n) = value.as_i64() {
            return Ok(n);
        }
        match value.as_f64() {
            Some(n) if !value.is_u64() && n.fract() == 0.0 && n.abs() < 9e15 => {
                // Note a list only once; it may have many items.
                let is_same =
                    |last: &Note| last.kind == NoteKind::IntegerSpelling && last.pointer == pointer(name);
                if !self.notes.last().is_some_and(is_same) {
                    let message = format!("{name} is written as {value}, read as an integer");
                    self.note_as(NoteKind::IntegerSpelling, name, message);
                }
                Ok(n as i64)
            }
            _ => Err(wrong(name, value, "an integer")),
        }
    }
}

/// Reads an extension object, or the name that stands for one. `what` is its kind in messages, `here` the pointer to it
/// in the notes.
fn extension(item: &Value, what: &str, here: &str, notes: &mut Vec<Note>) -> CodecResult<Spec> {
    let members = match item {
        Value::String(name) => return Ok(Spec::named(name)),
        Value::Object(members) => members,
        _ => return Err(CodecError::configuration(format!("a {what} must be an object with a name"))),
    };
    let Some(Value::String(name)) = members.get("name") else {
        let message = format!("the name of a {what} must be a string");
        return Err(CodecError::configuration(message).at("/name"));
    };
    let configuration = match members.get("configuration") {
        None => Map::new(),
        Some(Value::Object(configuration)) => configuration.clone(),
        Some(_) => {
            let message = format!("the configuration of {what} {name:?} must be an object");
            return Err(CodecError::configuration(message).at("/configuration"));
        }
    };
    let must_understand = match members.get("must_understand") {
        None => true,
        Some(Value::Bool(must)) => *must,
        Some(_) => {
            return Err(
                CodecError::configuration("must_understand must be true or false").at("/must_understand")
            );
        }
    };
    for key in members.keys() {
        if !matches!(key.as_str(), "name" | "configuration" | "must_understand") {
            let pointer = format!("{here}/{}", escape(key));
            let message = format!("unknown member {key:?}, ignored");
            notes.push(Note { kind: NoteKind::UnknownMember, pointer, message });
        }
    }
    Ok(Spec { name: name.clone(), configuration, must_understand })
}

fn pointer(member: &str) -> String {
    format!("/configuration/{}", escape(member))
}

/// Escapes a member for a JSON pointer (RFC 6901).
fn escape(member: &str) -> String {
    member.replace('~', "~0").replace('/', "~1")
}

fn missing(name: &str) -> CodecError {
    CodecError::configuration(format!("{name} is missing")).at(&pointer(name))
}

fn wrong(name: &str, value: &Value, expected: &str) -> CodecError {
    let message = format!("{name} is {}, it must be {expected}", summary(value));
    CodecError::configuration(message).at(&pointer(name))
}

/// Returns `value` as text, cut to 60 characters.
pub fn summary(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn notes_and_errors_of_nested_types_have_a_pointer() {
        let (registry, limits) = (crate::Registry::core(), crate::Limits::default());
        let context = Context::new(&registry, &limits);
        let members = Map::new();
        let mut c = Configuration::new(&members);
        for value in [json!("int32"), json!({"name": "int32"})] {
            assert_eq!(c.data_type(&value, "/of", &context).unwrap(), DataType::Int32); // rule B.t63
        }
        assert_eq!(
            c.data_type(&json!({"name": "binary", "x": 1}), "/of", &context).unwrap(),
            DataType::Bytes
        );
        let pointers: Vec<_> = c.notes.iter().map(|n| &*n.pointer).collect();
        assert_eq!(pointers, ["/configuration/of/x", "/configuration/of/name"]);
        for (value, pointer) in [
            (json!(null), ""),
            (json!({}), "/name"),
            (json!({"name": "int32", "configuration": 1}), "/configuration"),
            (json!({"name": "Int32", "must_understand": false}), ""),
            (json!("Int32"), ""),
        ] {
            let e = c.data_type(&value, "/of", &context).unwrap_err();
            assert_eq!(e.pointer(), format!("/configuration/of{pointer}"), "{e}");
        }
        let deep = Context { depth: TYPE_DEPTH, ..context };
        let e = c.data_type(&json!("int32"), "/of", &deep).unwrap_err();
        assert_eq!(e.kind(), CodecErrorKind::LimitExceeded);
    }

    #[test]
    fn members_are_read_by_type_and_deviations_are_noted() {
        let value = json!({"level": 5.0, "name": "x", "shape": [1, 2.0], "mis/spelt": 1});
        let members = value.as_object().unwrap();
        let mut c = Configuration::new(members);
        assert_eq!(c.integer("level", 0..=9).unwrap(), 5); // rule D.09
        assert_eq!(
            c.integer("level", 0..=4).unwrap_err().to_string(),
            "level is 5, it must be between 0 and 4"
        );
        assert_eq!(c.integer("none", 0..=4).unwrap_err().to_string(), "none is missing");
        assert_eq!(c.optional_string("name").unwrap(), Some("x"));
        assert!(c.optional_bool("name").is_err());
        assert_eq!(c.lengths("shape").unwrap()[..], [1, 2]);
        assert_eq!(c.no_more().unwrap_err().pointer(), "/configuration/mis~1spelt");
        let pointers: Vec<_> = c.finish().into_iter().map(|n| n.pointer).collect();
        assert_eq!(pointers.last().unwrap(), "/configuration/mis~1spelt");
        let mut complete = Configuration::new(members);
        for name in ["level", "name", "shape", "mis/spelt"] {
            complete.get(name);
        }
        assert!(complete.no_more().is_ok());
        for bad in [json!("5"), json!(5.5), json!(null), json!(1e300), json!(u64::MAX), json!(true)] {
            let value = json!({ "level": bad });
            assert!(Configuration::new(value.as_object().unwrap()).integer("level", 0..=i64::MAX).is_err());
        }
    }
}
