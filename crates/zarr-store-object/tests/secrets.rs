//! Credentials are never part of an error, a log line or a record, even for mistyped URLs.

use std::sync::{Arc, Mutex};

use crate::common::{Answer, Server, brief, key, open};
use proptest::prelude::*;
use zarr_store::{Access, Trace};
use zarr_traits::block_on;

/// Returns everything that is shown when a store is opened, and read if it can be opened.
fn shown(url: &str, access: &Access) -> String {
    let records = Arc::new(Mutex::new(String::new()));
    let sink = records.clone();
    let trace = Trace::new(move |request| *sink.lock().unwrap() += &format!("{request:?}"));
    let access = access.clone().trace(trace).retries(0);
    let mut shown = match open(url, &access) {
        Err(e) => format!("{e:#} {e:?}"),
        Ok(storage) => {
            let read = block_on(storage.get(&key("k"), u64::MAX));
            format!("{storage:?} {read:?}")
        }
    };
    shown += &format!("{access:?}");
    shown += &records.lock().unwrap();
    shown
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Secret keys of AWS contain `/` and `+`; passwords contain anything.
    #[test]
    fn a_password_in_a_url_is_never_shown(
        scheme in "s3|gs|az|abfs",
        parts in proptest::collection::vec("[A-Za-z0-9+=:@?#%~-]{6,12}", 1..4),
    ) {
        let secret = parts.join("/");
        let server = Server::new(|_| Answer::new(404));
        let access = brief().anonymous(true).endpoint(server.url(""));
        let url = format!("{scheme}://AKIAUSER:{secret}@bucket/prefix");
        let shown = shown(&url, &access);
        for part in parts.iter().map(String::as_str).chain(["AKIAUSER"]) {
            prop_assert!(!shown.contains(part), "{shown}");
        }
        prop_assert!(server.asked().is_empty(), "credentials in a URL are not sent as a bucket name");
    }

    #[test]
    fn a_password_in_an_endpoint_is_never_shown(
        parts in proptest::collection::vec("[A-Za-z][A-Za-z0-9+=~-]{6,12}", 1..4),
    ) {
        let endpoint = format!("http://AKIAUSER:{}@127.0.0.1:9", parts.join("/"));
        let shown = shown("s3://bucket", &brief().anonymous(true).endpoint(endpoint.clone()));
        let web = shown_web(&endpoint);
        for part in parts.iter().map(String::as_str).chain(["AKIAUSER"]) {
            prop_assert!(!shown.contains(part) && !web.contains(part), "{shown} {web}");
        }
    }
}

fn shown_web(url: &str) -> String {
    shown(&format!("{url}/a?sig=SIGNATURE"), &brief())
}

#[test]
fn signatures_are_never_shown() {
    for (status, location) in [(404, None), (500, None), (302, Some("http://127.0.0.1:9/x?sig=SIGNATURE"))] {
        let server = Server::new(move |_| {
            let answer = Answer::new(status).body("SIGNATURE");
            location.map_or(answer.clone(), |location| answer.header("Location", location))
        });
        let shown = shown_web(&server.url(""));
        assert!(shown.contains("/a/k?…") && !shown.contains("SIGNATURE"), "{shown}");
    }
}
