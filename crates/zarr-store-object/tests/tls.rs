//! Encrypted connections: only to servers with a trusted certificate, with an error that says why not, and never in
//! plain text instead. All certificates are made here.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use crate::common::{Answer, Asked, Server, all, brief, key, object, open};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use zarr_store::{Access, Redirects};
use zarr_traits::{
    Bytes, Storage, StoreErrorKind, block_on,
    store::{Outcome, PutMode},
};

/// An issuer of certificates, which the system does not know.
struct Issuer(CertifiedIssuer<'static, KeyPair>);

impl Issuer {
    fn new() -> Self {
        Self::named("an issuer")
    }

    fn named(name: &str) -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Returns access that trusts this issuer.
    fn trusted(&self) -> Access {
        brief().root_certificates(self.0.pem())
    }

    /// Returns the settings of a server with a certificate for `host` that is valid up to the end of the year before
    /// `until`.
    fn issue(&self, host: &str, until: i32) -> Arc<ServerConfig> {
        let pair = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([host.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(until, 1, 1);
        let certificate = params.signed_by(&pair, &self.0).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(pair.serialize_der()).unwrap(),
            );
        Arc::new(config.unwrap())
    }

    /// Starts a server with a valid certificate.
    fn serve(&self, script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Server {
        Server::secure(self.issue("127.0.0.1", 2100), script)
    }
}

fn value(asked: &Asked) -> Answer {
    if asked.method == "PUT" { Answer::new(201).header("ETag", "\"tag\"") } else { object(asked, b"value") }
}

fn get(storage: &Storage) -> zarr_traits::StoreResult<Option<Bytes>> {
    block_on(storage.get(&key("k"), 100))
}

#[test]
fn a_service_with_a_trusted_issuer_is_read_and_written() {
    let issuer = Issuer::new();
    let server = issuer.serve(value);
    for (name, storage) in all(&server, &issuer.trusted()) {
        assert_eq!(get(&storage).unwrap().unwrap(), "value", "{name}");
        if name != "http" {
            let put = block_on(storage.put_if(&key("k"), &["value".into()], PutMode::Replace)).unwrap();
            assert!(matches!(put, Outcome::Done(_)), "{name}: {put:?}");
        }
    }
    assert_eq!((server.count("GET"), server.count("PUT")), (4, 3));
}

/// A refused certificate is no passing trouble: there is one connection, no request, and the error names the reason.
#[test]
fn a_server_without_a_trusted_certificate_gets_no_request() {
    let (issuer, other) = (Issuer::new(), Issuer::named("another issuer"));
    for (what, tls, access, words) in [
        ("unknown to the system", issuer.issue("127.0.0.1", 2100), brief(), "issuer"),
        ("of another issuer", issuer.issue("127.0.0.1", 2100), other.trusted(), "root_certificates"),
        ("expired", issuer.issue("127.0.0.1", 2021), issuer.trusted(), "certificate expired"),
        ("of another host", issuer.issue("example.org", 2100), issuer.trusted(), "example.org"),
    ] {
        let server = Server::secure(tls, value);
        for (n, (name, storage)) in (1..).zip(all(&server, &access)) {
            let e = get(&storage).unwrap_err();
            let text = format!("{e:#}");
            assert_eq!((e.kind(), e.key()), (StoreErrorKind::Io, Some("k")), "{what}, {name}: {e:#}");
            assert!(text.contains("no secure connection") && text.contains(words), "{what}, {name}: {e:#}");
            assert_eq!(server.connections(), n, "{what}, {name}");
        }
        assert!(server.asked().is_empty(), "{what}");
    }
}

#[test]
fn a_write_to_a_server_that_is_not_trusted_is_definitely_not_applied() {
    let server = Issuer::new().serve(value);
    for (name, storage) in all(&server, &brief()).into_iter().filter(|(name, _)| *name != "http") {
        for mode in [PutMode::Replace, PutMode::Create] {
            let e = block_on(storage.put_if(&key("k"), &["value".into()], mode)).unwrap_err();
            assert_eq!(e.kind(), StoreErrorKind::Io, "{name}: {e:#}");
        }
    }
    assert!(server.asked().is_empty());
}

/// A plain web server answers the first message of TLS with 400.
#[test]
fn a_server_without_tls_gets_no_request_in_plain_text() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let mut received = vec![0; 64 << 10];
        let length = connection.read(&mut received).unwrap();
        received.truncate(length);
        connection.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").unwrap();
        // Another attempt would be refused: the listener ends here.
        received
    });
    let e = get(&open(&format!("https://{address}/bucket"), &brief()).unwrap()).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::Io, "{e:#}");
    assert!(format!("{e:#}").contains("does not answer in TLS"), "{e:#}");
    let received = server.join().unwrap();
    assert!(received.starts_with(&[22, 3]), "a message of the TLS handshake: {received:?}");
    assert!(!received.windows(4).any(|part| part == b"GET "), "{received:?}");
}

#[test]
fn a_redirect_never_leads_from_https_to_http() {
    let issuer = Issuer::new();
    let (plain, secure) = (Server::new(value), issuer.serve(value));
    let here = Redirects::To(vec!["127.0.0.1".to_owned()]);
    for redirects in [Redirects::Public, Redirects::SameHost, here] {
        for (target, followed) in [(&secure, true), (&plain, false)] {
            let location = target.url("/k");
            let first = issuer.serve(move |_| Answer::new(302).header("Location", &location));
            let access = issuer.trusted().redirects(redirects.clone());
            match get(&open(&first.url("/bucket"), &access).unwrap()) {
                Ok(found) => assert!(followed && found.unwrap() == "value", "{redirects:?}"),
                Err(e) => {
                    assert!(!followed && e.kind() == StoreErrorKind::Io, "{redirects:?}: {e:#}");
                    assert!(format!("{e:#}").contains("from https to http"), "{redirects:?}: {e:#}");
                }
            }
            assert_eq!(first.asked().len(), 1, "{redirects:?}");
        }
    }
    assert!(plain.asked().is_empty());
}

#[test]
fn root_certificates_must_be_valid_pem() {
    let issuer = Issuer::new().0.pem();
    for pem in ["", "no PEM", &issuer.replace("END CERTIFICATE", "END"), &issuer.replace("MII", "MIJ")] {
        for url in ["https://127.0.0.1:1/a", "s3://bucket/a"] {
            let e = open(url, &brief().root_certificates(pem)).unwrap_err();
            assert_eq!(e.kind(), StoreErrorKind::InvalidArgument, "{url}, {pem}: {e:#}");
        }
    }
}

#[test]
fn the_bundle_of_aws_is_trusted_by_s3() {
    let issuer = Issuer::new();
    let server = issuer.serve(value);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bundle.pem");
    let access = |file: &std::path::Path| {
        let bundle = ("AWS_CA_BUNDLE".to_owned(), file.to_str().unwrap().to_owned());
        brief().anonymous(true).endpoint(server.url("")).environment([bundle])
    };
    let e = open("s3://bucket", &access(&file)).unwrap_err();
    assert!(format!("{e:#}").contains("AWS_CA_BUNDLE") && format!("{e:#}").contains("bundle.pem"), "{e:#}");
    std::fs::write(&file, issuer.0.pem()).unwrap();
    assert_eq!(get(&open("s3://bucket", &access(&file)).unwrap()).unwrap().unwrap(), "value");
    // The setting of the caller comes first.
    let other = access(&file).root_certificates(Issuer::new().0.pem());
    assert_eq!(get(&open("s3://bucket", &other).unwrap()).unwrap_err().kind(), StoreErrorKind::Io);
}
