//! A web server and an S3 server for tests. They are in the memory of the test, on a free port of this machine, and have
//! faults as a script says. The program `hostile-server` is the same for an implementation in any language.
//!
//! ```
//! use zarr_conformance::server::{Fault, Server, When, client};
//!
//! let server = Server::http();
//! server.insert("/image/zarr.json", "{}");
//! server.script(When::on("GET", "zarr.json").first(1), Fault::status(503));
//!
//! for expected in [503, 200] {
//!     let answer = client::request(server.address(), "GET", "/image/zarr.json", &[], b"")?;
//!     assert_eq!(answer.status, expected);
//! }
//! assert_eq!(server.requests().len(), 2);
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod client;
mod fault;
mod http;
mod modes;
mod objects;
mod s3;

pub use fault::{Fault, When};
pub use http::HttpRequest;
pub use modes::{MODES, Mode};

use std::io::{self, BufReader};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use zarr_traits::Bytes;
use zarr_traits::lock::unpoisoned;

use self::http::Reply;
use self::objects::{Objects, error};

/// A web server in this process, with objects in memory, on a free port of this machine. It stops on drop.
///
/// Ranges, conditions (`If-Match`, `If-None-Match`) and entity tags work correctly, except for faults from
/// [`script`](Self::script). Every request is logged.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    ReadOnly,
    Writable,
    S3,
}

#[derive(Debug)]
struct Shared {
    protocol: Protocol,
    state: Mutex<State>,
    stopped: Condvar,
}

#[derive(Debug, Default)]
struct State {
    objects: Objects,
    uploads: s3::Uploads,
    script: Vec<(When, Fault)>,
    log: Vec<HttpRequest>,
    /// The number of forgotten requests, so that a request keeps its number.
    forgotten: usize,
    open: Vec<Weak<TcpStream>>,
    stop: bool,
}

impl Server {
    /// Starts a read-only plain web server: `GET` and `HEAD`.
    pub fn http() -> Self {
        Self::start(Protocol::ReadOnly)
    }

    /// Starts a web server that also supports `PUT` and `DELETE`.
    pub fn writable_http() -> Self {
        Self::start(Protocol::Writable)
    }

    /// Starts an S3 server in path style: the path is `/bucket/key`, and every bucket exists. Signatures are not
    /// checked. It supports ListObjectsV2, conditional and multipart `PUT`, and deletes of one or many objects.
    pub fn s3() -> Self {
        Self::start(Protocol::S3)
    }

    /// Starts a read-only web server, or an S3 server, on this port of this machine; 0 for a free one.
    ///
    /// # Errors
    /// If the port is taken.
    pub fn at_port(port: u16, is_s3: bool) -> io::Result<Self> {
        Self::start_at(if is_s3 { Protocol::S3 } else { Protocol::ReadOnly }, port)
    }

    /// # Panics
    /// If this machine has no free port.
    fn start(protocol: Protocol) -> Self {
        Self::start_at(protocol, 0).expect("a free port of this machine")
    }

    fn start_at(protocol: Protocol, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { protocol, state: Mutex::default(), stopped: Condvar::new() });
        let own = Arc::clone(&shared);
        let accepting = Some(thread::spawn(move || own.accept(&listener)));
        Ok(Self { address, shared, accepting })
    }

    /// The address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of a path, which begins with a slash and is encoded.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Puts an object at a path, which begins with a slash and is not encoded.
    pub fn insert(&self, path: &str, value: impl Into<Bytes>) {
        unpoisoned(self.shared.state.lock()).objects.insert(path, value.into(), Vec::new());
    }

    /// Returns the object at a path.
    pub fn get(&self, path: &str) -> Option<Bytes> {
        unpoisoned(self.shared.state.lock()).objects.all.get(path).map(|object| object.bytes.clone())
    }

    /// Removes an object.
    pub fn remove(&self, path: &str) {
        unpoisoned(self.shared.state.lock()).objects.all.remove(path);
    }

    /// Returns the paths of all objects, in order.
    pub fn paths(&self) -> Vec<String> {
        unpoisoned(self.shared.state.lock()).objects.all.keys().cloned().collect()
    }

    /// Adds a fault for requests from now on.
    pub fn script(&self, when: When, fault: Fault) {
        unpoisoned(self.shared.state.lock()).script.push((when, fault));
    }

    /// Removes all faults. Faults that have begun continue.
    pub fn heal(&self) {
        unpoisoned(self.shared.state.lock()).script.clear();
    }

    /// Returns the requests since the start or since [`forget`](Self::forget), in the order of arrival.
    pub fn requests(&self) -> Vec<HttpRequest> {
        unpoisoned(self.shared.state.lock()).log.clone()
    }

    /// Empties the log.
    pub fn forget(&self) {
        let mut state = unpoisoned(self.shared.state.lock());
        state.forgotten += state.log.len();
        state.log.clear();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut state = unpoisoned(self.shared.state.lock());
        state.stop = true;
        for connection in state.open.drain(..).filter_map(|c| c.upgrade()) {
            // Fails only if the connection is closed already.
            let _ = connection.shutdown(Shutdown::Both);
        }
        drop(state);
        self.shared.stopped.notify_all();
        // Wakes the thread that waits for connections. If this fails, the thread has ended.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

impl Shared {
    fn accept(self: Arc<Self>, listener: &TcpListener) {
        for connection in listener.incoming().flatten() {
            let connection = Arc::new(connection);
            let mut state = unpoisoned(self.state.lock());
            if state.stop {
                return;
            }
            state.open.retain(|c| c.strong_count() > 0);
            state.open.push(Arc::downgrade(&connection));
            drop(state);
            let shared = Arc::clone(&self);
            // Errors are connections that the client or `drop` has closed.
            thread::spawn(move || shared.serve(&connection));
        }
    }

    fn serve(&self, connection: &TcpStream) -> io::Result<()> {
        connection.set_nodelay(true)?;
        let mut input = BufReader::new(connection);
        while let Some(request) = HttpRequest::read(&mut input, connection)? {
            let keep_alive = request.keep_alive;
            if !(self.answer(request, connection)? && keep_alive) {
                break;
            }
        }
        Ok(())
    }

    /// Answers a request with its faults. Returns whether the connection can be used again.
    fn answer(&self, mut request: HttpRequest, connection: &TcpStream) -> io::Result<bool> {
        let mut state = unpoisoned(self.state.lock());
        let number = state.forgotten + state.log.len();
        state.log.push(request.clone());
        let faults: Vec<Fault> = state
            .script
            .iter_mut()
            .filter_map(|(when, f)| when.counts(&request).then(|| f.clone()))
            .collect();
        drop(state);
        self.pause(faults.iter().map(Fault::delay).sum())?;

        let mut state = unpoisoned(self.state.lock());
        for fault in &faults {
            fault.before(&mut request, &mut state.objects);
        }
        let mut reply = Reply::new(200);
        if faults.iter().all(Fault::is_applied) {
            reply = self.done(&mut state, &request);
        }
        reply.head_only = request.method == "HEAD";
        for fault in &faults {
            fault.after(&mut reply);
        }
        let index = number.checked_sub(state.forgotten);
        if let Some(logged) = index.and_then(|index| state.log.get_mut(index)) {
            logged.status = reply.seen();
        }
        drop(state);
        reply.send(connection, &|time| self.pause(time))
    }

    /// Answers a request without faults.
    fn done(&self, state: &mut State, request: &HttpRequest) -> Reply {
        if self.protocol == Protocol::S3
            && let Some(reply) = s3::done(&mut state.objects, &mut state.uploads, request)
        {
            return reply;
        }
        match request.method.as_str() {
            "GET" | "HEAD" => state.objects.get(request),
            "PUT" if self.protocol != Protocol::ReadOnly => state.objects.put(request),
            "DELETE" if self.protocol != Protocol::ReadOnly => state.objects.delete(request),
            _ => error(405, "MethodNotAllowed"),
        }
    }

    /// Waits. Returns an error if the server stops meanwhile.
    fn pause(&self, time: Duration) -> io::Result<()> {
        let waited =
            self.stopped.wait_timeout_while(unpoisoned(self.state.lock()), time, |state| !state.stop);
        let (state, _) = unpoisoned(waited);
        if state.stop { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
}
