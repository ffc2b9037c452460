//! The tokio runtime of a store, so that its futures complete on any executor.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;

use tokio::runtime::{Builder, Handle, RuntimeFlavor};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use zarr_traits::{StoreError, StoreErrorKind, StoreResult};

/// The runtime for the requests of a store. Clones share it.
#[derive(Debug, Clone)]
pub struct Runtime(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    handle: Handle,
    /// Ends the thread of our own runtime on drop.
    _stop: Option<oneshot::Sender<()>>,
}

impl Runtime {
    /// Starts a runtime with one thread, which moves bytes; other threads decode them.
    ///
    /// # Errors
    /// [`StoreErrorKind::LimitExceeded`] if the system cannot start a thread.
    pub fn new() -> StoreResult<Self> {
        Self::start(thread::Builder::new().name("zarr-store-object".to_owned()))
    }

    /// Starts a runtime on a thread of `builder`. tokio itself panics if it cannot start a thread.
    fn start(builder: thread::Builder) -> StoreResult<Self> {
        let no_thread = |e: io::Error| {
            StoreError::new(StoreErrorKind::LimitExceeded, "cannot start a thread for requests")
                .with_source(e)
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(no_thread)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        // Nothing is ever sent: the receiver ends when the sender is dropped.
        builder.spawn(move || runtime.block_on(stopped)).map_err(no_thread)?;
        Ok(Self(Arc::new(Inner { handle, _stop: Some(stop) })))
    }

    /// Uses a runtime of the program.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] for a runtime with a single thread: a caller that blocks that thread to wait
    /// for a request would wait forever.
    pub fn given(handle: Handle) -> StoreResult<Self> {
        if handle.runtime_flavor() == RuntimeFlavor::CurrentThread {
            let message = "a runtime with one thread cannot run requests: they stop while that thread waits";
            return Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
        }
        Ok(Self(Arc::new(Inner { handle, _stop: None })))
    }

    /// Runs `work` on the runtime. Dropping the returned future ends it.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = StoreResult<T>> + Send + 'static,
    ) -> Running<T> {
        Running { task: self.0.handle.spawn(work), _runtime: self.clone() }
    }
}

/// Work on the runtime, as a future for any executor.
#[derive(Debug)]
pub(crate) struct Running<T> {
    task: JoinHandle<StoreResult<T>>,
    /// Keeps the runtime alive while the work runs.
    _runtime: Runtime,
}

impl<T> Future for Running<T> {
    type Output = StoreResult<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.task).poll(context).map(|done| {
            done.unwrap_or_else(|e| {
                let message =
                    if e.is_panic() { "a request panicked" } else { "the runtime has been shut down" };
                Err(StoreError::new(StoreErrorKind::Io, message))
            })
        })
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use zarr_traits::block_on;

    use super::*;

    #[test]
    fn dropping_the_future_ends_the_work() {
        let runtime = Runtime::new().unwrap();
        let ended = Arc::new(AtomicBool::new(false));
        struct Flag(Arc<AtomicBool>);
        impl Drop for Flag {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        let flag = Flag(ended.clone());
        drop(runtime.run(async move {
            let _flag = flag;
            tokio::time::sleep(Duration::from_secs(600)).await;
            Ok(())
        }));
        for _ in 0..500 {
            if ended.load(Ordering::SeqCst) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the work continues");
    }

    #[test]
    fn the_last_handle_may_be_dropped_in_async_code() {
        let outer = Builder::new_current_thread().build().unwrap();
        let runtime = Runtime::new().unwrap();
        assert_eq!(outer.block_on(async move { runtime.run(async { Ok(7) }).await }).unwrap(), 7);
        assert_eq!(block_on(Runtime::new().unwrap().run(async { Ok(8) })).unwrap(), 8);
    }

    #[test]
    fn a_runtime_of_one_thread_is_refused() {
        let single = Builder::new_current_thread().build().unwrap();
        assert_eq!(
            Runtime::given(single.handle().clone()).unwrap_err().kind(),
            StoreErrorKind::InvalidArgument
        );
    }

    #[test]
    fn a_failure_to_start_a_thread_is_an_error() {
        let huge = thread::Builder::new().stack_size(1 << 47);
        assert_eq!(Runtime::start(huge).unwrap_err().kind(), StoreErrorKind::LimitExceeded);
    }
}
