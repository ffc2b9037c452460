//! Rules about the members of an object, as the sentences of a specification: a table of names and of what their values are.

use zarr_meta::Severity;
use zarr_meta::json::{Object, Value};

/// A rule about a member.
#[derive(Debug)]
pub(super) struct Rule {
    name: &'static str,
    need: Need,
    /// What the value is, for messages: "a text".
    what: &'static str,
    is: fn(&Value) -> bool,
}

/// Whether a member is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Must,
    Should,
    May,
}

/// The member must be there.
pub(super) const fn must(name: &'static str, what: &'static str, is: fn(&Value) -> bool) -> Rule {
    Rule { name, need: Need::Must, what, is }
}

/// The member should be there.
pub(super) const fn should(name: &'static str, what: &'static str, is: fn(&Value) -> bool) -> Rule {
    Rule { name, need: Need::Should, what, is }
}

/// The member may be absent.
pub(super) const fn may(name: &'static str, what: &'static str, is: fn(&Value) -> bool) -> Rule {
    Rule { name, need: Need::May, what, is }
}

/// Tells each rule that an object breaks: an error, or a warning if a member is absent that should be there.
pub(super) fn judge(object: &Object, rules: &[Rule], mut tell: impl FnMut(Severity, String)) {
    for Rule { name, need, what, is } in rules {
        match (object.get(name), need) {
            (Some(value), _) if !is(&value) => {
                tell(Severity::Error, format!("{name} is {}, not {what}", value.to_compact()));
            }
            (None, Need::Must) => tell(Severity::Error, format!("{name} is absent")),
            (None, Need::Should) => tell(Severity::Warning, format!("{name} is absent, and should be there")),
            _ => {}
        }
    }
}

pub(super) fn is_text(value: &Value) -> bool {
    value.to_text().is_ok()
}

pub(super) fn is_name(value: &Value) -> bool {
    value.to_text().is_ok_and(|text| !text.is_empty())
}

pub(super) fn is_bool(value: &Value) -> bool {
    value.as_bool().is_some()
}

pub(super) fn is_object(value: &Value) -> bool {
    value.as_object().is_some()
}

pub(super) fn is_integer(value: &Value) -> bool {
    value.as_integer().is_some()
}

/// Whether a value is an integer of 0 or more.
pub(super) fn is_count(value: &Value) -> bool {
    value.as_u64().is_some()
}

/// Whether a value is an integer of 1 or more.
pub(super) fn is_positive(value: &Value) -> bool {
    value.as_u64().is_some_and(|number| number > 0)
}

pub(super) fn are_numbers(value: &Value) -> bool {
    are(value, |number| number.as_f64().is_some())
}

/// Whether a value is a list of elements that are all alike.
pub(super) fn are(value: &Value, is: impl Fn(&Value) -> bool) -> bool {
    value.elements().is_some_and(|mut list| list.all(|element| is(&element)))
}

/// Whether a value is a list of so many elements.
pub(super) fn has_length(value: &Value, length: usize) -> bool {
    value.elements().is_some_and(|list| list.count() == length)
}

/// Whether a value is a list of objects, and not empty.
pub(super) fn are_objects(value: &Value) -> bool {
    !has_length(value, 0) && are(value, is_object)
}

/// Returns what is not in the rules among the names of members.
pub(super) fn others<'a>(object: &'a Object, known: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    let names = object.members().map(|member| member.name_lossy().into_owned());
    names.filter(|name| !known.contains(&name.as_str()))
}
