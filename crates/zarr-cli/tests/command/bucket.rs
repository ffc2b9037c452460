//! A server on loopback with one bucket in memory. It speaks enough of S3 for every verb, and as a web server it can be
//! read, but not listed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use md5::{Digest, Md5};

use crate::harness::{Done, zarr};

/// The largest number of names in a page of a listing, as in S3.
const PAGE: usize = 1000;

/// The server. Its threads end with the test process.
pub(crate) struct Bucket {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    objects: BTreeMap<String, Vec<u8>>,
    /// The method and the target of each request.
    log: Vec<(String, String)>,
}

struct Asked {
    method: String,
    /// The key, decoded; empty for the bucket.
    key: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Bucket {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let (address, shared) = (listener.local_addr().unwrap(), Arc::<Mutex<Shared>>::default());
        let state = shared.clone();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let state = state.clone();
                // An error means that the client has closed the connection.
                thread::spawn(move || serve(&connection, &state));
            }
        });
        Self { address, shared }
    }

    /// Puts all files of a directory below `prefix`.
    pub(crate) fn upload(&self, directory: &Path, prefix: &str) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let key = format!("{prefix}/{}", path.file_name().unwrap().to_str().unwrap());
            if path.is_dir() { self.upload(&path, &key) } else { self.put(&key, fs::read(path).unwrap()) }
        }
    }

    pub(crate) fn put(&self, key: &str, value: impl Into<Vec<u8>>) {
        self.shared.lock().unwrap().objects.insert(key.to_owned(), value.into());
    }

    /// Returns the keys of all objects, sorted.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.shared.lock().unwrap().objects.keys().cloned().collect()
    }

    /// Runs a verb on a store of the bucket, and returns the requests as well.
    pub(crate) fn zarr<A: Into<OsString>>(
        &self,
        args: impl IntoIterator<Item = A>,
    ) -> (Done, Vec<(String, String)>) {
        self.shared.lock().unwrap().log.clear();
        let options = ["--anon", "--endpoint", &format!("http://{}", self.address)].map(OsString::from);
        let done = zarr(args.into_iter().map(Into::into).chain(options));
        (done, self.shared.lock().unwrap().log.clone())
    }

    /// Returns the URL of a key for readers of web pages.
    pub(crate) fn web(&self, key: &str) -> String {
        format!("http://{}/bucket/{key}", self.address)
    }
}

fn serve(connection: &TcpStream, shared: &Mutex<Shared>) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut input = BufReader::new(connection);
    while let Some((target, asked)) = read(&mut input)? {
        let answer = {
            let mut shared = shared.lock().unwrap();
            shared.log.push((asked.method.clone(), target));
            answer(&asked, &mut shared.objects)
        };
        let mut text = format!("HTTP/1.1 {} \r\n", answer.status);
        for (name, value) in &answer.headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("Content-Length: {}\r\n\r\n", answer.body.len());
        let mut output = connection;
        output.write_all(text.as_bytes())?;
        if asked.method != "HEAD" {
            output.write_all(&answer.body)?;
        }
    }
    Ok(())
}

fn read(input: &mut impl BufRead) -> io::Result<Option<(String, Asked)>> {
    let mut line = || -> io::Result<String> {
        let mut line = String::new();
        input.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    };
    let first = line()?;
    let [method, target, _] = first.split(' ').collect::<Vec<_>>()[..] else { return Ok(None) };
    let mut headers = BTreeMap::new();
    while let Some((name, value)) = line()?.split_once(':') {
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name.to_owned(), decoded(&value.replace('+', "%20")))
    };
    let key = decoded(path.strip_prefix("/bucket").unwrap().trim_start_matches('/'));
    let query = query.split('&').map(pair).collect();
    Ok(Some((target.to_owned(), Asked { method: method.to_owned(), key, query, headers, body })))
}

/// Decodes the percent-encoding.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).unwrap());
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).unwrap()
}

fn answer(asked: &Asked, objects: &mut BTreeMap<String, Vec<u8>>) -> Answer {
    let plain = |status| Answer { status, headers: Vec::new(), body: Vec::new() };
    let header = |name: &str| asked.headers.get(name).map(String::as_str);
    let tag = |value: &[u8]| {
        let sum: String = Md5::digest(value).iter().map(|byte| format!("{byte:02x}")).collect();
        ("ETag", format!("\"{sum}\""))
    };
    let stored = objects.get(&asked.key);
    match &*asked.method {
        "GET" if asked.query.contains_key("list-type") => listing(&asked.query, objects),
        "GET" | "HEAD" => {
            let Some(value) = stored else { return plain(404) };
            let date = ("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT".to_owned());
            let range = header("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
            let Some((first, last)) = range else {
                return Answer { status: 200, headers: vec![tag(value), date], body: value.clone() };
            };
            let size = value.len();
            let (from, to) = match (first.parse::<usize>(), last.parse::<usize>()) {
                (Ok(from), Ok(last)) => (from.min(size), size.min(last.saturating_add(1))),
                (Ok(from), Err(_)) => (from.min(size), size),
                (Err(_), last) => (size.saturating_sub(last.unwrap()), size),
            };
            if from >= to {
                return plain(416);
            }
            let told = ("Content-Range", format!("bytes {from}-{}/{size}", to - 1));
            Answer { status: 206, headers: vec![tag(value), date, told], body: value[from..to].to_vec() }
        }
        "PUT" if header("if-none-match").is_some() && stored.is_some() => plain(412),
        "PUT" if header("if-match").is_some_and(|wanted| stored.is_none_or(|v| tag(v).1 != wanted)) => {
            plain(412)
        }
        "PUT" if header("x-amz-copy-source").is_some() => {
            let source = decoded(header("x-amz-copy-source").unwrap());
            let value = objects[source.trim_start_matches('/').strip_prefix("bucket/").unwrap()].clone();
            objects.insert(asked.key.clone(), value);
            xml("<CopyObjectResult><ETag>\"tag\"</ETag></CopyObjectResult>".to_owned())
        }
        "PUT" => {
            objects.insert(asked.key.clone(), asked.body.clone());
            Answer { headers: vec![tag(&asked.body)], ..plain(200) }
        }
        "DELETE" => {
            objects.remove(&asked.key);
            plain(204)
        }
        // The deletion of many objects.
        _ => {
            let body = String::from_utf8(asked.body.clone()).unwrap();
            let keys = body.split("<Key>").skip(1).filter_map(|rest| rest.split_once("</Key>"));
            let mut done = String::new();
            for (key, _) in keys {
                objects.remove(key);
                done += &format!("<Deleted><Key>{key}</Key></Deleted>");
            }
            xml(format!("<DeleteResult>{done}</DeleteResult>"))
        }
    }
}

/// Answers `ListObjectsV2`. The token of the next page is its first key.
fn listing(query: &BTreeMap<String, String>, objects: &BTreeMap<String, Vec<u8>>) -> Answer {
    let given = |name: &str| query.get(name).map(String::as_str).unwrap_or_default();
    let (prefix, has_delimiter) = (given("prefix"), query.contains_key("delimiter"));
    let (mut entries, mut folders, mut token) = (String::new(), Vec::new(), String::new());
    let mut count = 0;
    for (key, value) in objects.range(given("continuation-token").to_owned()..) {
        let Some(rest) = key.strip_prefix(prefix).filter(|_| key.as_str() > given("start-after")) else {
            continue;
        };
        if count == PAGE {
            token = format!("<NextContinuationToken>{key}</NextContinuationToken>");
            break;
        }
        match rest.split_once('/').filter(|_| has_delimiter) {
            Some((folder, _)) => folders.push(format!("{prefix}{folder}/")),
            None => {
                count += 1;
                let size = value.len();
                entries += &format!(
                    "<Contents><Key>{key}</Key><LastModified>2026-11-20T10:00:00.000Z</LastModified>\
                     <ETag>\"tag\"</ETag><Size>{size}</Size></Contents>"
                );
            }
        }
    }
    folders.dedup();
    let folders = folders.iter().map(|f| format!("<CommonPrefixes><Prefix>{f}</Prefix></CommonPrefixes>"));
    let truncated = !token.is_empty();
    let folders = folders.collect::<String>();
    xml(format!(
        "<ListBucketResult><Name>bucket</Name><IsTruncated>{truncated}</IsTruncated>{token}{entries}{folders}</ListBucketResult>"
    ))
}

fn xml(body: String) -> Answer {
    Answer { status: 200, headers: vec![("Content-Type", "application/xml".to_owned())], body: body.into() }
}
