//! Encrypted connections: the trusted certificates, and the reasons why a server is not trusted.

use std::error::Error;
use std::io;
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, SignatureScheme};
use rustls_platform_verifier::Verifier;
use zarr_store::Access;
use zarr_traits::{StoreError, StoreErrorKind, StoreResult};

/// Returns the settings of connections that trust the certificates of the system and those of `access`.
///
/// # Errors
/// [`StoreErrorKind::InvalidArgument`] if a certificate of `access` is invalid.
pub(crate) fn config(access: &Access) -> StoreResult<ClientConfig> {
    let wrong =
        |e: TlsError| StoreError::new(StoreErrorKind::InvalidArgument, format!("TLS cannot be set up: {e}"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = OnceLock::new();
    if let Some(roots) = roots(access)? {
        let trusting = Verifier::new_with_extra_roots(roots, provider.clone()).map_err(wrong)?;
        _ = verifier.set(Ok(trusting));
    }
    let verifier = WhenNeeded { provider: provider.clone(), verifier };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(wrong)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    Ok(config.with_no_client_auth())
}

/// A verifier that reads the certificates of the system when it sees the first server. Reading them takes milliseconds,
/// and a client without encryption needs none.
#[derive(Debug)]
struct WhenNeeded {
    provider: Arc<CryptoProvider>,
    verifier: OnceLock<Result<Verifier, TlsError>>,
}

impl WhenNeeded {
    fn verifier(&self) -> Result<&Verifier, TlsError> {
        self.verifier.get_or_init(|| Verifier::new(self.provider.clone())).as_ref().map_err(Clone::clone)
    }
}

impl ServerCertVerifier for WhenNeeded {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        self.verifier()?.verify_server_cert(certificate, intermediates, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.verifier()?.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.verifier()?.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Returns the certificates of `access`, if it has any.
fn roots(access: &Access) -> StoreResult<Option<Vec<CertificateDer<'static>>>> {
    let Some(pem) = &access.root_certificates else { return Ok(None) };
    let wrong = |why: String| {
        let message = format!("the root certificates are not valid PEM text: {why}");
        StoreError::new(StoreErrorKind::InvalidArgument, message)
    };
    let roots = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    match roots.map_err(|e| wrong(e.to_string()))? {
        roots if roots.is_empty() => Err(wrong("there is no \"BEGIN CERTIFICATE\"".to_owned())),
        roots => Ok(Some(roots)),
    }
}

/// Returns the reason why the server of a failed connection is not trusted, or speaks no TLS. Another attempt would fail
/// for the same reason. Returns `None` for any other failure.
pub(crate) fn refusal(e: &(dyn Error + 'static)) -> Option<String> {
    match tls_error(e)? {
        TlsError::InvalidCertificate(CertificateError::UnknownIssuer) => Some(
            "the issuer of the server's certificate is unknown; Access::root_certificates adds issuers that are trusted"
                .to_owned(),
        ),
        TlsError::InvalidMessage(e) => Some(format!(
            "the server does not answer in TLS: {e:?}; its URL may begin with http://"
        )),
        e @ (TlsError::InvalidCertificate(_)
        // The system has no certificates.
        | TlsError::General(_)
        | TlsError::NoCertificatesPresented
        | TlsError::PeerIncompatible(_)) => Some(e.to_string()),
        _ => None,
    }
}

/// Finds the error of TLS among the causes of `e`.
fn tls_error<'e>(e: &'e (dyn Error + 'static)) -> Option<&'e TlsError> {
    let mut error = Some(e);
    while let Some(e) = error {
        // An `io::Error` has the source of the error that it wraps, not that error.
        let wrapped = e.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = wrapped.map_or(e.downcast_ref(), |e| e.downcast_ref()) {
            return Some(found);
        }
        error = wrapped.map_or_else(|| e.source(), |e| Some(e));
    }
    None
}
