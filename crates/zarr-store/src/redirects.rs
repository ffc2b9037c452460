//! Which redirects of web servers are followed.

/// The hosts to which a web server may redirect a request. For services that open URLs of strangers: a redirect could
/// lead to hosts that only the service can reach.
///
/// A redirect to the host of the URL is always followed, unless it is [`Never`](Self::Never). Redirects into a private
/// network, to this machine and to link-local addresses, where clouds serve credentials, must be allowed by name.
/// A redirect from `https` to `http` is never followed.
///
/// ```
/// # use zarr_store::{Access, Redirects};
/// let access = Access::new().redirects(Redirects::SameHost);
/// let access = access.redirects(Redirects::To(vec!["data.example.org".to_owned()]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Redirects {
    /// All hosts with public addresses. Not public is what the registries of IANA reserve: private, shared, unique local,
    /// loopback and link-local addresses, multicast, documentation and benchmarks; and an address of version 6 that stands
    /// for one of version 4 that is not public. All addresses of a name must be public. Through a proxy, only hosts that are
    /// addresses are judged, because the proxy looks up the names.
    #[default]
    Public,
    /// Only the host of the URL.
    SameHost,
    /// The host of the URL and these hosts, in lower case and without ports. Their addresses may be of any kind.
    To(Vec<String>),
    /// Redirects are not followed.
    Never,
}
