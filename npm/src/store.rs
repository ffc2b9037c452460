//! Handles on stores.

use std::time::Duration;

use js_sys::{Array as List, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::future_to_promise;
use zarr_array::Storage;
use zarr_array::traits::store::ReadVersion;
use zarr_array::traits::{ByteRange, Key};
use zarr_store_fetch::{Credentials, FetchStore};

use crate::error::{JsResult, of_store, wrong};
use crate::foreign::Foreign;

/// A store.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Store(Storage);

#[wasm_bindgen]
impl Store {
    /// Returns the store below a URL. `options` has the members that `lib/index.d.ts` describes.
    pub fn web(url: &str, options: &JsValue) -> JsResult<Self> {
        let mut store = FetchStore::new(url).map_err(of_store)?;
        let headers = member(options, "headers");
        for header in headers.dyn_into::<List>().unwrap_or_else(|_| List::new()) {
            let text = |i| Reflect::get_u32(&header, i).ok().and_then(|text| text.as_string());
            let (Some(name), Some(value)) = (text(0), text(1)) else {
                return Err(wrong("a header is not a pair of strings"));
            };
            store = store.with_header(&name, &value).map_err(of_store)?;
        }
        store = match member(options, "credentials").as_string().as_deref() {
            None => store,
            Some("omit") => store.with_credentials(Credentials::Omit),
            Some("same-origin") => store.with_credentials(Credentials::SameOrigin),
            Some("include") => store.with_credentials(Credentials::Include),
            Some(_) => return Err(wrong("credentials are \"omit\", \"same-origin\" or \"include\"")),
        };
        if let Some(retries) = whole(options, "retries")? {
            store = store.with_retries(retries);
        }
        if let Some(milliseconds) = whole(options, "silence")? {
            store = store.with_silence(Duration::from_millis(milliseconds.into()));
        }
        if let Some(requests) = whole(options, "requests")? {
            store = store.with_in_flight(requests as usize);
        }
        store = store.with_forbidden_as_absent(member(options, "forbiddenIsAbsent").is_truthy());
        Ok(Self(store.into()))
    }

    /// Returns a store whose requests are methods of an object.
    pub fn foreign(object: JsValue) -> Self {
        Self(Foreign::start(object).into())
    }

    /// Reads ranges of one version of an object: `{ offset, length }` or `{ suffixLength }`, or `{}` for all of it. The
    /// promise is of a list of bytes, or of `undefined` if there is no object.
    pub fn get(&self, key: &str, ranges: Vec<JsValue>, limit: f64) -> JsResult<Promise> {
        let key = Key::new(key).map_err(of_store)?;
        let ranges = ranges.iter().map(range).collect::<JsResult<Vec<_>>>()?;
        let limit = positive(limit).ok_or_else(|| wrong("the limit is not a length"))?;
        let storage = self.0.clone();
        Ok(future_to_promise(async move {
            let reply = storage.get_ranges(&key, &ranges, ReadVersion::Any, limit).await.map_err(of_store)?;
            let Some(reply) = reply else { return Ok(JsValue::UNDEFINED) };
            Ok(List::from_iter(reply.bytes.iter().map(|bytes| Uint8Array::from(&bytes[..]))).into())
        }))
    }
}

impl Store {
    pub(crate) fn storage(&self) -> Storage {
        self.0.clone()
    }
}

fn range(value: &JsValue) -> JsResult<ByteRange> {
    match (length(value, "suffixLength")?, length(value, "offset")?, length(value, "length")?) {
        (Some(n), None, None) => Ok(ByteRange::Suffix(n)),
        (None, Some(offset), Some(len)) => Ok(ByteRange::Span { offset, len }),
        (None, None, None) => Ok(ByteRange::All),
        _ => Err(wrong("a range has either `offset` and `length` or `suffixLength`")),
    }
}

/// Returns a member of an object, or `undefined`.
pub(crate) fn member(object: &JsValue, name: &str) -> JsValue {
    let is_object = object.is_object() || object.is_instance_of::<js_sys::Function>();
    let found = is_object.then(|| Reflect::get(object, &name.into()).ok()).flatten();
    found.unwrap_or(JsValue::UNDEFINED)
}

/// Returns a member that is a small whole number.
fn whole(object: &JsValue, name: &str) -> JsResult<Option<u32>> {
    let Some(n) = length(object, name)? else { return Ok(None) };
    u32::try_from(n).map(Some).map_err(|_| wrong(&format!("`{name}` is too large")))
}

/// Returns a member that is a whole number.
fn length(object: &JsValue, name: &str) -> JsResult<Option<u64>> {
    let value = member(object, name);
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    let n = value.as_f64().and_then(positive);
    n.map(Some).ok_or_else(|| wrong(&format!("`{name}` is not a whole number of at least 0")))
}

/// Returns a number as a length.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
pub(crate) fn positive(n: f64) -> Option<u64> {
    (n.fract() == 0.0 && (0.0..9e15).contains(&n)).then_some(n as u64)
}
