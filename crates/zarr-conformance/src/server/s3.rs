//! Further operations of S3: lists, bulk deletes, copies, multipart uploads.
//!
//! Sources: the pages ListObjectsV2, DeleteObjects, CopyObject, CreateMultipartUpload, UploadPart, CompleteMultipartUpload
//! and AbortMultipartUpload of the Amazon S3 API Reference.

use std::collections::{BTreeMap, BTreeSet};

use zarr_traits::Bytes;

use super::http::{HttpRequest, Reply, decoded, encoded};
use super::objects::{Objects, error, missing};

/// The open multipart uploads.
#[derive(Debug, Default)]
pub(crate) struct Uploads {
    begun: usize,
    open: BTreeMap<String, Upload>,
}

#[derive(Debug, Default)]
struct Upload {
    /// User metadata of the object, from the first request.
    headers: Vec<(String, String)>,
    /// Parts by their number.
    parts: BTreeMap<u32, Bytes>,
}

const COPY_SOURCE: &str = "x-amz-copy-source";

const NAMESPACE: &str = "http://s3.amazonaws.com/doc/2006-03-01/";

/// Returns an answer if the request is one of these operations.
pub(crate) fn done(objects: &mut Objects, uploads: &mut Uploads, request: &HttpRequest) -> Option<Reply> {
    let has = |name: &str| request.parameter(name).is_some();
    let whole_bucket = !request.path.trim_matches('/').contains('/');
    Some(match request.method.as_str() {
        "GET" if whole_bucket && has("list-type") => list(objects, request),
        "PUT" | "HEAD" if whole_bucket => Reply::new(200),
        "POST" if has("delete") => delete_many(objects, request),
        "POST" if has("uploads") => begin(uploads, request),
        "POST" if has("uploadId") => complete(objects, uploads, request),
        "PUT" if request.header(COPY_SOURCE).is_some() => copy(objects, request),
        "PUT" if has("uploadId") => part(uploads, request),
        "DELETE" if has("uploadId") => {
            let known = request.parameter("uploadId").and_then(|id| uploads.open.remove(id));
            if known.is_some() { Reply::new(204) } else { no_upload() }
        }
        _ => return None,
    })
}

/// Answers ListObjectsV2. The continuation token is the last listed key or common prefix.
fn list(objects: &Objects, request: &HttpRequest) -> Reply {
    let parameter = |name: &str| request.parameter(name).unwrap_or_default();
    let (prefix, delimiter) = (parameter("prefix"), parameter("delimiter"));
    let after = request.parameter("continuation-token").unwrap_or(parameter("start-after"));
    let most = request.parameter("max-keys").and_then(|n| n.parse().ok()).unwrap_or(1000).min(1000);
    let in_url = parameter("encoding-type") == "url";
    let shown = |text: &str| escaped(&if in_url { encoded(text) } else { text.to_owned() });

    let bucket = format!("/{}/", request.path.trim_matches('/'));
    let (mut items, mut last, mut count, mut truncated) = (String::new(), String::new(), 0, false);
    let mut groups = BTreeSet::new();
    for (path, object) in &objects.all {
        let Some(key) = path.strip_prefix(&bucket) else { continue };
        let Some(rest) = key.strip_prefix(prefix) else { continue };
        let cut = if delimiter.is_empty() { None } else { rest.find(delimiter) };
        let group = cut.map(|at| &key[..prefix.len() + at + delimiter.len()]);
        let name = group.unwrap_or(key);
        if name <= after || groups.contains(name) {
            continue;
        }
        if count == most {
            truncated = true;
            break;
        }
        count += 1;
        last = name.to_owned();
        if group.is_some() {
            groups.insert(name.to_owned());
            items += &format!("<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", shown(name));
        } else {
            items += &format!(
                "<Contents><Key>{}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>\
                 <ETag>{}</ETag><Size>{}</Size><StorageClass>STANDARD</StorageClass></Contents>",
                shown(name),
                escaped(&object.tag),
                object.bytes.len(),
            );
        }
    }
    let token = format!("<NextContinuationToken>{}</NextContinuationToken>", escaped(&last));
    xml(
        "ListBucketResult",
        &format!(
            "<Name>{}</Name><Prefix>{}</Prefix><KeyCount>{count}</KeyCount><MaxKeys>{most}</MaxKeys>\
             <IsTruncated>{truncated}</IsTruncated>{}{items}",
            escaped(bucket.trim_matches('/')),
            shown(prefix),
            if truncated { &token } else { "" },
        ),
    )
}

/// Answers CopyObject.
fn copy(objects: &mut Objects, request: &HttpRequest) -> Reply {
    let source = decoded(request.header(COPY_SOURCE).unwrap_or_default());
    let path = format!("/{}", source.trim_start_matches('/'));
    match objects.copy(&path, &request.path) {
        Some(tag) => xml("CopyObjectResult", &format!("<ETag>{}</ETag>", escaped(&tag))),
        None => missing(),
    }
}

/// Answers DeleteObjects.
fn delete_many(objects: &mut Objects, request: &HttpRequest) -> Reply {
    let bucket = format!("/{}/", request.path.trim_matches('/'));
    let mut deleted = String::new();
    for key in elements(&String::from_utf8_lossy(&request.body), "Key") {
        objects.all.remove(&format!("{bucket}{key}"));
        deleted += &format!("<Deleted><Key>{}</Key></Deleted>", escaped(&key));
    }
    xml("DeleteResult", &deleted)
}

fn begin(uploads: &mut Uploads, request: &HttpRequest) -> Reply {
    uploads.begun += 1;
    let id = format!("upload-{}", uploads.begun);
    let headers = request.headers.iter().filter(|(name, _)| name.starts_with("x-amz-meta-")).cloned();
    uploads.open.insert(id.clone(), Upload { headers: headers.collect(), ..Upload::default() });
    let (bucket, key) = request.path.trim_start_matches('/').split_once('/').unwrap_or_default();
    xml(
        "InitiateMultipartUploadResult",
        &format!("<Bucket>{}</Bucket><Key>{}</Key><UploadId>{id}</UploadId>", escaped(bucket), escaped(key)),
    )
}

fn part(uploads: &mut Uploads, request: &HttpRequest) -> Reply {
    let upload = request.parameter("uploadId").and_then(|id| uploads.open.get_mut(id));
    let number = request.parameter("partNumber").and_then(|n| n.parse().ok());
    let (Some(upload), Some(number)) = (upload, number) else { return no_upload() };
    upload.parts.insert(number, request.body.clone());
    Reply::new(200).with("ETag", format!("\"part-{number}\""))
}

/// Answers CompleteMultipartUpload with the parts in the request, under the conditions of a `PUT`.
fn complete(objects: &mut Objects, uploads: &mut Uploads, request: &HttpRequest) -> Reply {
    let id = request.parameter("uploadId").unwrap_or_default();
    let Some(upload) = uploads.open.get(id) else { return no_upload() };
    let mut body = Vec::new();
    for number in elements(&String::from_utf8_lossy(&request.body), "PartNumber") {
        let Some(part) = number.parse().ok().and_then(|n: u32| upload.parts.get(&n)) else {
            return error(400, "InvalidPart");
        };
        body.extend_from_slice(part);
    }
    let headers = [conditions(request), upload.headers.clone()].concat();
    let whole = HttpRequest { body: body.into(), headers, ..request.clone() };
    let put = objects.put(&whole);
    match put.header("etag") {
        Some(tag) => {
            uploads.open.remove(id);
            xml("CompleteMultipartUploadResult", &format!("<ETag>{}</ETag>", escaped(tag)))
        }
        None => put,
    }
}

/// Returns the headers with conditions. The content type is that of the list of parts, not of the object.
fn conditions(request: &HttpRequest) -> Vec<(String, String)> {
    request.headers.iter().filter(|(name, _)| name.starts_with("if-")).cloned().collect()
}

fn no_upload() -> Reply {
    error(404, "NoSuchUpload")
}

fn xml(root: &str, inside: &str) -> Reply {
    let text =
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?><{root} xmlns=\"{NAMESPACE}\">{inside}</{root}>");
    Reply::new(200).body("application/xml", text)
}

const ENTITIES: [(&str, &str); 5] =
    [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&apos;")];

fn escaped(text: &str) -> String {
    ENTITIES.iter().fold(text.to_owned(), |text, (plain, entity)| text.replace(plain, entity))
}

/// Returns the texts of the elements of this name, which contain no elements.
fn elements(document: &str, name: &str) -> Vec<String> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let inside = document.split(&open).skip(1).filter_map(|rest| rest.split(&close).next());
    let plain = |text: &str| {
        ENTITIES.iter().rev().fold(text.to_owned(), |text, (plain, entity)| text.replace(entity, plain))
    };
    inside.map(plain).collect()
}
