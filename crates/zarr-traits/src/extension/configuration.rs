//! Reading the configuration of an extension: members by type, with a note for each accepted deviation.

use std::borrow::Cow;

use zarr_json::{Member, Number, Object, Value};
use zarr_strided::Dims;

use crate::error::{CodecError, CodecResult};

use super::note::{Note, NoteKind, pointer};

/// The configuration of one extension while it is read.
///
/// Each member that is never requested becomes a note, so that a misspelt member is reported.
///
/// ```
/// # use zarr_traits::{CodecResult, extension::Configuration};
/// fn level(configuration: &mut Configuration<'_>) -> CodecResult<i64> {
///     configuration.integer("level", 0..=9)
/// }
/// ```
#[derive(Debug)]
pub struct Configuration<'a> {
    members: &'a Object,
    used: Vec<&'static str>,
    pub(super) notes: Vec<Note>,
    skipped: Vec<String>,
}

impl<'a> Configuration<'a> {
    /// Reads `members`, the members of the `configuration` object. A missing configuration is an empty object.
    pub fn new(members: &'a Object) -> Self {
        Self { members, used: Vec::new(), notes: Vec::new(), skipped: Vec::new() }
    }

    /// Returns the value of member `name` as it is in the document.
    pub fn get(&mut self, name: &'static str) -> Option<Value> {
        self.used.push(name);
        self.members.get(name)
    }

    /// Records that `member` deviates from the specification but was accepted.
    pub fn note(&mut self, member: &str, message: impl Into<String>) {
        self.note_as(NoteKind::Other, member, message);
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
                Err(CodecError::configuration(format!("unknown member {name:?}")).at(&pointer(&name)))
            }
        }
    }

    fn unknown(&self) -> impl Iterator<Item = Cow<'a, str>> {
        self.members.members().map(Member::name_lossy).filter(|name| !self.used.contains(&&**name))
    }

    /// Adds the notes of an extension at `place`.
    pub(super) fn take_notes(&mut self, place: &str, notes: Vec<Note>) {
        self.notes.extend(notes.into_iter().map(|note| note.below(place)));
    }

    /// Records an accepted deviation of a given kind in `member`.
    pub fn note_as(&mut self, kind: NoteKind, member: &str, message: impl Into<String>) {
        self.notes.push(Note::new(kind, pointer(member), message));
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
        let number = self.whole(name, &value)?;
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
        let read = |value: Value| value.as_bool().ok_or_else(|| wrong(name, &value, "true or false"));
        self.get(name).map(read).transpose()
    }

    /// Returns an optional string.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn optional_string(&mut self, name: &'static str) -> CodecResult<Option<String>> {
        let read = |value: Value| value.as_text().ok_or_else(|| wrong(name, &value, "a string"));
        self.get(name).map(read).transpose()
    }

    /// Returns a required list of integers, each at least 0: one per dimension.
    ///
    /// # Errors
    /// If it is missing or anything else.
    pub fn lengths(&mut self, name: &'static str) -> CodecResult<Dims> {
        let mut lengths = Dims::filled(0, 0);
        for (i, item) in self.list(name)?.iter().enumerate() {
            let length = self.length(name, item).ok_or_else(|| {
                let message = format!("{name}[{i}] is {}, it must be an integer >= 0", item.summary());
                CodecError::configuration(message).at(&format!("{}/{i}", pointer(name)))
            });
            lengths.push(length?);
        }
        Ok(lengths)
    }

    /// Returns a required list.
    ///
    /// # Errors
    /// If it is missing or not a list.
    pub fn list(&mut self, name: &'static str) -> CodecResult<Vec<Value>> {
        let value = self.get(name).ok_or_else(|| missing(name))?;
        value.elements().map(Iterator::collect).ok_or_else(|| wrong(name, &value, "a list"))
    }

    /// Returns a `value` inside member `name` as an integer of at least 0, or `None` if it is not one.
    pub fn length(&mut self, name: &'static str, value: &Value) -> Option<u64> {
        value.as_u64().or_else(|| self.whole(name, value).ok()?.try_into().ok())
    }

    /// Returns all notes, with one for each member that was not requested.
    pub fn finish(mut self) -> Vec<Note> {
        for name in self.unknown().collect::<Vec<_>>() {
            self.note_as(NoteKind::UnknownMember, &name, format!("unknown member {name:?}, ignored"));
        }
        self.notes
    }

    /// Returns a `value` inside member `name` as an integer.
    ///
    /// # Errors
    /// If it is not an integer. `1.0` is accepted with a note.
    pub fn whole(&mut self, name: &'static str, value: &Value) -> CodecResult<i64> {
        let number = value.as_number();
        let whole = number.and_then(Number::to_integer).and_then(|n| i64::try_from(n).ok());
        let whole = whole.ok_or_else(|| wrong(name, value, "an integer"))?;
        // Note a list only once; it may have many items.
        let is_same = |last: &Note| last.kind == NoteKind::IntegerSpelling && last.pointer == pointer(name);
        if !number.is_some_and(Number::is_plain_integer) && !self.notes.last().is_some_and(is_same) {
            let message = format!("{name} is written as {value}, read as an integer");
            self.note_as(NoteKind::IntegerSpelling, name, message);
        }
        Ok(whole)
    }
}

pub(super) fn missing(name: &str) -> CodecError {
    CodecError::configuration(format!("{name} is missing")).at(&pointer(name))
}

pub(super) fn wrong(name: &str, value: &Value, expected: &str) -> CodecError {
    let message = format!("{name} is {}, it must be {expected}", value.summary());
    CodecError::configuration(message).at(&pointer(name))
}

#[cfg(test)]
mod tests {
    use zarr_json::json;

    use super::*;

    #[test]
    fn members_are_read_by_type_and_deviations_are_noted() {
        let value = json!({"level": 5.0, "name": "x", "shape": [1, 2.0], "mis/spelt": 1});
        let members = &value.as_object().unwrap();
        let mut c = Configuration::new(members);
        assert_eq!(c.integer("level", 0..=9).unwrap(), 5); // rule D.09
        assert_eq!(
            format!("{:#}", c.integer("level", 0..=4).unwrap_err()),
            "level is 5, it must be between 0 and 4"
        );
        assert_eq!(format!("{:#}", c.integer("none", 0..=4).unwrap_err()), "none is missing");
        assert_eq!(c.optional_string("name").unwrap().as_deref(), Some("x"));
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
            assert!(Configuration::new(&value.as_object().unwrap()).integer("level", 0..=i64::MAX).is_err());
        }
    }
}
