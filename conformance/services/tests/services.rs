//! The real services start, keep an object, and stop afterwards.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;

use zarr_services::client::request;
use zarr_services::{Azurite, Moto, Nginx, or_skip};

const VALUE: &[u8] = b"0123456789";

/// Requests digits 2 to 5 of the object, with further headers.
fn part(address: SocketAddr, target: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let headers = [&[("Range", "bytes=2-5")], headers].concat();
    let answer = request(address, "GET", target, &headers, b"").unwrap();
    (answer.status, answer.text())
}

fn assert_gone(address: SocketAddr) {
    assert!(TcpStream::connect(address).is_err(), "{address} still answers");
}

#[test]
fn moto_keeps_objects() {
    let Some(moto) = or_skip(Moto::start()) else { return };
    moto.make_bucket("bucket").unwrap();
    let put = |headers: &[(&str, &str)]| {
        let headers =
            [&[Moto::AUTHORIZATION, ("Content-Type", "application/octet-stream")], headers].concat();
        request(moto.address(), "PUT", "/bucket/a/b", &headers, VALUE).unwrap().status
    };
    assert_eq!(put(&[]), 200);
    assert_eq!(put(&[("If-None-Match", "*")]), 412);
    assert_eq!(part(moto.address(), "/bucket/a/b", &[Moto::AUTHORIZATION]), (206, "2345".to_owned()));
    let address = moto.address();
    drop(moto);
    assert_gone(address);
}

#[test]
fn azurite_keeps_blobs() {
    let Some(azurite) = or_skip(Azurite::start()) else { return };
    azurite.make_container("container").unwrap();
    assert!(
        format!("{:#}", azurite.make_container("container").unwrap_err()).contains("ContainerAlreadyExists")
    );
    let target = format!("/{}/container/a/b?{}", Azurite::ACCOUNT, Azurite::SAS);
    let put = |condition: &[(&str, &str)]| {
        let headers = [&[("x-ms-blob-type", "BlockBlob")], condition].concat();
        request(azurite.address(), "PUT", &target, &headers, VALUE).unwrap().status
    };
    assert_eq!(put(&[]), 201);
    assert_eq!(put(&[("If-None-Match", "*")]), 409);
    assert_eq!(part(azurite.address(), &target, &[]), (206, "2345".to_owned()));
    let address = azurite.address();
    drop(azurite);
    assert_gone(address);
}

#[test]
fn nginx_serves_files() {
    let Some(nginx) = or_skip(Nginx::start()) else { return };
    std::fs::create_dir(nginx.root().join("a b")).unwrap();
    std::fs::write(nginx.root().join("a b/c"), VALUE).unwrap();
    assert_eq!(part(nginx.address(), "/a%20b/c", &[]), (206, "2345".to_owned()));
    assert_eq!(part(nginx.address(), "/none", &[]).0, 404);
    let (address, root) = (nginx.address(), nginx.root());
    drop(nginx);
    assert_gone(address);
    assert!(!root.exists());
}

const CHILD: &str = "ZARR_SERVICES_TEST_CHILD";

/// Not a test, but the process that is killed.
fn start_and_be_killed() {
    let nginx = Nginx::shared().unwrap();
    println!("\nlistens: {} {}", nginx.address(), nginx.root().display());
    Command::new("kill").args(["-KILL", &std::process::id().to_string()]).status().unwrap();
}

/// A test that aborts, or that a time limit kills, leaves no service behind, also not a service in a `static`.
#[test]
fn services_end_with_a_process_that_is_killed() {
    if std::env::var_os(CHILD).is_some() {
        return start_and_be_killed();
    }
    if or_skip(Nginx::start()).is_none() {
        return;
    }
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "services::services_end_with_a_process_that_is_killed", "--nocapture"])
        .env(CHILD, "1");
    let output = test.output().unwrap();
    assert!(!output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    let line = printed.lines().find_map(|line| line.strip_prefix("listens: "));
    let (address, root) = line.and_then(|line| line.split_once(' ')).expect(&printed);
    let address: SocketAddr = address.parse().unwrap();
    while TcpStream::connect(address).is_ok() || Path::new(root).exists() {
        std::thread::yield_now();
    }
}
