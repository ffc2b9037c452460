//! Credentials and settings for access to stores.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::durability::Durability;
use crate::redirects::Redirects;
use crate::targets::Targets;
use crate::trace::Trace;
use crate::url::redacted;

/// Credentials and settings for access to a store. Everything is optional.
///
/// Environment variables are never read implicitly; pass them with [`environment`](Self::environment()).
///
/// ```
/// # use zarr_store::Access;
/// let access = Access::new().environment(std::env::vars()).region("eu-central-1");
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
#[doc(alias = "credentials")]
pub struct Access {
    /// Whether requests are not signed.
    pub anonymous: bool,
    /// The address of the service, if it is not the usual one: `http://127.0.0.1:9000`.
    pub endpoint: Option<String>,
    /// The region of the service.
    pub region: Option<String>,
    /// The section of the user's configuration files that has the credentials.
    pub profile: Option<String>,
    /// Variables with credentials and settings, named as in the environment of the services' own tools.
    pub environment: BTreeMap<String, String>,
    /// The largest number of requests at once. By default a store finds it by itself.
    pub in_flight: Option<usize>,
    /// The largest number of retries of a request.
    pub retries: Option<u32>,
    /// The longest duration of one operation, with all retries and all pages of a listing. The time that its bytes take
    /// at 100 kB/s is added, and the time that listed names take at 100 names/s.
    ///
    /// Retries share it: an attempt without an answer ends after a third of it, at most 20 s, if another attempt can follow;
    /// the last attempt has all the time that is left. Without retries the only attempt has the whole time.
    pub timeout: Option<Duration>,
    /// Whether a missing place of a store, such as a directory, is created. For writers.
    pub create: bool,
    /// Whether links that lead out of a directory store are refused. For stores of strangers.
    pub confined: bool,
    /// The data that a directory has on the disk when a write to it returns. Other stores ignore it: a service keeps
    /// what it has acknowledged.
    pub durability: Durability,
    /// Whether an object that a web server forbids to read counts as absent: some servers answer 403 instead of 404.
    pub forbidden_is_absent: bool,
    /// The hosts to which a web server may redirect a request.
    pub redirects: Redirects,
    /// Certificates in PEM that are trusted beside those of the system: of a service whose certificate the system does
    /// not know, or of its issuer.
    pub root_certificates: Option<Vec<u8>>,
    /// The places that references of a store may name.
    pub targets: Targets,
    /// The trace of all requests.
    pub trace: Option<Trace>,
}

impl Access {
    /// Returns access without any settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether requests are not signed.
    #[must_use]
    pub fn anonymous(self, anonymous: bool) -> Self {
        Self { anonymous, ..self }
    }

    /// Sets the address of the service.
    #[must_use]
    pub fn endpoint(self, endpoint: impl Into<String>) -> Self {
        Self { endpoint: Some(endpoint.into()), ..self }
    }

    /// Sets the region of the service.
    #[must_use]
    pub fn region(self, region: impl Into<String>) -> Self {
        Self { region: Some(region.into()), ..self }
    }

    /// Sets the section of the user's configuration files.
    #[must_use]
    pub fn profile(self, profile: impl Into<String>) -> Self {
        Self { profile: Some(profile.into()), ..self }
    }

    /// Sets variables with credentials and settings, for example `std::env::vars()`.
    #[must_use]
    #[doc(alias = "credentials")]
    pub fn environment(self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { environment: variables.into_iter().collect(), ..self }
    }

    /// Sets the largest number of requests at once.
    #[must_use]
    pub fn in_flight(self, requests: usize) -> Self {
        Self { in_flight: Some(requests), ..self }
    }

    /// Sets the largest number of retries of a request.
    #[must_use]
    #[doc(alias = "retry")]
    pub fn retries(self, retries: u32) -> Self {
        Self { retries: Some(retries), ..self }
    }

    /// Sets the longest duration of one operation, which all its [retries share](Self#structfield.timeout).
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Sets whether a missing place of a store, such as a directory, is created.
    #[must_use]
    pub fn create(self, create: bool) -> Self {
        Self { create, ..self }
    }

    /// Sets whether links that lead out of a directory store are refused.
    #[must_use]
    pub fn confined(self, confined: bool) -> Self {
        Self { confined, ..self }
    }

    /// Sets what a directory has on the disk when a write to it returns.
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Sets whether an object that a web server forbids to read counts as absent.
    #[must_use]
    pub fn forbidden_is_absent(self, absent: bool) -> Self {
        Self { forbidden_is_absent: absent, ..self }
    }

    /// Sets the hosts to which a web server may redirect a request.
    #[must_use]
    pub fn redirects(self, redirects: Redirects) -> Self {
        Self { redirects, ..self }
    }

    /// Sets certificates in PEM that are trusted beside those of the system.
    #[must_use]
    pub fn root_certificates(self, pem: impl Into<Vec<u8>>) -> Self {
        Self { root_certificates: Some(pem.into()), ..self }
    }

    /// Sets the places that references of a store may name.
    #[must_use]
    pub fn targets(self, targets: Targets) -> Self {
        Self { targets, ..self }
    }

    /// Sets the trace of all requests.
    #[must_use]
    pub fn trace(self, trace: Trace) -> Self {
        Self { trace: Some(trace), ..self }
    }

    /// Returns a variable of `environment`, unless it is empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// Omits credentials: the environment, and the secrets of an endpoint.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("anonymous", &self.anonymous)
            .field("endpoint", &self.endpoint.as_deref().map(redacted))
            .field("region", &self.region)
            .field("profile", &self.profile)
            .finish_non_exhaustive()
    }
}
