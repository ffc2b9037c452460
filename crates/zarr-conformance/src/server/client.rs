//! Sends single requests, for tests of the servers and to create buckets.

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::http::{find, headers, line};

/// The answer of a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// The headers: names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The received part of the body.
    pub body: Vec<u8>,
    /// The error, if the body is shorter than the header promised.
    pub broken: Option<io::ErrorKind>,
}

impl HttpAnswer {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Sends one request over a new connection, and waits for the answer.
///
/// `target` is the encoded path with the query. Redirects are not followed.
///
/// # Errors
/// If there is no connection, or no HTTP header within 30 seconds.
pub fn request(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<HttpAnswer> {
    const PATIENCE: Duration = Duration::from_secs(30);
    let mut connection = TcpStream::connect_timeout(&address, PATIENCE)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    if !body.is_empty() || method == "PUT" || method == "POST" {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    connection.write_all(format!("{head}\r\n").as_bytes())?;
    connection.write_all(body)?;
    read(&mut BufReader::new(&connection), method == "HEAD")
}

fn read(input: &mut impl BufRead, head_only: bool) -> io::Result<HttpAnswer> {
    let first = line(input)?;
    let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
    let status = status.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("{first:?}")))?;
    let mut answer = HttpAnswer { status, headers: headers(input)?, body: Vec::new(), broken: None };
    let chunked = answer.header("transfer-encoding") == Some("chunked");
    let length = answer.header("content-length").and_then(|length| length.parse().ok());
    let done = match length {
        _ if head_only => Ok(()),
        _ if chunked => chunks(input, &mut answer.body),
        Some(length) => exactly(input, length, &mut answer.body),
        None => input.read_to_end(&mut answer.body).map(|_| ()),
    };
    answer.broken = done.err().map(|e| e.kind());
    Ok(answer)
}

fn chunks(input: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let length = u64::from_str_radix(&line(input)?, 16).map_err(|_| io::ErrorKind::InvalidData)?;
        exactly(input, length, body)?;
        line(input)?;
        if length == 0 {
            return Ok(());
        }
    }
}

fn exactly(input: &mut impl BufRead, length: u64, body: &mut Vec<u8>) -> io::Result<()> {
    let before = body.len();
    input.by_ref().take(length).read_to_end(body)?;
    let got = (body.len() - before) as u64;
    if got < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}
