//! Values of JavaScript belong to one thread, so a future that holds them is not `Send`.

use std::future::Future;
use std::pin::pin;

use futures_channel::oneshot::channel;
use futures_util::future::{Either, select};
use wasm_bindgen_futures::spawn_local;

/// Starts `work` as a task of this thread and returns a future of its result, which is `Send`. If that future is
/// dropped, `work` is dropped as well.
///
/// The result is `None` if the task died.
pub(crate) fn detached<T: Send + 'static>(
    work: impl Future<Output = T> + 'static,
) -> impl Future<Output = Option<T>> + Send {
    let (mut sender, receiver) = channel();
    spawn_local(async move {
        let done = match select(pin!(work), sender.cancellation()).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => return,
        };
        // The caller may have given up in the meantime.
        let _ = sender.send(done);
    });
    async { receiver.await.ok() }
}
