//! Storages that run a hook before each operation.

use std::fmt;
use std::future::{poll_fn, ready};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;
use std::time::Duration;

use zarr_hierarchy::zarr_array::Storage;
use zarr_hierarchy::zarr_array::traits::{
    BoxFuture, StoreError, StoreErrorKind, StoreResult,
    store::{Answer, Capabilities, Op, Store},
};

/// The kind of an operation. A listing is a read.
#[derive(PartialEq)]
enum Call {
    Read,
    Write,
}

type Hook = dyn Fn(Call) -> BoxFuture<'static, StoreResult<()>> + Send + Sync;

/// Runs a hook before each operation.
struct Hooked {
    storage: Storage,
    capabilities: Capabilities,
    before: Box<Hook>,
}

impl Hooked {
    fn over<F: Future<Output = StoreResult<()>> + Send + 'static>(
        storage: &Storage,
        capabilities: Capabilities,
        before: impl Fn(Call) -> F + Send + Sync + 'static,
    ) -> Storage {
        let before = Box::new(move |call| -> BoxFuture<'static, _> { Box::pin(before(call)) });
        Storage::from(Self { storage: storage.clone(), capabilities, before })
    }
}

/// A storage whose puts and deletes fail after the first `left` ones.
pub(crate) fn failing(storage: &Storage, left: i64) -> Storage {
    let left = AtomicI64::new(left);
    let before = move |call| {
        let is_gone = call == Call::Write && left.fetch_sub(1, Ordering::Relaxed) <= 0;
        ready(if is_gone { Err(StoreError::new(StoreErrorKind::Io, "the power is gone")) } else { Ok(()) })
    };
    Hooked::over(storage, storage.capabilities(), before)
}

/// A storage without conditional puts.
pub(crate) fn unconditional(storage: &Storage) -> Storage {
    let mut capabilities = storage.capabilities();
    (capabilities.put_create, capabilities.put_if) = (false, false);
    Hooked::over(storage, capabilities, |_| ready(Ok(())))
}

/// A storage that can neither list nor write, like a web server.
pub(crate) fn unlisted(storage: &Storage) -> Storage {
    let capabilities = storage.capabilities().without_list().read_only();
    Hooked::over(storage, capabilities, |_| ready(Ok(())))
}

/// Makes a storage like one in a network, with 8 requests in flight. Returns also the largest number of requests that
/// waited at once.
pub(crate) fn slow(storage: &Storage) -> (Storage, Arc<AtomicUsize>) {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let waited = most.clone();
    let before = move |_| {
        let (now, most) = (now.clone(), waited.clone());
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let mut polls = 0;
            poll_fn(|context| {
                polls += 1;
                context.waker().wake_by_ref();
                if polls > 10 { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        }
    };
    (Hooked::over(storage, Capabilities::remote(8, 0), before), most)
}

/// A local storage. After the first `alone` reads, such as the one that opens a group, reads wait until two of them are
/// under way, and at most some seconds. Returns also the largest number of reads under way at once.
pub(crate) fn meeting(storage: &Storage, alone: usize) -> (Storage, Arc<AtomicUsize>) {
    const LONGEST: Duration = Duration::from_secs(10);
    let most = Arc::new(AtomicUsize::new(0));
    let (met, begun) = (most.clone(), AtomicUsize::new(0));
    let now = Arc::new((Mutex::new(0), Condvar::new()));
    let before = move |_| {
        let (now, met, waits) = (now.clone(), met.clone(), begun.fetch_add(1, Ordering::SeqCst) >= alone);
        async move {
            let (count, changed) = &*now;
            let mut reads = count.lock().unwrap();
            *reads += 1;
            met.fetch_max(*reads, Ordering::SeqCst);
            changed.notify_all();
            let is_alone = |_: &mut usize| waits && met.load(Ordering::SeqCst) < 2;
            *changed.wait_timeout_while(reads, LONGEST, is_alone).unwrap().0 -= 1;
            Ok(())
        }
    };
    (Hooked::over(storage, storage.capabilities(), before), most)
}

impl fmt::Debug for Hooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.storage.fmt(f)
    }
}

impl Store for Hooked {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            let can = self.capabilities;
            match op {
                op if (op.lists() && !can.list) || (op.writes() && !can.write) => return op.unsupported(),
                Op::Read(_) | Op::List(_) | Op::ListDir(_) => (self.before)(Call::Read).await?,
                Op::Head(_) | Op::Sync => {}
                _ => (self.before)(Call::Write).await?,
            }
            self.storage.call(op).await
        })
    }
}
