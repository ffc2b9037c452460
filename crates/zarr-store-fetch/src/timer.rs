//! Pauses and time limits, by `setTimeout`.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use js_sys::{Function, Promise};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    // A number in browsers, an object in Node.
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(call: &Function, milliseconds: i32) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);
}

/// A running timer, which is stopped when it is dropped.
struct Timer(JsValue);

impl Drop for Timer {
    fn drop(&mut self) {
        clear_timeout(&self.0);
    }
}

/// Waits.
pub(crate) async fn sleep(time: Duration) {
    let milliseconds = i32::try_from(time.as_millis()).unwrap_or(i32::MAX);
    let mut timer = None;
    let promise = Promise::new(&mut |done, _| timer = Some(Timer(set_timeout(&done, milliseconds))));
    // This promise is never rejected.
    let _ = JsFuture::from(promise).await;
}

/// Returns the result of `work`, or `None` if it takes longer than `limit`.
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    match select(pin!(work), pin!(sleep(limit))).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => None,
    }
}
