//! Stores of all services. A server in this process answers their requests with the bytes of an input.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use zarr_conformance::server::{Fault, HttpRequest, Server, When};
use zarr_store::{Access, Redirects, Schemes};
use zarr_traits::{Storage, StoreError, block_on};

/// The credentials. No error shows them.
const SECRET: &str = "U0VDUkVU";

pub(crate) static SERVICES: LazyLock<Services> = LazyLock::new(Services::new);

pub(crate) struct Services {
    server: Server,
    /// S3, Google, Azure, a web server.
    pub(crate) stores: [Storage; 4],
}

impl Services {
    fn new() -> Self {
        let server = Server::http();
        let variables = [
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
            ("AWS_SESSION_TOKEN", SECRET),
            ("GOOGLE_BEARER_TOKEN", SECRET),
            ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
            ("AZURE_STORAGE_ACCOUNT_KEY", SECRET),
        ];
        let access = Access::new()
            .environment(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
            .endpoint(server.url(""))
            .redirects(Redirects::SameHost)
            // A retry waits.
            .retries(0)
            // Requests one after the other get the same answers in each run.
            .in_flight(1)
            .timeout(Duration::from_secs(10));
        let schemes = Schemes::new(&[zarr_store_object::SCHEMES]);
        let web = format!("{}?sig={SECRET}", server.url("/bucket"));
        let stores = ["s3://bucket", "gs://bucket", "az://bucket", &web]
            .map(|url| block_on(schemes.open(url, &access)).expect("the URL is valid").storage);
        Self { server, stores }
    }

    /// Runs `work`, and returns its requests. The first of them get these answers in turn, all others get `last`; without
    /// `last` the answers are repeated.
    pub(crate) fn requests(
        &self,
        answers: Vec<Fault>,
        last: Option<Fault>,
        work: impl FnOnce(),
    ) -> Vec<HttpRequest> {
        self.server.heal();
        self.server.forget();
        let (count, repeated) = (answers.len(), last.is_none());
        if let Some(last) = last {
            self.server.script(When::any(), last);
        }
        for (number, answer) in answers.into_iter().enumerate() {
            let when = if repeated { every(number, count) } else { When::any().nth(number + 1) };
            self.server.script(when, answer);
        }
        work();
        self.server.requests()
    }
}

/// Selects the requests whose number, modulo `count`, is `number`.
fn every(number: usize, count: usize) -> When {
    let seen = AtomicUsize::new(0);
    When::matching(move |_| seen.fetch_add(1, Relaxed) % count == number)
}

/// Checks an error: it names the key or prefix, and shows no credentials.
pub(crate) fn check_error(e: &StoreError, input: &[u8]) {
    let text = format!("{e:#}");
    assert!(e.key().is_some(), "the error names no key: {text}");
    let is_sent = input.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
    assert!(is_sent || !text.contains(SECRET), "the error shows credentials: {text}");
}
