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

/// The resources that all clients together may use.
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

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use zarr_array::traits::{Key, Prefix};
    use zarr_array::{Storage, block_on};
    use zarr_store::MemoryStore;

    use super::super::page::Page;
    use super::*;
    use crate::args::target::Target;

    /// Runs a test against a server with these bounds. It serves an object "large" of 64 MiB.
    fn with<F: Future<Output = ()>>(bounds: Bounds, test: impl FnOnce(SocketAddr) -> F) {
        with_page(bounds, |address, _| test(address));
    }

    fn with_page<F: Future<Output = ()>>(bounds: Bounds, test: impl FnOnce(SocketAddr, Arc<Page>) -> F) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let storage = Storage::from(MemoryStore::new());
            block_on(storage.put(&Key::new("large").unwrap(), vec![0; 64 << 20])).unwrap();
            let target = Target::over(storage.clone());
            let page = Arc::new(Page::new(target));
            let served = Served {
                storage,
                root: Prefix::root(),
                origins: Vec::new(),
                only_this_machine: true,
                page: page.clone(),
            };
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(serve(listener, Arc::new(served), bounds));
            test(address, page).await;
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

    /// Asks for a plane without waiting for the answer.
    async fn ask(address: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = b"GET /.page/plane?path=/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        stream
    }

    /// Waits until `is_so`, for a bounded time.
    async fn until(is_so: impl Fn() -> bool) {
        for _ in 0..5000 {
            if is_so() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("it does not come about");
    }

    #[test]
    fn planes_wait_in_a_short_queue_that_keeps_no_thread_and_no_closed_connection() {
        with_page(Bounds::default(), |address, page| async move {
            // A plane that takes long.
            let slow = page.drawing.hold().await;
            let room = page.drawing.free();
            let mut asked = Vec::new();
            for _ in 0..100 {
                asked.push(ask(address).await);
            }
            // Those beyond the queue are answered at once, and so is a read of an object.
            let mut refused = 0;
            let mut waiting = Vec::new();
            for mut stream in asked {
                let mut answer = String::new();
                let read = stream.read_to_string(&mut answer);
                match tokio::time::timeout(Duration::from_millis(150), read).await {
                    Ok(_) => {
                        assert!(
                            answer.starts_with("HTTP/1.1 503 ") && answer.contains("retry-after: 1"),
                            "{answer}"
                        );
                        refused += 1;
                    }
                    Err(_) => waiting.push(stream),
                }
            }
            assert_eq!((refused, waiting.len(), page.drawing.free()), (100 - room, room, 0));
            let mut reader = TcpStream::connect(address).await.unwrap();
            reader
                .write_all(b"HEAD /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                .await
                .unwrap();
            let mut head = String::new();
            reader.read_to_string(&mut head).await.unwrap();
            assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
            // Clients that go take their places with them, although the slow plane goes on.
            drop(waiting);
            until(|| page.drawing.free() == room).await;
            drop(slow);
            let mut answer = String::new();
            ask(address).await.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
        });
    }
}
