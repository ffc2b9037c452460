//! The options of all verbs for reaching stores.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use zarr_store::{Access, Redirects, Targets};

use crate::exit::Failure;

/// How stores with a URL are reached.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Stores")]
pub(crate) struct Options {
    /// Do not sign requests; for public data.
    #[arg(long, global = true, hide_short_help = true)]
    anon: bool,
    /// The address of the service, if not the usual one: `http://127.0.0.1:9000`.
    #[arg(long, global = true, hide_short_help = true, value_name = "URL")]
    endpoint: Option<String>,
    /// The region of the service.
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME")]
    region: Option<String>,
    /// The section of your configuration files with the credentials.
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME")]
    profile: Option<String>,
    /// Trust the certificates in FILE (PEM) beside those of the system: of a service, or of its issuer.
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    ca_cert: Option<PathBuf>,
    /// Treat status 403 of a web server as "not found": some servers answer so for absent objects.
    #[arg(long, global = true, hide_short_help = true)]
    forbidden_is_absent: bool,
    /// Follow redirects of a web server to `public` addresses, to the `same-host`, `never`, or `to:HOST,HOST`.
    #[arg(long, global = true, hide_short_help = true, value_name = "HOSTS", value_parser = redirects)]
    redirects: Option<Redirects>,
    /// Let references of `|kerchunk:` and `|icechunk:` name PLACE and what is below it, such as `s3://bucket/`; with
    /// `=STORE`, read it from there.
    #[arg(long, global = true, hide_short_help = true, value_name = "PLACE[=STORE]")]
    allow_references: Vec<String>,
    /// Refuse links that lead out of a store in a directory; for stores of strangers.
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) confined: bool,
    /// End only when everything that was written to a directory is on the disk, so that it survives a power cut; for verbs
    /// that write. Object stores keep everything that they have confirmed.
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) durable: bool,
    /// The largest number of requests at once.
    #[arg(long, global = true, hide_short_help = true, value_name = "N")]
    in_flight: Option<NonZeroUsize>,
    /// How often a failed request is repeated.
    #[arg(long, global = true, hide_short_help = true, value_name = "N")]
    retries: Option<u32>,
    /// The longest time for one operation, including repeated requests.
    #[arg(long, global = true, hide_short_help = true, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Write one line of JSON to FILE for each request to a store; `-` is stderr.
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|time| !time.is_zero()).ok_or_else(|| "expected a number of seconds above 0".to_owned())
}

fn redirects(text: &str) -> Result<Redirects, String> {
    text.parse::<Redirects>().map_err(|e| e.to_string())
}

impl Options {
    /// Returns the access options for stores, with these environment variables.
    pub(crate) fn access(
        &self,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Access, Failure> {
        if let Some(endpoint) = self.endpoint.as_deref().filter(|e| !e.contains("://")) {
            let message = format!("--endpoint {endpoint:?}: expected a URL such as http://127.0.0.1:9000");
            return Err(Failure::usage(message));
        }
        let mut access = Access::new().environment(environment).anonymous(self.anon);
        access.forbidden_is_absent = self.forbidden_is_absent;
        access.confined = self.confined;
        access.endpoint = self.endpoint.clone();
        access.region = self.region.clone();
        access.profile = self.profile.clone();
        access.root_certificates = self.ca_cert.as_deref().map(certificates).transpose()?;
        access.in_flight = self.in_flight.map(NonZeroUsize::get);
        access.retries = self.retries;
        access.timeout = self.timeout;
        access.redirects = self.redirects.clone().unwrap_or_default();
        access.targets = self.targets()?;
        Ok(access)
    }

    /// Returns the places that references may name.
    fn targets(&self) -> Result<Targets, Failure> {
        self.allow_references.iter().try_fold(Targets::none(), |targets, given| {
            let targets = match given.split_once('=') {
                Some((place, store)) => targets.moved(place, store),
                None => targets.allow(given),
            };
            targets.map_err(|e| Failure::usage(format!("--allow-references: {e:#}")))
        })
    }
}

/// Reads a file of certificates. The stores parse it; the common mistake is a file in another format.
fn certificates(file: &Path) -> Result<Vec<u8>, Failure> {
    const BEGIN: &[u8] = b"-----BEGIN CERTIFICATE-----";
    let pem = fs::read(file).map_err(|e| Failure::io(&e, format_args!("--ca-cert: cannot read {file:?}")))?;
    if !pem.windows(BEGIN.len()).any(|text| text == BEGIN) {
        let message =
            format!("--ca-cert: {file:?} has no line \"-----BEGIN CERTIFICATE-----\": expected PEM");
        return Err(Failure::usage(message));
    }
    Ok(pem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn options_are_passed_to_the_stores() {
        let options = Options {
            anon: true,
            forbidden_is_absent: true,
            confined: true,
            region: Some("eu".to_owned()),
            retries: Some(0),
            timeout: Some(seconds("0.5").unwrap()),
            redirects: Some(redirects("to:a.example.org").unwrap()),
            ..Options::default()
        };
        let access = options.access([("A".to_owned(), "b".to_owned())]).unwrap();
        assert_eq!((access.anonymous, access.region.as_deref(), access.retries), (true, Some("eu"), Some(0)));
        assert!(access.forbidden_is_absent && access.confined);
        assert_eq!(access.redirects, Redirects::To(vec!["a.example.org".to_owned()]));
        assert_eq!((access.timeout, access.variable("A")), (Some(Duration::from_millis(500)), Some("b")));
        let places = vec!["s3://b/d".to_owned(), "/old=/new".to_owned()];
        let access = Options { allow_references: places, ..Options::default() }.access([]).unwrap();
        assert_eq!(format!("{:?}", access.targets), r#"["s3://b/d", "/new"]"#);
        let wrong = Options { allow_references: vec!["data".to_owned()], ..Options::default() };
        assert!(wrong.access([]).unwrap_err().message().contains("neither a URL nor an absolute path"));
        assert!(Options { endpoint: Some("localhost".to_owned()), ..options }.access([]).is_err());
        assert_eq!(Options::default().access([]).unwrap().redirects, Redirects::Public);
        assert!(redirects("none").unwrap_err().contains("expected \"public\""));
        for bad in ["0", "-1", "NaN", "inf", "soon", "1e-12"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn certificates_of_a_file_are_passed_to_the_stores() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        let access = || Options { ca_cert: Some(file.clone()), ..Options::default() }.access([]);
        let fails = || access().map(|_| ()).map_err(|e| (e.exit(), e.message().contains("ca.pem")));
        assert_eq!(fails(), Err((Exit::NotFound, true)));
        for wrong in [&b""[..], b"\x30\x82\x01\x0a", b"-----BEGIN PRIVATE KEY-----\n"] {
            fs::write(&file, wrong).unwrap();
            assert_eq!(fails(), Err((Exit::Usage, true)));
        }
        let pem = b"of a company\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        fs::write(&file, pem).unwrap();
        assert_eq!(access().unwrap().root_certificates.as_deref(), Some(&pem[..]));
        assert_eq!(Options::default().access([]).unwrap().root_certificates, None);
    }
}
