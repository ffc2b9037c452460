//! Whether two values mean the same, whatever their spelling.

use std::collections::HashMap;

use crate::number::Number;
use crate::object::Object;
use crate::value::Value;

impl Value {
    /// Whether both values mean the same in JSON: objects have the same members in any order, numbers the same exact
    /// value and strings the same text. `==` compares the spelling instead.
    ///
    /// ```
    /// use zarr_json::json;
    /// let (a, b) = (json!({ "level": 5, "name": "é" }), json!({ "name": "\u{e9}", "level": 5.0 }));
    /// assert!(a.is_same(&b));
    /// assert_ne!(a, b);
    /// ```
    pub fn is_same(&self, other: &Self) -> bool {
        if self.as_raw() == other.as_raw() {
            return true;
        }
        if let (Some(a), Some(b)) = (self.as_object(), other.as_object()) {
            return a.is_same(&b);
        }
        if let (Some(mut a), Some(mut b)) = (self.elements(), other.elements()) {
            return loop {
                match (a.next(), b.next()) {
                    (None, None) => break true,
                    (Some(a), Some(b)) if a.is_same(&b) => {}
                    _ => break false,
                }
            };
        }
        if let (Some(a), Some(b)) = (self.as_number(), other.as_number()) {
            return is_same_number(a, b);
        }
        matches!((self.text(), other.text()), (Some(a), Some(b)) if a == b)
    }
}

impl Object {
    /// Whether both objects have the same members in any order, each with a value that
    /// [means the same](Value::is_same). The last of several members with one name counts.
    pub fn is_same(&self, other: &Self) -> bool {
        let (a, b) = (last_by_name(self), last_by_name(other));
        a.len() == b.len()
            && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| value.is_same(other)))
    }
}

fn last_by_name(object: &Object) -> HashMap<String, Value> {
    object.members().map(|member| (member.name_value().as_raw().to_owned(), member.value())).collect()
}

/// Zero has one value for each sign.
fn is_same_number(a: Number<'_>, b: Number<'_>) -> bool {
    let (a, b) = (a.decimal(), b.decimal());
    a.negative == b.negative && a.digits == b.digits && (a.digits.is_empty() || a.exponent == b.exponent)
}
