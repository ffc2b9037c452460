//! A server on loopback that answers each request with a function, counts requests and records them. With a certificate
//! it speaks TLS.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub method: String,
    /// The path and query, as sent.
    pub target: String,
    /// Lower-case names with values.
    pub headers: Vec<(String, String)>,
    /// The body, up to 1 MiB.
    pub body: Vec<u8>,
    /// The length of the body.
    pub length: u64,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Returns a parameter of the query, as sent.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let pairs = self.target.split_once('?')?.1.split('&');
        pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).find(|(n, _)| *n == name).map(|(_, v)| v)
    }

    /// Returns the requested part of an object of `size` bytes: empty if it is outside, `None` without a range.
    pub fn range(&self, size: usize) -> Option<Range<usize>> {
        let (first, last) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some(match (first, last) {
            ("", n) => size.saturating_sub(n.parse().unwrap())..size,
            (first, last) => {
                let end = last.parse().map_or(size, |last: usize| size.min(last.saturating_add(1)));
                first.parse::<usize>().unwrap().min(end)..end
            }
        })
    }

    pub fn is_list(&self) -> bool {
        self.parameter("list-type").is_some() || self.parameter("comp") == Some("list")
    }
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// The `Content-Length`, if it differs from the length of the body.
    declared: Option<usize>,
    /// Whether the body is repeated endlessly: with a `Content-Length` if one is declared, else in chunks.
    endless: bool,
    delay: Duration,
    /// Whether the connection is closed without an answer.
    lost: bool,
}

impl Answer {
    pub fn new(status: u16) -> Self {
        let (headers, body) = (Vec::new(), Vec::new());
        Self { status, headers, body, declared: None, endless: false, delay: Duration::ZERO, lost: false }
    }

    pub fn lost() -> Self {
        Self { lost: true, ..Self::new(0) }
    }

    pub fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// The length of the body.
    pub fn len(&self) -> u64 {
        self.body.len() as u64
    }

    pub fn declared(self, length: usize) -> Self {
        Self { declared: Some(length), ..self }
    }

    pub fn endless(self) -> Self {
        Self { endless: true, ..self }
    }

    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }
}

/// The largest size of an endless body, so that a failing test does not fill the memory.
pub const ENDLESS: u64 = 256 << 20;

type Script = dyn Fn(&Asked) -> Answer + Send + Sync;

#[derive(Default)]
struct Counts {
    log: Mutex<Vec<Asked>>,
    connections: AtomicUsize,
    under_way: AtomicUsize,
    most: AtomicUsize,
    sent: AtomicU64,
    stopped: AtomicBool,
}

/// The server. It ends on drop.
pub struct Server {
    address: SocketAddr,
    scheme: &'static str,
    counts: Arc<Counts>,
}

impl Server {
    pub fn new(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1", script)
    }

    /// Like [`new`](Self::new), on another loopback address.
    pub fn at(host: &str, script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::start(host, None, script)
    }

    /// Like [`new`](Self::new), over TLS.
    pub fn secure(tls: Arc<ServerConfig>, script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::start("127.0.0.1", Some(tls), script)
    }

    fn start(
        host: &str,
        tls: Option<Arc<ServerConfig>>,
        script: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let listener = TcpListener::bind((host, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (script, counts): (Arc<Script>, _) = (Arc::new(script), Arc::<Counts>::default());
        let shared = counts.clone();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if shared.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (script, counts, tls) = (script.clone(), shared.clone(), tls.clone());
                counts.connections.fetch_add(1, Ordering::SeqCst);
                // An error means that the client has closed the connection.
                thread::spawn(move || {
                    connection.set_nodelay(true)?;
                    match tls {
                        None => serve(connection, &*script, &counts),
                        Some(tls) => {
                            let tls = ServerConnection::new(tls).map_err(io::Error::other)?;
                            serve(StreamOwned::new(tls, connection), &*script, &counts)
                        }
                    }
                });
            }
        });
        Self { address, scheme, counts }
    }

    /// Like [`new`](Self::new), with the number of the request, from 0.
    pub fn numbered(script: impl Fn(usize, &Asked) -> Answer + Send + Sync + 'static) -> Self {
        let next = AtomicUsize::new(0);
        Self::new(move |asked| script(next.fetch_add(1, Ordering::SeqCst), asked))
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.counts.log.lock().unwrap().clone()
    }

    /// Returns the number of requests with this method.
    pub fn count(&self, method: &str) -> usize {
        self.asked().iter().filter(|asked| asked.method == method).count()
    }

    /// Returns the number of connections, also of those without a request.
    pub fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::SeqCst)
    }

    /// Returns the largest number of requests at once.
    pub fn most_at_once(&self) -> usize {
        self.counts.most.load(Ordering::SeqCst)
    }

    /// Returns the number of sent bytes of bodies, including those in buffers.
    pub fn sent(&self) -> u64 {
        self.counts.sent.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.counts.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(connection: impl Read + Write, script: &Script, counts: &Counts) -> io::Result<()> {
    let mut connection = BufReader::new(connection);
    while let Some(mut asked) = read_head(&mut connection)? {
        let under_way = counts.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        counts.most.fetch_max(under_way, Ordering::SeqCst);
        read_body(&mut asked, &mut connection)?;
        counts.log.lock().unwrap().push(asked.clone());
        let answer = script(&asked);
        thread::sleep(answer.delay);
        counts.under_way.fetch_sub(1, Ordering::SeqCst);
        if answer.lost || !send(&answer, &asked, connection.get_mut(), counts)? {
            return Ok(());
        }
    }
    Ok(())
}

fn line(input: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    line.truncate(line.trim_end().len());
    Ok(line)
}

fn read_head(input: &mut impl BufRead) -> io::Result<Option<Asked>> {
    let first = line(input)?;
    let [method, target, _] = first.split(' ').collect::<Vec<_>>()[..] else { return Ok(None) };
    let mut asked = Asked { method: method.to_owned(), target: target.to_owned(), ..Asked::default() };
    while let Some((name, value)) = line(input)?.split_once(':') {
        asked.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok(Some(asked))
}

fn read_body(asked: &mut Asked, input: &mut BufReader<impl Read + Write>) -> io::Result<()> {
    if asked.header("expect").is_some() {
        input.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    if asked.header("transfer-encoding").is_none() {
        let length = asked.header("content-length").map_or(0, |length| length.parse().unwrap());
        return take(asked, input, length);
    }
    loop {
        let length = u64::from_str_radix(&line(input)?, 16).unwrap_or(0);
        take(asked, input, length)?;
        line(input)?;
        if length == 0 {
            return Ok(());
        }
    }
}

fn take(asked: &mut Asked, input: &mut impl BufRead, length: u64) -> io::Result<()> {
    let kept = length.min((1 << 20) - asked.body.len() as u64);
    input.by_ref().take(kept).read_to_end(&mut asked.body)?;
    io::copy(&mut input.by_ref().take(length - kept), &mut io::sink())?;
    asked.length += length;
    Ok(())
}

/// Sends the answer. Returns whether the connection can be used again.
fn send(answer: &Answer, asked: &Asked, to: &mut impl Write, counts: &Counts) -> io::Result<bool> {
    let mut head = format!("HTTP/1.1 {} \r\n", answer.status);
    for (name, value) in &answer.headers {
        head += &format!("{name}: {value}\r\n");
    }
    let chunked = answer.endless && answer.declared.is_none();
    head += &match chunked {
        true => "Transfer-Encoding: chunked\r\n\r\n".to_owned(),
        false => format!("Content-Length: {}\r\n\r\n", answer.declared.unwrap_or(answer.body.len())),
    };
    to.write_all(head.as_bytes())?;
    if asked.method == "HEAD" {
        return Ok(true);
    }
    let mut write = |bytes: &[u8]| {
        counts.sent.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        match chunked {
            true => to.write_all(&[format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()),
            false => to.write_all(bytes),
        }
    };
    if !answer.endless {
        write(&answer.body)?;
        return Ok(answer.declared.is_none());
    }
    let piece = answer.body.repeat((64 << 10) / answer.body.len().max(1) + 1);
    for _ in 0..ENDLESS / (64 << 10) {
        write(&piece)?;
    }
    Ok(false)
}
