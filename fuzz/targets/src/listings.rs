//! Listings of buckets. A listing names each key below its prefix once, in order, or is an error. It takes a request for
//! each page. A delete of a prefix deletes nothing outside of it.
//!
//! The first byte of an input selects the service and the call. The rest are pages, which end with a zero byte.

use zarr_conformance::server::{Fault, HttpRequest};
use zarr_traits::{Key, Prefix, Storage, StoreResult, block_on};

use crate::services::{SERVICES, check_error};

/// The last page of a listing, of any service.
const END: &str = "<ListBucketResult><Blobs/></ListBucketResult>";

pub(crate) fn run(input: &[u8]) {
    let Some((&first, pages)) = input.split_first() else { return };
    let (service, call) = (usize::from(first % 3), first / 3 % 3);
    let pages: Vec<_> = pages.split(|byte| *byte == 0).map(page).collect();
    let count = pages.len();
    let requests = SERVICES.requests(pages, Some(page(END.as_bytes())), || {
        let prefix = Prefix::new("a/").expect("a prefix");
        let store = &SERVICES.stores[service];
        let done = match call {
            0 => list_all(store, &prefix),
            1 => list_dir(store, &prefix),
            _ => block_on(store.delete_prefix(&prefix)),
        };
        if let Err(e) = done {
            check_error(&e, input);
        }
    });
    let is_listing = |request: &&HttpRequest| request.method == "GET";
    let listings = requests.iter().filter(is_listing).count();
    assert!(listings <= count + 1, "{listings} requests for {count} pages");
    requests.iter().for_each(check_delete);
}

fn page(text: &[u8]) -> Fault {
    Fault::answer(200, &[("Content-Type", "application/xml")], text.to_vec())
}

fn list_all(store: &Storage, prefix: &Prefix) -> StoreResult<()> {
    let listed = block_on(store.list_all(prefix))?;
    check_keys(prefix, listed.iter().map(|listed| &listed.key));
    Ok(())
}

fn list_dir(store: &Storage, prefix: &Prefix) -> StoreResult<()> {
    let dir = block_on(store.list_dir(prefix))?;
    check_keys(prefix, dir.objects.iter().map(|listed| &listed.key));
    assert!(dir.prefixes.is_sorted_by(|a, b| a < b), "{:?} are not in order", dir.prefixes);
    let names =
        dir.objects.iter().map(|listed| listed.key.as_str()).chain(dir.prefixes.iter().map(Prefix::as_str));
    for name in names {
        let rest = name.strip_prefix(prefix.as_str()).expect("it is below the prefix");
        assert!(!rest.trim_end_matches('/').contains('/'), "{name:?} is not directly below the prefix");
    }
    Ok(())
}

fn check_keys<'a>(prefix: &Prefix, keys: impl Iterator<Item = &'a Key> + Clone) {
    assert!(keys.clone().is_sorted_by(|a, b| a < b), "the keys are not in order, or not unique");
    for key in keys {
        assert!(key.as_str().starts_with(prefix.as_str()), "{key:?} is not below the prefix");
    }
}

/// Checks that a request deletes only objects below the prefix: one in its path, or several in its body.
fn check_delete(request: &HttpRequest) {
    let body = String::from_utf8_lossy(&request.body);
    let path =
        (request.method == "DELETE").then(|| request.path.strip_prefix("/bucket/").unwrap_or_default());
    let of_s3 = body.split("<Key>").skip(1);
    let of_azure = body.split("DELETE /bucket/").skip(1);
    for key in path.into_iter().chain(of_s3).chain(of_azure) {
        assert!(key.starts_with("a/"), "{key:?} is deleted");
    }
}

/// Pages as the services send them, and hostile ones.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let s3 = |keys: &[&str], prefixes: &[&str], token: &str| {
        let entry = |key: &&str| {
            format!(
                "<Contents><Key>{key}</Key><LastModified>2026-11-20T10:00:00.000Z</LastModified><ETag>&quot;9a0364b9\
                 &quot;</ETag><Size>1</Size><StorageClass>STANDARD</StorageClass></Contents>"
            )
        };
        let folder = |prefix: &&str| format!("<CommonPrefixes><Prefix>{prefix}</Prefix></CommonPrefixes>");
        let next = match token {
            "" => "<IsTruncated>false</IsTruncated>".to_owned(),
            _ => format!(
                "<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>"
            ),
        };
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
             <Name>bucket</Name><Prefix>a/</Prefix><KeyCount>1</KeyCount>{next}{}{}</ListBucketResult>",
            keys.iter().map(entry).collect::<String>(),
            prefixes.iter().map(folder).collect::<String>()
        )
    };
    let azure = |keys: &[&str], prefixes: &[&str], token: &str| {
        let entry = |key: &&str| {
            format!(
                "<Blob><Name>{key}</Name><Properties><Last-Modified>Fri, 20 Nov 2026 10:00:00 GMT</Last-Modified>\
                 <Etag>0x8D1</Etag><Content-Length>1</Content-Length><Content-Type>text/plain</Content-Type>\
                 </Properties></Blob>"
            )
        };
        let folder = |prefix: &&str| format!("<BlobPrefix><Name>{prefix}</Name></BlobPrefix>");
        format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ContainerName=\"bucket\"><Prefix>a/</Prefix>\
             <Blobs>{}{}</Blobs><NextMarker>{token}</NextMarker></EnumerationResults>",
            keys.iter().map(entry).collect::<String>(),
            prefixes.iter().map(folder).collect::<String>()
        )
    };
    let pages: [&dyn Fn(&[&str], &[&str], &str) -> String; 3] = [&s3, &s3, &azure];
    let mut seeds = Vec::new();
    for (service, page) in (0..).zip(pages) {
        let hostile =
            ["a/..", "a//b", "/a/b", "a/&#46;&#x2e;/b", "a/\u{202e}", "a/b&amp;c", "z", "a/b\\c", "a/c/"];
        let keys = page(&["a/0", "a/1/x"], &[], "");
        let scripts = [
            vec![page(&["a/0", "a/1/x"], &[], "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J="), page(&["a/2"], &[], "")],
            vec![page(&["a/0"], &["a/1/"], "t"), page(&["a/2"], &["a/1/", "a/3/"], "u")],
            vec![page(&["a/0", "a/0", "a/1"], &["a/b/", "a/b/"], "")],
            vec![page(&["a/1", "a/0"], &[], "")],
            vec![page(&hostile, &hostile, "")],
            vec![page(&[], &[], "t"), page(&[], &[], "t")],
            vec![keys.replace(">1<", ">0<")],
            vec![keys.replace(">1<", ">18446744073709551616<")],
            vec![keys.replace(">false</", ">true</")],
            vec![keys.replace("2026", "99999")],
            vec![keys.replacen("?>", "?><!DOCTYPE a [<!ENTITY b \"&b;&b;\">]>", 1).replace("a/0", "a/&b;")],
            vec![keys[..keys.len() / 2].to_owned()],
            vec!["<html><body>Please log in</body></html>".to_owned()],
            vec![r#"{"kind": "storage#objects", "items": [{"name": "a/0", "size": "1"}]}"#.to_owned()],
        ];
        for (script, call) in scripts.iter().flat_map(|script| (0..3).map(move |call| (script, call))) {
            seeds.push([&[call * 3 + service][..], script.join("\0").as_bytes()].concat());
        }
    }
    seeds
}
