//! Follows the redirects of web servers that [`Redirects`] allows.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::{Attempt, Policy};
use zarr_store::Redirects;

use crate::addresses::is_internal;

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
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// It leads to a host that is not allowed.
    #[error("it leads to the host {0:?}, which Access::redirects does not allow")]
    Host(String),
    /// It leads from an encrypted connection to one that is not.
    #[error("it leads from https to http, which is not encrypted")]
    Plain,
}

/// Returns the address that a host of a URL is, unless it is a name.
fn address(host: &str) -> Option<IpAddr> {
    IpAddr::from_str(host.trim_matches(['[', ']'])).ok()
}

/// Looks up the addresses of names. All addresses of a name in a redirect must be public, unless the name is allowed.
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
    fn hosts_that_are_addresses_are_known() {
        for (host, is) in [("127.0.0.1", true), ("[::1]", true), ("93.184.215.14", false)] {
            assert_eq!(address(host).map(is_internal), Some(is), "{host}");
        }
        assert_eq!(address("localhost"), None);
    }
}
