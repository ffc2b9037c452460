//! Which redirects of web servers are followed.

use std::net::Ipv6Addr;
use std::str::FromStr;

use zarr_traits::{StoreError, StoreErrorKind};

use crate::url::redacted;

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
/// // As text, for options of programs.
/// assert_eq!("to:data.example.org".parse::<Redirects>()?, access.redirects);
/// # Ok::<(), zarr_traits::StoreError>(())
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

/// Parses `public`, `same-host`, `never`, or `to:HOST,HOST`.
impl FromStr for Redirects {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let hosts = match text {
            "public" => return Ok(Self::Public),
            "same-host" => return Ok(Self::SameHost),
            "never" => return Ok(Self::Never),
            _ => text.strip_prefix("to:").and_then(|hosts| hosts.split(',').map(host).collect()),
        };
        hosts.map(Self::To).ok_or_else(|| {
            let message = format!(
                "redirects {:?}: expected \"public\", \"same-host\", \"never\", or hosts without ports such as \
                 \"to:a.example.org,b.example.org\"",
                redacted(text)
            );
            StoreError::new(StoreErrorKind::InvalidArgument, message)
        })
    }
}

/// Returns a host as URLs have it, or `None` if it is not a host.
fn host(text: &str) -> Option<String> {
    if let Ok(v6) = text.trim_matches(['[', ']']).parse::<Ipv6Addr>() {
        return Some(format!("[{v6}]"));
    }
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    is_name.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_are_parsed() {
        let to = |hosts: &[&str]| Some(Redirects::To(hosts.iter().map(|host| (*host).to_owned()).collect()));
        for (text, expected) in [
            ("public", Some(Redirects::Public)),
            ("same-host", Some(Redirects::SameHost)),
            ("never", Some(Redirects::Never)),
            ("to:Data.example.org", to(&["data.example.org"])),
            ("to:localhost,127.0.0.1,::1,[0:0::1]", to(&["localhost", "127.0.0.1", "[::1]", "[::1]"])),
            ("", None),
            ("none", None),
            ("example.org", None),
            ("to:", None),
            ("to:a,,b", None),
            ("to:a, b", None),
            ("to:a:80", None),
            ("to:https://a", None),
            ("to:*.example.org", None),
        ] {
            assert_eq!(text.parse().ok(), expected, "{text}");
        }
        let e = "samehost".parse::<Redirects>().unwrap_err();
        assert!(
            e.kind() == StoreErrorKind::InvalidArgument && format!("{e:#}").contains("\"same-host\""),
            "{e:#}"
        );
    }
}
