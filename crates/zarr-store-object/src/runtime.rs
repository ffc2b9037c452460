//! Where requests run: a runtime of tokio that the store owns, so that its futures complete on any executor and on none.

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

/// The runtime that the requests of a store run on. Clones are the same one.
#[derive(Debug, Clone)]
pub struct Runtime(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    handle: Handle,
    /// The thread of a runtime of our own ends when this is dropped.
    _stop: Option<oneshot::Sender<()>>,
}

impl Runtime {
    /// A runtime of its own, with one thread: that thread moves bytes, others decode them.
    ///
    /// # Errors
    /// [`StoreErrorKind::LimitExceeded`] when the system gives no thread.
    pub fn new() -> StoreResult<Self> {
        Self::start(thread::Builder::new().name("zarr-store-object".to_owned()))
    }

    /// A runtime that runs on a thread of `builder`. Threads that tokio starts by itself panic where there are none left.
    fn start(builder: thread::Builder) -> StoreResult<Self> {
        let no_thread = |e: io::Error| {
            StoreError::new(StoreErrorKind::LimitExceeded, "there is no thread for requests").with_source(e)
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(no_thread)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        // Nothing is ever sent: the receiver ends with the sender.
        builder.spawn(move || runtime.block_on(stopped)).map_err(no_thread)?;
        Ok(Self(Arc::new(Inner { handle, _stop: Some(stop) })))
    }

    /// The runtime of the program.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] for one that has a single thread: who blocks that thread to wait for a request
    /// waits for ever.
    pub fn given(handle: Handle) -> StoreResult<Self> {
        if handle.runtime_flavor() == RuntimeFlavor::CurrentThread {
            let message = "a runtime with a single thread cannot run requests: they stop while that thread waits for one";
            return Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
        }
        Ok(Self(Arc::new(Inner { handle, _stop: None })))
    }

    /// Runs `work` there. Dropping what is returned ends it.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = StoreResult<T>> + Send + 'static,
    ) -> Running<T> {
        Running { task: self.0.handle.spawn(work), _runtime: self.clone() }
    }
}

/// Work on the runtime: a future that any executor can poll.
#[derive(Debug)]
pub(crate) struct Running<T> {
    task: JoinHandle<StoreResult<T>>,
    /// It must not end before the work has.
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
    fn what_is_dropped_is_ended() {
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
        panic!("the work goes on");
    }

    #[test]
    fn the_last_handle_may_go_within_async_code() {
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
    fn a_thread_that_the_system_does_not_give_is_an_error() {
        let huge = thread::Builder::new().stack_size(1 << 47);
        assert_eq!(Runtime::start(huge).unwrap_err().kind(), StoreErrorKind::LimitExceeded);
    }
}
