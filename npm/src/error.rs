//! Errors as objects of JavaScript with the members `message`, `code`, `node`, `chunk` and `key`.

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::JsValue;
use zarr_array::ArrayError;
use zarr_array::traits::StoreError;
use zarr_hierarchy::HierarchyError;

/// The result of a call from JavaScript.
pub(crate) type JsResult<T> = Result<T, JsValue>;

/// Returns the object of an error of an array.
pub(crate) fn of_array(e: &ArrayError) -> JsValue {
    let chunk = e.chunk().map(|chunk| Array::from_iter(chunk.iter().map(|i| number(*i))));
    let chunk = chunk.map_or(JsValue::UNDEFINED, JsValue::from);
    object(&[
        ("message", format!("{e:#}").into()),
        ("code", format!("{:?}", e.kind()).into()),
        ("node", optional(e.array())),
        ("chunk", chunk),
        ("key", optional(e.key())),
    ])
}

/// Returns the object of an error of a hierarchy.
pub(crate) fn of_hierarchy(e: &HierarchyError) -> JsValue {
    object(&[
        ("message", format!("{e:#}").into()),
        ("code", format!("{:?}", e.kind()).into()),
        ("node", optional(e.node())),
        ("key", optional(e.array_error().key())),
    ])
}

/// Returns the object of an error of a store.
pub(crate) fn of_store(e: StoreError) -> JsValue {
    let key = optional(e.key());
    let e = ArrayError::from(e);
    object(&[("message", format!("{e:#}").into()), ("code", format!("{:?}", e.kind()).into()), ("key", key)])
}

/// Returns the object of an error in the arguments of a call.
pub(crate) fn wrong(message: &str) -> JsValue {
    object(&[("message", message.into()), ("code", "InvalidArgument".into())])
}

/// Returns an object with these members.
pub(crate) fn object(members: &[(&str, JsValue)]) -> JsValue {
    let object = Object::new();
    for (name, value) in members {
        // A new object accepts every member.
        let _ = Reflect::set(&object, &JsValue::from_str(name), value);
    }
    object.into()
}

/// Returns a number of JavaScript, which is exact up to 2^53.
#[allow(clippy::cast_precision_loss, reason = "lengths of arrays that a browser can read are smaller")]
pub(crate) fn number(n: u64) -> JsValue {
    JsValue::from_f64(n as f64)
}

fn optional(text: Option<&str>) -> JsValue {
    text.map_or(JsValue::UNDEFINED, JsValue::from_str)
}
