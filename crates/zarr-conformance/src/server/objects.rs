//! Objects by path, with `GET`, `HEAD`, `PUT` and `DELETE` (RFC 9110).

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use zarr_traits::Bytes;

use super::http::{ByteRange, HttpRequest, Reply};

/// The fixed date of all answers. Entity tags distinguish versions.
const DATE: &str = "Thu, 01 Jan 2026 00:00:00 GMT";

#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) bytes: Bytes,
    /// The entity tag. Equal values have equal tags, as in S3.
    pub(crate) tag: String,
    /// The headers from `PUT`, which `GET` returns.
    headers: Vec<(String, String)>,
}

/// Objects by their decoded path, which begins with a slash.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub(crate) all: BTreeMap<String, Object>,
}

impl Objects {
    pub(crate) fn insert(&mut self, path: &str, bytes: Bytes, headers: Vec<(String, String)>) {
        let tag = tag(&bytes);
        self.all.insert(path.to_owned(), Object { bytes, tag, headers });
    }

    /// Answers `GET` and `HEAD`.
    pub(crate) fn get(&self, request: &HttpRequest) -> Reply {
        let Some(object) = self.all.get(&request.path) else { return missing() };
        if let Some(refused) = refused(request, Some(object)) {
            return refused;
        }
        let mut reply = Reply::new(200)
            .with("ETag", &object.tag)
            .with("Last-Modified", DATE)
            .with("Accept-Ranges", "bytes")
            .with("Content-Type", "application/octet-stream");
        for (name, value) in &object.headers {
            reply.set(name, Some(value.clone()));
        }
        reply.body = object.bytes.clone();
        match request.range().filter(|_| request.method == "GET") {
            None => reply,
            Some(range) => ranged(reply, range),
        }
    }

    /// Answers `PUT`.
    pub(crate) fn put(&mut self, request: &HttpRequest) -> Reply {
        if let Some(refused) = refused(request, self.all.get(&request.path)) {
            return refused;
        }
        let kept = |name: &str| {
            name.starts_with("x-amz-meta-") || name == "content-type" || name == "content-encoding"
        };
        let headers = request.headers.iter().filter(|(name, _)| kept(name)).cloned().collect();
        self.insert(&request.path, request.body.clone(), headers);
        Reply::new(200).with("ETag", tag(&request.body))
    }

    /// Copies an object with its headers, and returns its tag. `None`: there is no such object.
    pub(crate) fn copy(&mut self, from: &str, to: &str) -> Option<String> {
        let object = self.all.get(from)?.clone();
        let tag = object.tag.clone();
        self.all.insert(to.to_owned(), object);
        Some(tag)
    }

    /// Answers `DELETE`. The answer is the same for an absent object.
    pub(crate) fn delete(&mut self, request: &HttpRequest) -> Reply {
        if let Some(refused) = refused(request, self.all.get(&request.path)) {
            return refused;
        }
        self.all.remove(&request.path);
        Reply::new(204)
    }
}

/// Returns an answer if the conditions of the request do not hold.
fn refused(request: &HttpRequest, object: Option<&Object>) -> Option<Reply> {
    let holds =
        |tags: &str| object.is_some_and(|o| tags.split(',').any(|t| ["*", &o.tag].contains(&t.trim())));
    if let Some(tags) = request.header("if-match") {
        if object.is_none() {
            return Some(missing());
        }
        if !holds(tags) {
            return Some(error(412, "PreconditionFailed"));
        }
    }
    if request.header("if-none-match").is_some_and(holds) {
        let reading = request.method == "GET" || request.method == "HEAD";
        return Some(if reading { Reply::new(304) } else { error(412, "PreconditionFailed") });
    }
    None
}

/// Returns the part of the whole object in `range`.
fn ranged(whole: Reply, range: ByteRange) -> Reply {
    let size = whole.body.len();
    let (first, end) = match range {
        ByteRange::From(first, last) => (first, last.map_or(size, |last| last.saturating_add(1).min(size))),
        ByteRange::Last(count) => (size.saturating_sub(count), size),
    };
    if first >= end {
        return error(416, "InvalidRange").with("Content-Range", format!("bytes */{size}"));
    }
    let body = whole.body.slice(first..end);
    let reply = Reply { status: 206, body, ..whole };
    reply.with("Content-Range", format!("bytes {first}-{}/{size}", end - 1))
}

pub(crate) fn missing() -> Reply {
    error(404, "NoSuchKey")
}

/// Returns an error in the form of S3. Clients of plain HTTP ignore its body.
pub(crate) fn error(status: u16, code: &str) -> Reply {
    let text = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{code}</Message></Error>");
    Reply::new(status).body("application/xml", text)
}

fn tag(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}
