//! Tests of the suite of implementations, with a store of two bytes and shell scripts as peers.

use std::fs;
use std::path::Path;
use std::time::Duration;

use zarr_conformance::implementation::{About, Deviations, Fixtures, Options, Peer, Results, Snapshot, run};

/// SHA-256 of `ab`.
const DIGEST: &str = "fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603";

/// Creates a valid array, and a malformed store.
fn fixtures(folder: &Path) -> Fixtures {
    for (store, value) in [("right.zarr", "ab"), ("broken.zarr", "a")] {
        fs::create_dir_all(folder.join(store)).unwrap();
        fs::write(folder.join(store).join("zarr.json"), "{}").unwrap();
        fs::write(folder.join(store).join("c"), value).unwrap();
    }
    let right = format!(
        r#"{{ "id": "right", "category": "v3-a", "zarr_format": 3, "store": "right.zarr", "kind": "raw", "expect": "ok",
              "shape": [2], "dtype": "uint8", "nbytes": 2, "sha256": "{DIGEST}", "write": "zarr.json" }}"#
    );
    let broken = r#"{ "id": "broken", "category": "neg-a", "zarr_format": 3, "store": "broken.zarr", "kind": "neg",
                      "verb": "cat", "expect": "error", "failure": "data" }"#;
    fs::write(folder.join("manifest.json"), format!(r#"{{ "cases": [{right}, {broken}] }}"#)).unwrap();
    Fixtures::load(folder).unwrap()
}

/// Returns the script of a correct peer, with another command for reading.
fn script(read: &str) -> String {
    format!(
        r#"verb=$1; shift
        case $verb in
            info) echo '{{"node_type": "array", "zarr_format": 3, "shape": [2], "data_type": "uint8"}}' ;;
            read) {read} ;;
            write) mkdir -p "$1" && cp "$2" "$1/zarr.json" && cat > "$1/c" ;;
            *) exit 89 ;;
        esac"#
    )
}

const READ: &str =
    r#"if [ "$(wc -c < "$1/c")" -ne 2 ]; then echo "a chunk is short" >&2; exit 1; fi; cat "$1/c""#;

fn peer(id: &str, script: &str) -> Peer {
    Peer::new(id, ["sh", "-c", script, "sh"])
}

fn asked(peers: &[Peer]) -> Results {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::new(folder.path().join("work"));
    options.time = Duration::from_secs(20);
    run(&fixtures(folder.path()), peers, &options).unwrap()
}

/// Returns the results of all cases in short form.
fn told(read: &str) -> String {
    Snapshot::of(&asked(&[peer("p", &script(read))]), "p").to_string()
}

#[test]
fn a_peer_that_does_everything_right_passes() {
    assert_eq!(
        told(READ),
        "broken: info passed, read passed\n\
         right: info passed, read passed\n\
         write.right: read by p passed, write passed\n"
    );
}

#[test]
fn wrong_behaviour_is_found() {
    let unread = "write.right: write not-implemented\n";
    for (read, broken, right) in [
        // Pads a short chunk, and so returns elements that were never written.
        (r#"head -c 2 "$1/c""#, "failed:accepted", "passed"),
        ("printf xx", "failed:accepted", "failed:wrong"),
        // The refusal of the malformed array means nothing.
        ("echo no >&2; exit 1", "not-implemented", "failed:refused"),
        // An error without a reason.
        ("exit 1", "failed:broken", "failed:refused"),
        ("exit 89", "not-implemented", "not-implemented"),
        ("exit 3", "failed:broken", "failed:broken"),
        ("kill -SEGV $$", "failed:broken", "failed:broken"),
        ("echo panicked at >&2; exit 1", "failed:broken", "failed:broken"),
    ] {
        let told = told(read);
        let lines: Vec<_> = told.lines().collect();
        assert_eq!(lines[0], format!("broken: info passed, read {broken}"), "{read}");
        assert_eq!(lines[1], format!("right: info passed, read {right}"), "{read}");
        assert_eq!(told.contains(unread), right != "passed", "no elements to write: {read}");
    }
}

/// Creates an array without compression and one with gzip, each with a malformed one like it, and malformed arrays with
/// an unknown codec, of another format, and without a well-formed array of their format.
fn compressed(folder: &Path) -> Fixtures {
    let mut cases = Vec::new();
    for (id, format, codec) in [
        ("plain", 3, "bytes"),
        ("zipped", 3, "gzip"),
        ("old", 2, "zlib"),
        ("bad-plain", 3, "bytes"),
        ("bad-zipped", 3, "gzip"),
        ("bad-unknown", 3, "foo"),
        ("bad-old", 2, "zlib"),
        ("bad-older", 1, "zlib"),
    ] {
        fs::create_dir_all(folder.join(id)).unwrap();
        fs::write(folder.join(id).join("c"), "ab").unwrap();
        let expected = if id.starts_with("bad") {
            r#""kind": "neg", "verb": "cat", "expect": "error""#.to_owned()
        } else {
            format!(
                r#""kind": "raw", "expect": "ok", "shape": [2], "dtype": "uint8", "nbytes": 2, "sha256": "{DIGEST}""#
            )
        };
        cases.push(format!(
            r#"{{ "id": "{id}", "category": "a", "zarr_format": {format}, "store": "{id}",
                  "features": ["format:{format}", "codec:{codec}"], {expected} }}"#
        ));
    }
    fs::write(folder.join("manifest.json"), format!(r#"{{ "cases": [{}] }}"#, cases.join(", "))).unwrap();
    Fixtures::load(folder).unwrap()
}

/// Runs the chosen cases of [`compressed`] with a peer that reads only `able`, and refuses everything else. Returns the
/// results in short form, or the error.
fn refused(able: &str, cases: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::new(folder.path().join("work"));
    options.cases = cases.iter().map(|&case| case.to_owned()).collect();
    let script = format!(
        r#"for able in {able}; do if [ "$1" = read ] && [ "${{2##*/}}" = $able ]; then cat "$2/c"; exit; fi; done
        echo no >&2; exit 1"#
    );
    match run(&compressed(folder.path()), &[peer("p", &script)], &options) {
        Ok(results) => Snapshot::of(&results, "p").to_string(),
        Err(error) => format!("{error:#}"),
    }
}

#[test]
fn a_refusal_counts_only_if_a_similar_array_is_read() {
    let verdict = |id: &str, verdict: &str| format!("{id}: info {verdict}, read {verdict}\n");
    for (able, plain, zipped, old) in [
        ("plain zipped old", "passed", "passed", "passed"),
        ("plain zipped", "passed", "passed", "not-implemented"),
        ("plain old", "passed", "not-implemented", "passed"),
        ("zipped", "not-implemented", "passed", "not-implemented"),
        ("old", "not-implemented", "not-implemented", "passed"),
    ] {
        // An array of format 3 shows that an unknown codec of format 3 is refused for its name.
        let unknown = if able == "old" { "not-implemented" } else { "passed" };
        let expected = [("bad-old", old), ("bad-older", "passed"), ("bad-plain", plain)]
            .map(|(id, told)| verdict(id, told))
            .concat()
            + &verdict("bad-unknown", unknown)
            + &verdict("bad-zipped", zipped);
        let all = refused(able, &[]);
        assert!(all.starts_with(&expected), "{able}: {all}");
        assert_eq!(
            refused(able, &["bad-*"]),
            expected,
            "the controls are asked, and are not counted: {able}"
        );
    }
}

#[test]
fn a_refusal_that_does_not_count_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let reads = |able: &str| {
        let script = format!(
            r#"if [ "$1 ${{2##*/}}" = "read {able}" ]; then cat "$2/c"; else echo no >&2; exit 1; fi"#
        );
        peer(able, &script)
    };
    let options = Options::new(folder.path().join("work"));
    let results = run(&compressed(folder.path()), &[reads("plain"), reads("old")], &options).unwrap();
    let shown = results.to_json(&About::default());
    let lacks = "refused, but reads no well-formed array of format 3";
    assert_eq!(shown["results"]["old"]["bad-zipped"][1]["got"], format!("{lacks}: no"));
    assert_eq!(shown["results"]["plain"]["bad-zipped"][1]["got"], format!("{lacks} with codec:gzip: no"));
}

#[test]
fn a_peer_without_any_success_is_an_error() {
    let error = "p: no call succeeded; the first message is: no";
    for cases in [&[][..], &["bad-*"], &["bad-older"], &["plain"]] {
        assert_eq!(refused("none", cases), error, "{cases:?}");
    }
    assert_eq!(refused("zipped", &["plain"]), "plain: info failed:refused, read failed:refused\n");
}

#[test]
fn copies_are_read_by_all_peers_that_can_read_the_fixture() {
    let wrong = script(READ).replace(r#"cat > "$1/c""#, r#"printf xy > "$1/c""#);
    let peers = [peer("good", &script(READ)), peer("bad", &wrong), peer("blind", &script("exit 89"))];
    let mut results = asked(&peers);
    let line = |id: &str| {
        let told = Snapshot::of(&results, id).to_string();
        told.lines().find(|line| line.starts_with("write.")).unwrap().to_owned()
    };
    let by =
        |verdict: &str| format!("write.right: read by bad {verdict}, read by good {verdict}, write passed");
    assert_eq!(line("bad"), by("failed:wrong"));
    assert_eq!(line("good"), by("passed"));
    assert_eq!(line("blind"), by("passed"));

    assert_eq!(results.explain(|_| Deviations::default()).len(), 2);
    let about = About::default();
    assert!(results.to_table().contains("write v3-a"));
    assert_eq!(results.to_junit().matches("<failure").count(), 1);
    let shown = results.to_json(&about);
    assert_eq!(shown["results"]["bad"]["write.right"][1]["kind"], "wrong");
    assert_eq!(
        (&shown["cases"][0]["store"], &shown["cases"][0]["array"]),
        (&"right.zarr".into(), &"".into())
    );
    assert!(results.to_html(&about).contains("write.right"));
}

#[test]
fn a_peer_may_serve_and_is_started_again_when_it_ends() {
    // The script reads the node and the output file from a request, and ends after its second request.
    let serving = r#"
        asked=0
        while read -r line; do
            part() { printf '%s' "$line" | sed 's/.*"'"$1"'":"\([^"]*\)".*/\1/'; }
            asked=$((asked + 1))
            if [ $asked -eq 2 ]; then exit 7; fi
            case $(part verb) in
                info) echo '{"node_type": "array", "zarr_format": 3, "shape": [2], "data_type": "uint8"}' > "$(part output)" ;;
                *) cat "$(part node)/c" > "$(part output)" ;;
            esac
            echo '{"exit": 0}'
        done"#;
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::new(folder.path().join("work"));
    options.threads = 1;
    options.cases = vec!["right".to_owned(), "broken".to_owned()];
    let peers = [peer("p", serving).serving(true)];
    let results = run(&fixtures(folder.path()), &peers, &options).unwrap();
    assert_eq!(
        Snapshot::of(&results, "p").to_string(),
        "broken: info passed, read failed:broken\nright: info passed, read failed:broken\n"
    );
    assert!(!folder.path().join("work").exists(), "no files stay behind");
}

#[test]
fn messages_of_a_serving_peer_belong_to_their_request() {
    let serving = r#"
        read -r line
        output=$(printf '%s' "$line" | sed 's/.*"output":"\([^"]*\)".*/\1/')
        seq 2000 >&2
        echo '{"node_type": "array", "zarr_format": 3, "shape": [2], "data_type": "uint8"}' > "$output"
        echo '{"exit": 0}'
        read -r line
        case $line in *right*) echo last words >&2 ;; esac
        kill -ABRT $$"#;
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::new(folder.path().join("work"));
    options.write = false;
    let results = run(&fixtures(folder.path()), &[peer("p", serving).serving(true)], &options).unwrap();
    let shown = results.to_json(&About::default());
    let crash = "ended without an answer to `serve`: killed by signal 6 (Aborted)";
    assert_eq!(shown["results"]["p"]["broken"][1]["got"], crash);
    assert_eq!(shown["results"]["p"]["right"][1]["got"], format!("{crash}: last words"));
}

#[test]
fn messages_say_what_is_found() {
    for (read, got) in [
        ("exit 1", "exit code 1 without a message"),
        ("exit 3", "exit code 3 is not documented"),
        ("echo 'Segmentation fault' >&2; exit 139", "killed by signal 11 (Segmentation fault)"),
        ("echo why >&2; kill -KILL $$", "killed by signal 9 (Killed): why"),
    ] {
        let shown = asked(&[peer("p", &script(read))]).to_json(&About::default());
        for case in ["right", "broken"] {
            assert_eq!(shown["results"]["p"][case][1]["got"], got, "{case}");
        }
    }
    let polluted = script(READ).replace("info) ", "info) echo 'loading \"zarr\"'; ");
    let shown = asked(&[peer("p", &polluted)]).to_json(&About::default());
    let got = shown["results"]["p"]["right"][0]["got"].as_str().unwrap();
    assert!(
        got.contains(r#"expected JSON, found "loading \"zarr\"\n{\"node_type"#)
            && got.contains(": line 1, column 1 (byte 0): expected a value"),
        "{got}"
    );
}
