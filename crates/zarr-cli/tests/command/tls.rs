//! A web server with a certificate that the system does not know.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::harness::{Folder, zarr_in};

/// Starts a server with one group, `/h.zarr`. Returns its address, and its certificate in PEM. Its thread ends with the
/// test process.
fn server() -> (SocketAddr, String) {
    let own = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let tls = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key);
    let (tls, listener) = (Arc::new(tls.unwrap()), TcpListener::bind(("127.0.0.1", 0)).unwrap());
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            // An error means that the client has closed the connection.
            let _ = answer(connection, tls.clone());
        }
    });
    (address, own.cert.pem())
}

/// Answers one request.
fn answer(connection: TcpStream, tls: Arc<ServerConfig>) -> io::Result<()> {
    let tls = ServerConnection::new(tls).map_err(io::Error::other)?;
    let mut connection = BufReader::new(StreamOwned::new(tls, connection));
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && connection.read_line(&mut head)? > 0 {}
    let group = r#"{"zarr_format":3,"node_type":"group","attributes":{}}"#;
    let (status, body) = match head.starts_with("GET /h.zarr/zarr.json ") {
        true => ("200 OK", group),
        false => ("404 Not Found", ""),
    };
    let length = body.len();
    let to = connection.get_mut();
    write!(to, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")?;
    to.conn.send_close_notify();
    to.flush()
}

#[test]
fn a_server_is_trusted_with_its_certificate_in_a_file() {
    let (folder, (address, pem)) = (Folder::new(), server());
    folder.write("ca.pem", pem);
    let url = format!("https://{address}/h.zarr");
    let attrs = |options: &[&str]| zarr_in(folder.path(), [options, &["attrs", &url]].concat());
    attrs(&[])
        .fails(4, &["no secure connection", "issuer", "`--ca-cert FILE` adds issuers that are trusted"]);
    assert_eq!(attrs(&["--ca-cert", "ca.pem"]).ok().text(), "{}\n");
}

/// The store parses the certificates, so its error shows that it has them.
#[test]
fn a_wrong_file_of_certificates_is_named() {
    let folder = Folder::new();
    let info = |file: &str, url: &str| zarr_in(folder.path(), ["--ca-cert", file, "info", url]);
    let url = "https://127.0.0.1:9/a.zarr";
    info("none.pem", url).fails(3, &["--ca-cert", "cannot read \"none.pem\""]);
    folder.write("ca.der", [0x30, 0x82, 1, 10]);
    let parts = ["--ca-cert", "\"ca.der\" has no line \"-----BEGIN CERTIFICATE-----\": expected PEM"];
    info("ca.der", url).fails(2, &parts);
    folder.write("ca.pem", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n");
    info("ca.pem", url).fails(2, &[url, "the root certificates are not valid PEM text"]);
    folder.base("a.zarr");
    info("ca.pem", "a.zarr").ok();
}
