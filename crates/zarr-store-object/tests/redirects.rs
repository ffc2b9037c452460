//! Redirects lead only to the hosts that the caller allows, and take no secrets there.

use crate::common::{Answer, Server, brief, key, object, open};
use zarr_store::Redirects;
use zarr_traits::{StoreErrorKind, block_on};

#[test]
fn a_redirect_is_followed_only_to_allowed_hosts() {
    let serve = |host| Server::at(host, |asked| object(asked, b"value"));
    let (here, other) = (serve("127.0.0.1"), serve("127.0.0.2"));
    let same = here.url("/k");
    let by_name = format!("http://localhost:{}/k", here.port());
    let to = |host: &str| Redirects::To(vec![host.to_owned()]);
    for (target, redirects, followed) in [
        // To the host of the URL, which the caller chose.
        (&same, Redirects::Public, true),
        (&same, Redirects::SameHost, true),
        (&same, to("example.org"), true),
        (&same, Redirects::Never, false),
        // To another host, which is this machine.
        (&other.url("/k"), Redirects::Public, false),
        (&other.url("/k"), Redirects::SameHost, false),
        (&other.url("/k"), to("127.0.0.3"), false),
        (&other.url("/k"), to("127.0.0.2"), true),
        (&other.url("/k"), Redirects::Never, false),
        // To another name with an address of this machine.
        (&by_name, Redirects::Public, false),
        (&by_name, Redirects::SameHost, false),
        (&by_name, to("localhost"), true),
    ] {
        let what = format!("{target}, {redirects:?}");
        let location = target.clone();
        let first = Server::new(move |_| Answer::new(302).header("Location", &location));
        let before = here.asked().len() + other.asked().len();
        let storage = open(&first.url("/bucket"), &brief().redirects(redirects)).unwrap();
        match block_on(storage.get(&key("k"), 100)) {
            Ok(value) => assert!(followed && value.unwrap() == "value", "{what}"),
            Err(e) => {
                assert!(!followed && e.kind() == StoreErrorKind::Io, "{what}: {e:#}");
                assert!(format!("{e:#}").contains("redirect"), "{what}: {e:#}");
            }
        }
        let asked = here.asked().len() + other.asked().len() - before;
        assert_eq!(asked, usize::from(followed), "{what}");
        assert_eq!(first.asked().len(), 1, "{what}");
    }
}

/// The signature and the password in the URL of the first host are not for the second one.
#[test]
fn a_redirect_takes_no_secret_along() {
    for host in ["127.0.0.1", "127.0.0.2"] {
        let second = Server::at(host, |asked| object(asked, b"value"));
        let location = second.url("/k");
        let first = Server::new(move |_| Answer::new(307).header("Location", &location));
        let url = first.url("/bucket?sig=SECRET").replace("://", "://SECRETUSER:SECRETWORD@");
        let access = brief().redirects(Redirects::To(vec![host.to_owned()]));
        let storage = open(&url, &access).unwrap();
        assert_eq!(block_on(storage.get(&key("k"), 100)).unwrap().unwrap(), "value");
        // Authorization is in base64.
        let secrets = ["SECRET", "referer", "authorization", "cookie"];
        let [sent] = &second.asked()[..] else { panic!("{:?}", second.asked()) };
        let sent = format!("{sent:?}");
        assert!(!secrets.iter().any(|secret| sent.contains(secret)), "{sent}");
        assert!(first.asked()[0].header("authorization").is_some());
    }
}
