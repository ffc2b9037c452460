//! Receives the body of an answer piece by piece, so that it takes no more memory than it may.

use std::time::Duration;

use js_sys::{Error, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStreamDefaultReader, Response};
use zarr_store::http::{HttpFailure, Why};

use crate::answer::Plan;
use crate::timer::within;
use crate::window::Window;

/// Returns the kept bytes of the body, and the number of bytes that have arrived.
pub(crate) async fn receive(
    response: &Response,
    plan: &Plan,
    silence: Duration,
) -> Result<(Vec<u8>, u64), HttpFailure> {
    let mut window = Window::new(plan.keep, plan.expected)?;
    let Some(body) = response.body() else { return Ok(window.finish()) };
    let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
    while !window.is_full() {
        let piece = within(silence, JsFuture::from(reader.read())).await.ok_or_else(silent)?;
        let piece = piece.map_err(|e| broken(&e))?;
        let member = |name: &str| Reflect::get(&piece, &JsValue::from_str(name)).map_err(|e| broken(&e));
        if member("done")?.is_truthy() {
            break;
        }
        let piece: Uint8Array =
            member("value")?.dyn_into().map_err(|_| HttpFailure::new(Why::Wrong, "the body has no bytes"))?;
        let (part, room) = window.room(u64::from(piece.length()))?;
        if room.is_empty() {
            continue;
        }
        // The part lies inside of the piece, whose length is a `u32`.
        let at = |place: u64| u32::try_from(place).unwrap_or(u32::MAX);
        piece.subarray(at(part.start), at(part.end)).copy_to(room);
    }
    Ok(window.finish())
}

/// Returns the failure of a server that sends nothing for too long.
pub(crate) fn silent() -> HttpFailure {
    HttpFailure::new(Why::Broken, "the server sent nothing for too long")
}

/// Returns the failure of a request that JavaScript has given up.
pub(crate) fn broken(e: &JsValue) -> HttpFailure {
    let mut text = "the request failed".to_owned();
    if let Some(e) = e.dyn_ref::<Error>() {
        let code = Reflect::get(&e.cause(), &"code".into()).ok().and_then(|code| code.as_string());
        for said in [Some(String::from(e.message())), code].into_iter().flatten() {
            // A URL may hold a signature.
            if !said.is_empty() && !said.contains("://") {
                text += &format!(": {said}");
            }
        }
    }
    HttpFailure::new(Why::Broken, text)
}
