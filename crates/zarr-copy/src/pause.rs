//! Lets the program that polls a run act in between.

use std::future::poll_fn;
use std::task::Poll;

/// Returns control to the executor once. Stores in memory and in directories never make a run wait, so without pauses it
/// would end before its future can be dropped.
pub(crate) async fn pause() {
    let mut was_polled = false;
    let pause = poll_fn(|context| {
        if std::mem::replace(&mut was_polled, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    });
    pause.await;
}
