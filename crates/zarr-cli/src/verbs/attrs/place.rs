//! The place of a value in attributes: the name of an attribute, or a JSON pointer (RFC 6901).
//!
//! A text that begins with a slash is a pointer, unless an attribute has this name.

use zarr_array::meta::json::{Object, Value};

/// Returns the value at `place`.
pub(super) fn get(attributes: &Object, place: &str) -> Option<Value> {
    if let Some(value) = attributes.get(place) {
        return Some(value);
    }
    let mut value = attributes.to_value();
    for token in tokens(place)? {
        value = match value.elements() {
            Some(mut elements) => elements.nth(token.parse().ok()?)?,
            None => value.as_object()?.get(&token)?,
        };
    }
    Some(value)
}

/// Sets the value at `place`, or removes it for `None`. A pointer may name a new member of an object, and `-` the end of
/// a list. Returns `None`, and changes nothing, if there is no such place.
#[must_use]
pub(super) fn set(attributes: &mut Object, place: &str, value: Option<&Value>) -> Option<()> {
    let is_name = attributes.contains(place);
    match (tokens(place).filter(|_| !is_name), value) {
        (Some(tokens), value) => change_member(attributes, &tokens, value)?,
        (None, Some(value)) => attributes.set(place, value),
        (None, None) => drop(attributes.remove(place)?),
    }
    Some(())
}

/// Returns the steps of a pointer.
fn tokens(pointer: &str) -> Option<Vec<String>> {
    let steps = pointer.strip_prefix('/')?.split('/');
    Some(steps.map(|token| token.replace("~1", "/").replace("~0", "~")).collect())
}

/// Returns `whole` with another value behind the steps, or without one. The depth is bounded by that of `whole`.
fn changed(whole: &Value, tokens: &[String], value: Option<&Value>) -> Option<Value> {
    let Some((token, rest)) = tokens.split_first() else { return value.cloned() };
    if let Some(elements) = whole.elements() {
        let mut elements: Vec<Value> = elements.collect();
        let at = if token == "-" { elements.len() } else { token.parse().ok()? };
        match (elements.get_mut(at), rest, value) {
            (Some(_), [], None) => drop(elements.remove(at)),
            (Some(element), ..) => *element = changed(element, rest, value)?,
            (None, [], Some(value)) if token == "-" => elements.push(value.clone()),
            _ => return None,
        }
        return Some(elements.into());
    }
    let mut object = whole.as_object()?;
    change_member(&mut object, tokens, value)?;
    Some(object.into())
}

/// Changes what is behind the steps in an object. The other members keep their bytes.
fn change_member(object: &mut Object, tokens: &[String], value: Option<&Value>) -> Option<()> {
    let (token, rest) = tokens.split_first()?;
    match (object.get(token), rest, value) {
        (_, [], None) => drop(object.remove(token)?),
        (_, [], Some(value)) => object.set(token, value),
        (Some(member), ..) => object.set(token, changed(&member, rest, value)?),
        (None, ..) => return None,
    }
    Some(())
}
