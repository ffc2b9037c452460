//! `zarr serve`: what a client gets over HTTP.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, command, zarr};

/// A running server. It is killed when the test ends.
pub(crate) struct Server {
    child: Child,
    /// `127.0.0.1:PORT`
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer: the status, the head in lower case, the body.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Server {
    pub(crate) fn start<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Self {
        Self::start_if_it_can(args).unwrap()
    }

    /// Returns `None` if the command ends without serving.
    pub(crate) fn start_if_it_can<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Option<Self> {
        let mut command = command();
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let address = url.trim().strip_prefix("http://").and_then(|url| url.strip_suffix('/'));
        let address = address.unwrap_or_default().to_owned();
        let server = Self { address, child };
        (!server.address.is_empty()).then_some(server)
    }

    /// Kills the server. Returns the most memory that it had, in KiB, 0 where that is not known, and what it has written to
    /// stderr.
    pub(crate) fn end(mut self) -> (u64, String) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next());
        let peak = peak.map_or(0, |peak| peak.parse().unwrap());
        self.child.kill().unwrap();
        let mut notes = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut notes).unwrap();
        (peak, notes)
    }

    /// Sends these bytes and reads until the server closes the connection.
    fn send(&self, bytes: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap().to_lowercase() + "\r\n";
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Reply { status, head, body: answer[end + 4..].to_vec() }
    }

    fn ask(&self, method: &str, path: &str, headers: &[&str]) -> Reply {
        let host = match headers.iter().any(|line| line.starts_with("Host:")) {
            true => String::new(),
            false => format!("Host: {}\r\n", self.address),
        };
        let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        self.send(format!("{method} {path} HTTP/1.1\r\n{host}{lines}Connection: close\r\n\r\n").as_bytes())
    }

    pub(crate) fn get(&self, path: &str, headers: &[&str]) -> Reply {
        self.ask("GET", path, headers)
    }
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// Makes a group with the array `a` of one chunk of eight bytes.
fn store() -> Folder {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder
}

#[test]
fn objects_are_served_with_ranges() {
    let folder = store();
    let server = Server::start([folder.join("h.zarr")]);
    let whole: &[u8] = &[1, 0, 0, 0, 2, 0, 0, 0];
    for (range, status, body, content_range) in [
        (None, 200, whole, None),
        (Some("Range: bytes=0-3"), 206, &whole[..4], Some("bytes 0-3/8")),
        (Some("Range: bytes=-4"), 206, &whole[4..], Some("bytes 4-7/8")),
        (Some("Range: bytes=6-99"), 206, &whole[6..], Some("bytes 6-7/8")),
        (Some("Range: bytes=8-"), 416, &[], Some("bytes */8")),
        (Some("Range: bytes=0-0,2-2"), 200, whole, None),
    ] {
        let headers: Vec<_> = range.into_iter().collect();
        let reply = server.get("/a/c/0", &headers);
        assert_eq!((reply.status, &reply.body[..]), (status, body), "{range:?}");
        assert_eq!(reply.header("content-range"), content_range, "{range:?}");
        assert_eq!(reply.header("accept-ranges"), Some("bytes"));
        let head = server.ask("HEAD", "/a/c/0", &headers);
        assert_eq!((head.status, head.body.len()), (status, 0), "{range:?}");
        assert_eq!(head.header("content-length"), reply.header("content-length"), "{range:?}");
    }
    let document = server.get("/a/zarr.json", &[]);
    assert_eq!(document.header("content-type"), Some("application/json"));
    assert_eq!(document.body, fs::read(folder.join("h.zarr/a/zarr.json")).unwrap());
    assert_eq!(server.get("/a/c/1", &[]).status, 404);
    assert_eq!(server.get("/a/c", &[]).status, 404);
}

#[test]
fn a_large_object_comes_whole() {
    let folder = store();
    let bytes: Vec<u8> = (0..5_000_000u32).map(|at| (at % 251) as u8).collect();
    folder.write("h.zarr/a/c/1", &bytes);
    let server = Server::start([folder.join("h.zarr")]);
    assert_eq!(server.get("/a/c/1", &[]).body, bytes);
    assert_eq!(server.get("/a/c/1", &["Range: bytes=1000000-3999999"]).body, bytes[1_000_000..4_000_000]);
}

#[test]
fn an_etag_follows_the_content() {
    let folder = store();
    let server = Server::start([folder.join("h.zarr")]);
    // A file that was written in this tick of the clock has no ETag yet.
    let etag = loop {
        if let Some(etag) = server.get("/a/c/0", &[]).header("etag") {
            break etag.to_owned();
        }
    };
    let same = server.get("/a/c/0", &[&format!("If-None-Match: {etag}")]);
    assert_eq!((same.status, same.body.len(), same.header("etag")), (304, 0, Some(etag.as_str())));
    let range = server.get("/a/c/0", &["Range: bytes=0-0", &format!("If-Range: {etag}")]);
    assert_eq!(range.status, 206);
    folder.write("h.zarr/a/c/0", [3, 0, 0, 0, 4, 0, 0, 0, 5]);
    assert_eq!(server.get("/a/c/0", &[&format!("If-None-Match: {etag}")]).status, 200);
    assert_eq!(server.get("/a/c/0", &[&format!("If-Match: {etag}")]).status, 412);
    let whole = server.get("/a/c/0", &["Range: bytes=0-0", &format!("If-Range: {etag}")]);
    assert_eq!((whole.status, whole.body.len()), (200, 9));
}

#[test]
fn folders_are_listed_as_pages_and_json() {
    let folder = store();
    folder.write("h.zarr/.secret/key", "x");
    folder.write("h.zarr/.hidden", "x");
    let server = Server::start([folder.join("h.zarr")]);
    let page = server.get("/", &[]);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let text = String::from_utf8(page.body).unwrap();
    assert!(text.contains("<a href=\"a/\">a/</a>") && text.contains("<a href=\"zarr.json\">"), "{text}");
    assert!(!text.contains("secret") && !text.contains("hidden"), "{text}");
    for reply in [server.get("/a/?format=json", &[]), server.get("/a/", &["Accept: application/json"])] {
        let listing: Value = serde_json::from_slice(&reply.body).unwrap();
        // Directories list no sizes.
        let objects = json!([{ "name": "zarr.json", "bytes": null }]);
        assert_eq!(listing, json!({ "schema_version": 1, "folders": ["c"], "objects": objects }));
    }
    assert_eq!(server.get("/none/", &[]).status, 404);
}

#[test]
fn nothing_outside_of_the_node_is_served() {
    let folder = store();
    folder.write("secret", "x");
    folder.write("h.zarr/.env", "x");
    folder.write("h.zarr/b.json.1.partial", "x");
    let server = Server::start([folder.join("h.zarr/a")]);
    assert_eq!(server.get("/c/0", &[]).status, 200);
    for path in [
        "/../zarr.json",
        "/..%2fzarr.json",
        "/%2e%2e/%2e%2e/secret",
        "/c/../../../secret",
        "/..\\secret",
        "//etc/passwd",
        "/%00",
        "/%",
        "/a/c/0",
    ] {
        let reply = server.get(path, &[]);
        assert!([400, 404].contains(&reply.status), "{path}: {reply:?}");
    }
    let server = Server::start([folder.join("h.zarr")]);
    for path in ["/.env", "/%2eenv", "/b.json.1.partial"] {
        assert_eq!(server.get(path, &[]).status, 404, "{path}");
    }
}

#[cfg(unix)]
#[test]
fn links_out_of_the_node_are_followed_only_if_asked_for() {
    use std::os::unix::fs::symlink;
    let folder = store();
    folder.base("other.zarr");
    folder.write("outside/secret", "x");
    symlink(folder.join("outside"), folder.join("h.zarr/e")).unwrap();
    symlink(folder.join("outside/secret"), folder.join("h.zarr/a/c/1")).unwrap();
    symlink(folder.join("other.zarr"), folder.join("h.zarr/b")).unwrap();
    symlink("a", folder.join("h.zarr/inside")).unwrap();
    symlink("../../h.zarr/zarr.json", folder.join("h.zarr/a/above")).unwrap();
    let h = folder.join("h.zarr");
    for (options, outside) in [(&[][..], 404), (&["--follow-links"], 200)] {
        let server = Server::start(options.iter().map(OsStr::new).chain([h.as_os_str()]));
        for (path, wanted) in [
            ("/inside/c/0", 200),
            ("/e/secret", outside),
            ("/e/", outside),
            ("/a/c/1", outside),
            ("/b/zarr.json", outside),
            ("/.page/node?path=/b", outside),
            ("/.page/chunks?path=/b", outside),
            ("/.page/node?path=/e", 404),
            ("/.page/node?path=/inside", 200),
        ] {
            assert_eq!(server.get(path, &[]).status, wanted, "{options:?} {path}");
        }
    }
    // The root is the node, not the hierarchy around it; and it may be a link itself.
    assert_eq!(Server::start([folder.join("h.zarr/a")]).get("/above", &[]).status, 404);
    assert_eq!(Server::start([folder.join("h.zarr/b")]).get("/c/0", &[]).status, 200);
}

#[test]
fn the_page_shows_no_hidden_node() {
    let folder = planes();
    fs::create_dir(folder.join("a.zarr/g")).unwrap();
    for hidden in [".secret", "g/.secret", "t.partial"] {
        folder.write(
            &format!("a.zarr/{hidden}/zarr.json"),
            fs::read(folder.join("a.zarr/t/zarr.json")).unwrap(),
        );
    }
    folder.group("a.zarr/g");
    let server = Server::start([folder.join("a.zarr")]);
    for hidden in ["/.secret", "/g/.secret", "/t.partial"] {
        assert_eq!(server.get(&format!("{hidden}/zarr.json"), &[]).status, 404);
        for what in ["node", "chunks", "plane"] {
            assert_eq!(answer(&server, &format!("{what}?path={hidden}")).0, 404, "{what} {hidden}");
        }
    }
    let tree = answer(&server, "tree").1;
    let paths: Vec<&str> =
        tree["nodes"].as_array().unwrap().iter().map(|node| node["path"].as_str().unwrap()).collect();
    assert_eq!((paths, &tree["more_nodes"]), (vec!["/", "/<b>&x", "/g", "/t"], &json!(0)));
}

#[test]
fn other_methods_and_large_heads_are_refused() {
    let folder = store();
    let server = Server::start([folder.join("h.zarr")]);
    for method in ["PUT", "POST", "DELETE", "PATCH"] {
        let reply = server.ask(method, "/a/c/0", &[]);
        assert_eq!((reply.status, reply.header("allow")), (405, Some("get, head, options")), "{method}");
    }
    assert!(folder.join("h.zarr/a/c/0").exists());
    let long = format!("X: {}", "x".repeat(1 << 20));
    assert_eq!(server.get("/", &[&long]).status, 431);
    let many = vec!["X: x"; 1000];
    assert_eq!(server.get("/", &many).status, 431);
    assert_eq!(server.send(b"nonsense\r\n\r\n").status, 400);
}

#[test]
fn pages_of_other_origins_and_other_host_names_are_refused() {
    let folder = store();
    let server = Server::start([folder.join("h.zarr")]);
    let allowed = |server: &Server, origin: &str| {
        let reply = server.get("/a/c/0", &[&format!("Origin: {origin}")]);
        reply.header("access-control-allow-origin").map(str::to_owned)
    };
    for origin in ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:80"] {
        assert_eq!(allowed(&server, origin).as_deref(), Some(origin));
    }
    for origin in [
        "https://example.org",
        "null",
        "http://localhost.example.org",
        "localhost",
        "http://localhost:1@evil.example",
        "http://[::1].evil.example",
        "http://localhost/x",
    ] {
        assert_eq!(allowed(&server, origin), None, "{origin}");
    }
    let wrong_hosts =
        ["[::1].evil.example", "[::1", "[127.0.0.1]", "localhost:1@evil.example", "::1", "localhost:x"];
    for host in
        ["example.org", "localhost.example.org:80", "127.0.0.1.example.org"].into_iter().chain(wrong_hosts)
    {
        assert_eq!(server.get("/a/c/0", &[&format!("Host: {host}")]).status, 421, "{host}");
    }
    let open = Server::start(args!["--allow-origin", "https://example.org", folder.join("h.zarr")]);
    assert_eq!(allowed(&open, "https://example.org").as_deref(), Some("https://example.org"));
    assert_eq!(allowed(&open, "https://example.com"), None);
    let preflight = open.ask("OPTIONS", "/a/c/0", &["Origin: https://example.org"]);
    assert_eq!(preflight.status, 204);
    assert!(preflight.header("access-control-allow-headers").unwrap().contains("range"));
}

#[test]
fn an_archive_is_served_like_a_directory() {
    let folder = store();
    zarr(args!["copy", folder.join("h.zarr"), folder.join("h.zip")]).exits(0);
    let server = Server::start([folder.join("h.zip")]);
    assert_eq!(server.get("/a/c/0", &["Range: bytes=4-"]).body, [2, 0, 0, 0]);
    assert!(String::from_utf8(server.get("/", &[]).body).unwrap().contains("a/"));
}

#[cfg(feature = "http")]
#[test]
fn the_command_reads_what_it_serves() {
    let folder = store();
    zarr(args!["consolidate", folder.join("h.zarr")]).ok();
    let server = Server::start([folder.join("h.zarr")]);
    let url = format!("http://{}/", server.address);
    let printed = |args: &[&str], store: &OsStr| zarr(args.iter().map(OsStr::new).chain([store])).ok().out;
    let array = format!("{url}|zarr:a");
    assert_eq!(
        printed(&["cat", "-f", "raw"], array.as_ref()),
        printed(&["cat", "-f", "raw"], folder.join("h.zarr/a").as_ref())
    );
    assert_eq!(printed(&["ls", "-R"], url.as_ref()), printed(&["ls", "-R"], folder.join("h.zarr").as_ref()));
    let again = Server::start([&url]);
    assert_eq!(again.get("/a/c/0", &["Range: bytes=4-"]).body, [2, 0, 0, 0]);
    assert_eq!(again.get("/a/", &[]).status, 501);
}

#[cfg(feature = "http")]
#[test]
fn labels_and_decoding_at_a_plain_url_use_the_group_above_it() {
    let folder = Folder::new();
    let path = crate::weather::weather(&folder);
    let server = Server::start([&path]);
    let url = format!("http://{}/t2m", server.address);
    for options in [
        &["cat", "-f", "csv", "-s", "time=2020-01-01T03,lat=~41"][..],
        &["cat", "-f", "text", "-s", "0,0"],
        &["cat", "--anon", "-f", "json", "-s", "lat=50:61,time@0"],
    ] {
        let printed = |array: &OsStr| zarr(options.iter().map(OsStr::new).chain([array])).ok().out;
        assert_eq!(printed(url.as_ref()), printed(path.join("t2m").as_ref()), "{options:?}");
    }
    let alone = Server::start([path.join("t2m")]);
    let url = format!("http://{}/", alone.address);
    zarr(args!["cat", "-f", "text", "-s", "lat=40", url]).fails(2, &["root of its store", "'URL|zarr:t2m'"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_server_without_an_error() {
    let folder = store();
    let mut server = Server::start([folder.join("h.zarr")]);
    let waiting = TcpStream::connect(&server.address).unwrap();
    assert_eq!(server.get("/a/c/0", &[]).status, 200);
    let interrupted =
        std::process::Command::new("kill").args(["-INT", &server.child.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    drop(waiting);
}

#[test]
fn a_node_that_is_absent_and_an_address_in_use_are_errors() {
    let folder = store();
    zarr(args!["serve", folder.join("nope.zarr")]).fails(3, &["nope.zarr"]);
    let server = Server::start([folder.join("h.zarr")]);
    let args = args!["serve", "--listen", &server.address, folder.join("h.zarr")];
    zarr(args).fails(4, &["cannot listen at", &server.address]);
}

#[test]
fn pages_of_other_sites_give_the_page_no_work() {
    let folder = planes();
    let server = Server::start(args!["--allow-origin", "https://example.org", folder.join("a.zarr")]);
    let site = |site: &str| format!("Sec-Fetch-Site: {site}");
    let (cross, friend) = (site("cross-site"), "Origin: https://example.org".to_owned());
    let navigate = "Sec-Fetch-Mode: navigate".to_owned();
    for (path, headers, status) in [
        ("/.page/plane?path=/t", vec![&cross], 403),
        ("/.page/tree", vec![&cross], 403),
        ("/.page/tree", vec![&cross, &navigate], 403),
        ("/.page/page.js", vec![&cross], 403),
        ("/.page/plane?path=/t", vec![&cross, &friend], 200),
        ("/.page/plane?path=/t", vec![&site("same-origin")], 200),
        ("/.page/plane?path=/t", vec![], 200),
        // A link to the page is followed.
        ("/.page/", vec![&cross, &navigate], 200),
        ("/t/zarr.json", vec![&cross], 200),
    ] {
        let lines: Vec<&str> = headers.iter().map(|line| line.as_str()).collect();
        assert_eq!(server.get(path, &lines).status, status, "{path} {lines:?}");
    }
}

/// Makes a group with an array of two planes and hostile names.
fn planes() -> Folder {
    let folder = Folder::new();
    folder.write("numbers.raw", (0..48_u8).collect::<Vec<_>>());
    for arguments in [
        "create a.zarr --group",
        "create a.zarr/t --dtype uint8 --shape 2,4,6 --chunks 1,4,3 --from numbers.raw",
        "create a.zarr/<b>&x --dtype string --shape 2,2",
        "attrs set a.zarr/t title \"</script><script>alert(1)</script>\"",
    ] {
        crate::harness::zarr_in(folder.path(), arguments.split(' ')).exits(0);
    }
    folder
}

/// Returns the JSON that the page gets.
fn answer(server: &Server, what: &str) -> (u16, Value) {
    let reply = server.get(&format!("/.page/{what}"), &[]);
    (reply.status, serde_json::from_slice(&reply.body).unwrap())
}

#[test]
fn the_page_and_its_answers_are_served_beside_the_keys() {
    let folder = planes();
    let server = Server::start([folder.join("a.zarr")]);
    for (path, kind, part) in [
        ("/.page/", "text/html", "<main"),
        ("/.page/page.js", "text/javascript", "\"use strict\""),
        ("/.page/page.css", "text/css", "color-scheme"),
    ] {
        let reply = server.get(path, &[]);
        assert_eq!(reply.status, 200, "{path}");
        assert!(reply.head.contains(&format!("content-type: {kind}")), "{}", reply.head);
        assert!(
            reply.head.contains("content-security-policy: default-src 'none'; script-src 'self'"),
            "{}",
            reply.head
        );
        assert!(String::from_utf8(reply.body).unwrap().contains(part));
    }
    let (_, tree) = answer(&server, "tree");
    let paths: Vec<&str> =
        tree["nodes"].as_array().unwrap().iter().map(|node| node["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/", "/<b>&x", "/t"]);
    assert_eq!(tree["nodes"][2]["counts"], json!([2, 1, 2]));
    let (_, node) = answer(&server, "node?path=/t");
    assert_eq!(
        node["attributes"][0],
        json!({"name": "title", "value": "</script><script>alert(1)</script>"})
    );
    assert_eq!(node["documents"][0]["name"], "zarr.json");
    let (_, chunks) = answer(&server, "chunks?path=/t");
    assert_eq!((&chunks["stored"], chunks["cells"].as_array().unwrap().len()), (&json!(4), 16));
    let (_, look) = answer(&server, "look");
    assert_eq!(look["colormaps"]["viridis"].as_str().unwrap().len(), 1024);
    let (_, plane) = answer(&server, "plane?path=/t&at=1,0,0");
    assert_eq!(
        (&plane["kind"], &plane["style"], &plane["at"]),
        (&json!("plane"), &json!("numbers"), &json!([1, 0, 0]))
    );
    for (member, wanted) in [
        ("dimension", json!(1)),
        ("start", json!(0)),
        ("end", json!(4)),
        ("step", json!(1)),
        ("labels", json!(null)),
    ] {
        assert_eq!(plane["rows"][member], wanted, "{member}");
    }
    let values = &plane["layers"][0]["values"];
    assert_eq!((&values["type"], &values["min"], &values["max"]), (&json!("u1"), &json!(24.0), &json!(47.0)));
    // Positions outside of the array are cut.
    assert_eq!(answer(&server, "plane?path=/t&at=99,1,2").1["at"], json!([1, 1, 2]));
    let (_, smaller) = answer(&server, "plane?path=/t&side=3");
    assert_eq!((&smaller["rows"]["step"], &smaller["columns"]["step"]), (&json!(2), &json!(2)));
    let (_, part) = answer(&server, "plane?path=/t&zoom=0.25,0.75,0,0.5");
    assert_eq!(
        (&part["rows"]["start"], &part["rows"]["end"], &part["columns"]["end"]),
        (&json!(1), &json!(3), &json!(3))
    );
    let (_, curve) = answer(&server, "plane?path=/t&along=2&at=0,1,0");
    assert_eq!((&curve["kind"], &curve["lows"]), (&json!("curve"), &json!([6.0, 7.0, 8.0, 9.0, 10.0, 11.0])));
    let (_, texts) = answer(&server, "plane?path=/%3Cb%3E%26x");
    assert_eq!((&texts["kind"], texts["values"].as_array().unwrap().len()), (&json!("texts"), 4));
    // The root links to the page; a folder of this name is no key.
    assert!(String::from_utf8(server.get("/", &[]).body).unwrap().contains("href=\"/.page/\""));
}

#[test]
fn points_of_anndata_and_their_columns_are_answered_one_by_one() {
    let folder = Folder::new();
    crate::first_sight::annotated(&folder);
    let server = Server::start([folder.join("ad.zarr")]);
    let (_, points) = answer(&server, "points?path=/");
    assert_eq!((&points["kind"], &points["columns"]), (&json!("points"), &json!(["ct", "n", "batch"])));
    let (_, none) = answer(&server, "points?path=/&of=X_umap");
    assert_eq!((&none["kind"], &none["reason"]), (&json!("none"), &json!("no embedding \"X_umap\"")));
    assert_eq!(answer(&server, "points?path=/obs").1["kind"], "none");
    assert_eq!(answer(&server, "column?path=/&by=ct").1["words"], json!(["B", "NK"]));
    for (query, status) in [
        ("by=_index", 404),
        ("by=x", 404),
        ("by=../obsm/X_pca", 400),
        ("by=.x", 404),
        ("by=", 400),
        ("", 400),
    ] {
        assert_eq!(answer(&server, &format!("column?path=/&{query}")).0, status, "{query}");
    }
}

#[test]
fn positions_in_one_level_of_an_image_are_found_in_another() {
    let folder = Folder::new();
    let ome = "{\"ome\":{\"version\":\"0.5\",\"multiscales\":[{\"axes\":[{\"name\":\"z\",\"type\":\"space\"},\
               {\"name\":\"y\",\"type\":\"space\"},{\"name\":\"x\",\"type\":\"space\"}],\"datasets\":[\
               {\"path\":\"s0\",\"coordinateTransformations\":[{\"type\":\"scale\",\"scale\":[1,1,1]}]},\
               {\"path\":\"s1\",\"coordinateTransformations\":[{\"type\":\"scale\",\"scale\":[2,2,2]}]}]}]}}";
    for arguments in [
        "create i.zarr --group".to_owned(),
        "create i.zarr/s0 --dtype uint8 --shape 8,4,4".to_owned(),
        "create i.zarr/s1 --dtype uint8 --shape 4,2,2".to_owned(),
        format!("attrs merge i.zarr {ome}"),
    ] {
        crate::harness::zarr_in(folder.path(), arguments.split(' ')).exits(0);
    }
    let server = Server::start([folder.join("i.zarr")]);
    for (query, wanted) in [
        ("level=s1&of=s0&at=7,0,0", 3),
        ("level=s0&of=s1&at=3,0,0", 6),
        ("level=s0&of=s0&at=7,0,0", 7),
        ("level=s0&of=s7&at=3,0,0", 3),
        ("level=s1&of=s0", 2),
    ] {
        assert_eq!(answer(&server, &format!("plane?path=/&{query}")).1["at"][0], wanted, "{query}");
    }
}

#[test]
fn a_browser_at_the_root_gets_the_page_and_programs_the_listing() {
    let folder = planes();
    let server = Server::start([folder.join("a.zarr")]);
    let browser = "Accept: text/html,application/xhtml+xml,*/*;q=0.8";
    let reply = server.get("/", &[browser]);
    assert_eq!((reply.status, reply.header("location")), (302, Some("/.page/")));
    for (path, headers) in
        [("/", vec![]), ("/", vec!["Accept: */*"]), ("/?format=html", vec![browser]), ("/t/", vec![browser])]
    {
        assert_eq!(server.get(path, &headers).status, 200, "{path} {headers:?}");
    }
}

#[test]
fn what_the_page_cannot_get_is_an_error_with_a_reason() {
    let folder = planes();
    folder.write("a.zarr/t/c/0/0/0", "corrupt");
    let server = Server::start([folder.join("a.zarr")]);
    for (what, status, part) in [
        ("node?path=/missing", 404, "missing"),
        ("node?path=/../../etc", 400, ""),
        ("node?path=/%2e%2e/x", 400, ""),
        ("plane?path=/", 404, ""),
        ("plane?path=/t&sides=2,1", 400, "sides"),
        ("plane?path=/t&sides=1,9", 400, "sides"),
        ("plane?path=/t&sides=x", 400, "sides"),
        ("plane?path=/t&at=-1", 400, "at"),
        ("plane?path=/t&side=x", 400, "side"),
        ("plane?path=/t&along=3", 400, "along"),
        ("plane?path=/t&zoom=0,1,0", 400, "zoom"),
        ("plane?path=/t&zoom=0,1,0.5,0.5", 400, "zoom"),
        ("plane?path=/t&zoom=0,2,0,1", 400, "zoom"),
        ("plane?path=/t&zoom=0,NaN,0,1", 400, "zoom"),
        ("plane?path=/t&along=-1", 400, "along"),
        ("plane?path=/t", 422, "chunk [0, 0, 0]"),
    ] {
        let (got, answer) = answer(&server, what);
        let reason = answer["error"].as_str().unwrap();
        assert!(got == status && reason.contains(part), "{what}: {got} {reason}");
    }
    assert_eq!(server.get("/.page/x", &[]).status, 404);
    assert_eq!(
        server.send(b"GET /.page/tree HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").status,
        421
    );
}
