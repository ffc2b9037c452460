//! Accepts connections, as many at a time as [`Bounds`] allow, and runs HTTP on them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::answer::{Served, answer};
use super::patient::Patient;

/// What clients may use together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Connections at a time. Others wait until one ends.
    pub(super) connections: usize,
    /// Reads of the store at a time.
    pub(super) reads: usize,
    /// The time in which a client must send the head of a request, counted from the end of the previous one.
    pub(super) head: Duration,
    /// The time in which a client must take some bytes of an answer.
    pub(super) take: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { connections: 128, reads: 16, head: Duration::from_secs(30), take: Duration::from_secs(60) }
    }
}

/// The longest head of a request, in bytes.
const HEAD: usize = 16 << 10;

/// The most headers of a request.
const HEADERS: usize = 64;

/// The pause after a connection could not be accepted, for example because too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers requests without an end.
pub(super) async fn serve(listener: TcpListener, served: Arc<Served>, bounds: Bounds) {
    let slots = Arc::new(Semaphore::new(bounds.connections));
    // Semaphores are closed only by their owner.
    while let Ok(slot) = slots.clone().acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let served = served.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let served = served.clone();
                async move { Ok::<_, Infallible>(answer(&served, &request).await) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(bounds.head)
                .max_buf_size(HEAD)
                .max_headers(HEADERS)
                .serve_connection(TokioIo::new(Patient::new(stream, bounds.take)), service);
            // The client is gone, too slow, or does not speak HTTP; it has been told if it still listens.
            let _ = connection.await;
            drop(slot);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Mutex;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use zarr_array::traits::{Key, Prefix};
    use zarr_array::{Storage, block_on};
    use zarr_store::MemoryStore;

    use super::super::page::Page;
    use super::*;
    use crate::target::Target;

    /// Runs a test against a server with these bounds. It serves an object "large" of 64 MiB.
    fn with<F: Future<Output = ()>>(bounds: Bounds, test: impl FnOnce(SocketAddr) -> F) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let storage = Storage::from(MemoryStore::new());
            block_on(storage.put(&Key::new("large").unwrap(), vec![0; 64 << 20])).unwrap();
            let target = Target::over(storage.clone());
            let page = Arc::new(Page { target, drawing: Mutex::default() });
            let served =
                Served { storage, root: Prefix::root(), origins: Vec::new(), only_this_machine: true, page };
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(serve(listener, Arc::new(served), bounds));
            test(address).await;
        });
    }

    const GET: &[u8] = b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n";

    #[test]
    fn clients_that_do_not_finish_a_request_are_disconnected() {
        let bounds = Bounds { connections: 2, head: Duration::from_millis(50), ..Bounds::default() };
        with(bounds, |address| async move {
            let mut slow = Vec::new();
            for start in [&b""[..], b"G", b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"GET / HTTP/1.1\r\nX"] {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(start).await.unwrap();
                slow.push(stream);
            }
            // Every one of them is closed, although only two are served at a time.
            for stream in &mut slow {
                let _ = stream.read_to_end(&mut Vec::new()).await;
            }
        });
    }

    #[test]
    fn clients_that_take_no_bytes_are_disconnected() {
        let bounds = Bounds { connections: 1, take: Duration::from_millis(50), ..Bounds::default() };
        with(bounds, |address| async move {
            let mut slow = TcpStream::connect(address).await.unwrap();
            slow.write_all(GET).await.unwrap();
            // Only one connection is served, so this answer shows that the first has ended.
            let mut next = TcpStream::connect(address).await.unwrap();
            next.write_all(b"HEAD /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                .await
                .unwrap();
            let mut head = String::new();
            next.read_to_string(&mut head).await.unwrap();
            assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("content-length: 67108864"), "{head}");
            let mut taken = Vec::new();
            let _ = slow.read_to_end(&mut taken).await;
            assert!(taken.len() < 64 << 20);
        });
    }
}
