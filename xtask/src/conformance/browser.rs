//! Checks pages in a browser, and takes pictures of them: the report, what the command shows of a store, and the page of
//! benchmarks.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::command::{answers, root, run, target_dir};
use crate::install::{chromium, npm, once, required};
use crate::{bench, build};

/// Checks the page in a folder of reports, and writes pictures beside it.
pub(super) fn check(report: &Path) -> Result<()> {
    let Some(mut test) = test("test.mjs")? else { return Ok(()) };
    run(test.arg(report.join("index.html")).arg(report.join("pictures")))
}

/// Checks what `zarr serve` and `zarr view` show of a small store, and writes pictures beside the report.
pub(super) fn check_command(report: &Path) -> Result<()> {
    let Some(mut test) = test("command.mjs")? else { return Ok(()) };
    let zarr = build::program("zarr")?;
    let folder = report.join("command");
    let _ = fs::remove_dir_all(&folder);
    let store = folder.join("weather.zarr");
    fs::create_dir_all(store.join("broken"))?;
    fs::write(store.join("broken/zarr.json"), r#"{"zarr_format": 3, "node_type": "array"}"#)?;
    let waves = (0..24 * 90 * 180_u32).map(|i| {
        let [time, lat, lon] = [i / 16_200, i / 180 % 90, i % 180].map(f64::from);
        let wave = ((lon + 7.0 * time) / 180.0 * 4.0 * std::f64::consts::PI).sin();
        273.0 + 25.0 * (lat / 90.0 * std::f64::consts::PI).sin() + 5.0 * wave * (lat / 20.0).cos()
    });
    #[allow(clippy::cast_possible_truncation, reason = "a temperature")]
    fs::write(
        folder.join("t2m.raw"),
        waves.flat_map(|kelvin| (kelvin as f32).to_le_bytes()).collect::<Vec<_>>(),
    )?;
    fs::write(folder.join("steps.raw"), (0..1600_u16).flat_map(u16::to_le_bytes).collect::<Vec<_>>())?;
    for arguments in [
        "create weather.zarr --group",
        "create weather.zarr/g --group",
        "create weather.zarr/names --dtype string --shape 2,2",
        "create weather.zarr/sharded --dtype u2 --shape 40,40 --chunks 5,5 --shards 20,20 --from steps.raw",
        "create weather.zarr/t2m --dtype f4 --shape 24,90,180 --chunks 12,45,90 --dimension-names time,lat,lon --from t2m.raw",
        "attrs set weather.zarr/t2m title \"<img\u{a0}src=x\u{a0}onerror=alert(1)>\"",
        "view weather.zarr -o view.html --colormap viridis",
    ] {
        // No-break spaces stand for spaces within an argument.
        let arguments = arguments.split(' ').map(|argument| argument.replace('\u{a0}', " "));
        run(Command::new(&zarr).args(arguments).current_dir(&folder).stdout(Stdio::null()))?;
    }
    let mut server = Command::new(&zarr);
    server.args(["serve", "--listen", "127.0.0.1:0"]).arg(&store);
    let mut server = server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut url = String::new();
    if let Some(out) = server.stdout.take() {
        BufReader::new(out).read_line(&mut url)?;
    }
    let done = run(test.arg(url.trim()).arg(folder.join("view.html")).arg(report.join("pictures")));
    server.kill()?;
    server.wait()?;
    done
}

/// Checks the page of the recorded samples of benchmarks, and writes pictures beside the report.
pub(super) fn check_bench(report: &Path) -> Result<()> {
    let Some(mut test) = test("bench.mjs")? else { return Ok(()) };
    let page = report.join("bench.html");
    bench::sample(&page)?;
    run(test.arg(page).arg(report.join("pictures")))
}

/// Returns a test that drives a browser, or `None` if something is missing on this machine.
fn test(script: &str) -> Result<Option<Command>> {
    let chromium = chromium()?;
    let is_there = |program: &str| answers(Command::new(program).arg("--version"));
    let missing = [("chromium", chromium.as_str()), ("node", "node"), ("npm", "npm")];
    if let Some((name, _)) = missing.iter().find(|(_, program)| !is_there(program)) {
        let message = format!("no page was checked in a browser: {name} is missing on this machine");
        if required() {
            bail!("{message}");
        }
        println!("SKIPPED {message}");
        return Ok(None);
    }
    let source = root().join("conformance/page");
    let place = target_dir().join("peers/page");
    let pins = fs::read_to_string(source.join("package-lock.json"))?;
    once(&place, &pins, |folder| npm(folder, &source))?;
    let mut test = Command::new("node");
    test.arg(source.join(script)).env("NODE_PATH", place.join("node_modules"));
    Ok(Some(test))
}
