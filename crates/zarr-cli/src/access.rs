//! The options that all verbs have: how stores are reached.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use zarr_store::Access;

use crate::exit::Failure;

/// How stores that have a URL are reached.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Stores")]
pub(crate) struct Options {
    /// Do not sign requests: for what is public.
    #[arg(long, global = true, hide_short_help = true)]
    anon: bool,
    /// Where the service is, in place of its usual address: `http://127.0.0.1:9000`.
    #[arg(long, global = true, hide_short_help = true, value_name = "URL")]
    endpoint: Option<String>,
    /// The region of the service.
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME")]
    region: Option<String>,
    /// The section of your configuration files that has the credentials.
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME")]
    profile: Option<String>,
    /// Take what a web server forbids to read for absent: some say that instead of 404.
    #[arg(long, global = true, hide_short_help = true)]
    forbidden_is_absent: bool,
    /// How many requests may be under way at once.
    #[arg(long, global = true, hide_short_help = true, value_name = "N")]
    in_flight: Option<NonZeroUsize>,
    /// How often a request is tried again that may succeed then.
    #[arg(long, global = true, hide_short_help = true, value_name = "N")]
    retries: Option<u32>,
    /// How long one operation may take, with all that is tried again.
    #[arg(long, global = true, hide_short_help = true, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Write a line of JSON for each request to a store to FILE; `-` is stderr.
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|time| !time.is_zero()).ok_or_else(|| "this is no time to wait".to_owned())
}

impl Options {
    /// What stores are told, with these variables of the environment.
    pub(crate) fn access(
        &self,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Access, Failure> {
        if let Some(endpoint) = self.endpoint.as_deref().filter(|e| !e.contains("://")) {
            let message = format!("--endpoint {endpoint:?}: this is no URL, like http://127.0.0.1:9000");
            return Err(Failure::usage(message));
        }
        let mut access = Access::new().environment(environment).anonymous(self.anon);
        access.forbidden_is_absent = self.forbidden_is_absent;
        access.endpoint = self.endpoint.clone();
        access.region = self.region.clone();
        access.profile = self.profile.clone();
        access.in_flight = self.in_flight.map(NonZeroUsize::get);
        access.retries = self.retries;
        access.timeout = self.timeout;
        Ok(access)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_what_stores_are_told() {
        let options = Options {
            anon: true,
            forbidden_is_absent: true,
            region: Some("eu".to_owned()),
            retries: Some(0),
            timeout: Some(seconds("0.5").unwrap()),
            ..Options::default()
        };
        let access = options.access([("A".to_owned(), "b".to_owned())]).unwrap();
        assert_eq!((access.anonymous, access.region.as_deref(), access.retries), (true, Some("eu"), Some(0)));
        assert!(access.forbidden_is_absent);
        assert_eq!((access.timeout, access.variable("A")), (Some(Duration::from_millis(500)), Some("b")));
        assert!(Options { endpoint: Some("localhost".to_owned()), ..options }.access([]).is_err());
        for bad in ["0", "-1", "NaN", "inf", "soon", "1e-12"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
