//! Follows the redirects of web servers that [`Redirects`] allows.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::{Attempt, Policy};
use zarr_store::Redirects;

/// The largest number of redirects of one request.
const MOST: usize = 10;

/// Returns the policy for a web server. A redirect that only adds a `/` means a folder and is not followed. A redirect
/// from `https` to `http` is refused: everybody between could read and change what is sent.
pub(crate) fn followed(allowed: Redirects) -> Policy {
    Policy::custom(move |attempt| match attempt.previous().last() {
        _ if allowed == Redirects::Never => attempt.stop(),
        Some(from) if attempt.url().path().strip_suffix('/') == Some(from.path()) => attempt.stop(),
        _ if attempt.previous().len() > MOST => attempt.error("too many redirects"),
        _ => match refusal(&attempt, &allowed) {
            Some(refused) => attempt.error(refused),
            None => attempt.follow(),
        },
    })
}

fn refusal(attempt: &Attempt<'_>, allowed: &Redirects) -> Option<Refused> {
    if attempt.url().scheme() != "https" && attempt.previous().iter().any(|url| url.scheme() == "https") {
        return Some(Refused::Plain);
    }
    let host = attempt.url().host_str().unwrap_or_default();
    let is_same = attempt.previous().first().and_then(|url| url.host_str()) == Some(host);
    let is_allowed = is_same
        || match allowed {
            Redirects::Public => address(host).is_none_or(|address| !is_internal(address)),
            Redirects::To(hosts) => hosts.iter().any(|allowed| allowed == host),
            _ => false,
        };
    (!is_allowed).then(|| Refused::Host(host.to_owned()))
}

/// The reason why a redirect is not followed.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It leads to a host that is not allowed.
    Host(String),
    /// It leads from an encrypted connection to one that is not.
    Plain,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => {
                write!(f, "it leads to the host {host:?}, which Access::redirects does not allow")
            }
            Self::Plain => f.write_str("it leads from https to http, which is not encrypted"),
        }
    }
}

impl std::error::Error for Refused {}

/// Returns the address that a host of a URL is, unless it is a name.
fn address(host: &str) -> Option<IpAddr> {
    IpAddr::from_str(host.trim_matches(['[', ']'])).ok()
}

/// Whether an address is of this machine, or link-local.
fn is_internal(address: IpAddr) -> bool {
    let is_of_v4 = |v4: Ipv4Addr| v4.is_loopback() || v4.is_link_local() || v4.is_unspecified();
    match address {
        IpAddr::V4(v4) => is_of_v4(v4),
        IpAddr::V6(v6) => {
            v6.is_loopback()
                || v6.is_unicast_link_local()
                || v6.is_unspecified()
                || v6.to_ipv4_mapped().is_some_and(is_of_v4)
        }
    }
}

/// Looks up the addresses of names. Names of redirects must not have internal addresses, unless they are allowed.
#[derive(Debug)]
pub(crate) struct Names {
    /// The names that may have any address.
    trusted: Vec<String>,
}

impl Names {
    /// Trusts the `host` of the URL, the names that `allowed` names, and the hosts of `proxies`.
    pub(crate) fn new<'a>(host: &str, allowed: &Redirects, proxies: impl Iterator<Item = &'a str>) -> Self {
        let mut trusted = vec![host.to_owned()];
        trusted.extend(proxies.map(str::to_owned));
        if let Redirects::To(hosts) = allowed {
            trusted.extend_from_slice(hosts);
        }
        Self { trusted }
    }
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let is_trusted = self.trusted.iter().any(|trusted| trusted.eq_ignore_ascii_case(&host));
        Box::pin(async move {
            // The port of the URL replaces this one.
            let found: Vec<SocketAddr> = tokio::net::lookup_host((&*host, 0)).await?.collect();
            if !is_trusted && found.iter().any(|found| is_internal(found.ip())) {
                return Err(Refused::Host(host).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_and_of_its_link_are_internal() {
        for (host, is) in [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("0.0.0.0", true),
            ("169.254.169.254", true),
            ("[::1]", true),
            ("[fe80::1]", true),
            ("[::ffff:127.0.0.1]", true),
            ("10.0.0.1", false),
            ("93.184.215.14", false),
            ("[2606:2800::1]", false),
        ] {
            assert_eq!(address(host).map(is_internal), Some(is), "{host}");
        }
        assert_eq!(address("localhost"), None);
    }
}
