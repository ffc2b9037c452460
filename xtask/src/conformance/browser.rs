//! Checks pages in a browser, and takes pictures of them: the report, what the command shows of stores, and the page of
//! benchmarks.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

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
    // Packed as (kelvin - 273.15) / 0.01, with a missing box.
    #[allow(clippy::cast_possible_truncation, reason = "a packed temperature")]
    let packed = |(i, kelvin): (u32, f64)| match (i / 180 % 90, i % 180) {
        (20..30, 130..150) => i16::MIN,
        _ => ((kelvin - 273.15) * 100.0).round() as i16,
    };
    let waves = (0_u32..).zip(waves).map(packed);
    fs::write(folder.join("t2m.raw"), waves.flat_map(i16::to_le_bytes).collect::<Vec<_>>())?;
    let steps = |count: u16, first: f32, step: f32| -> Vec<u8> {
        (0..count).flat_map(|at| (first + step * f32::from(at)).to_le_bytes()).collect()
    };
    fs::write(folder.join("lat.raw"), steps(90, 89.0, -2.0))?;
    fs::write(folder.join("lon.raw"), steps(180, 0.0, 2.0))?;
    for (level, side) in [("0", 64_u16), ("1", 32)] {
        let cells = (0..2 * side * side).map(|i| {
            let [c, y, x] = [i / (side * side), i / side % side, i % side]
                .map(|at| f64::from(at) * 64.0 / f64::from(side));
            let far = (y - 32.0).hypot(x - 20.0 - 24.0 * c.min(1.0));
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 100 to 1000")]
            let bright = (100.0 + 900.0 * (-far * far / 200.0).exp()) as u16;
            bright
        });
        fs::write(
            folder.join(format!("cells{level}.raw")),
            cells.flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
        )?;
    }
    let dataset = |path: &str, scale: f64| {
        format!(
            r#"{{"path":"{path}","coordinateTransformations":[{{"type":"scale","scale":[1,{scale},{scale}]}}]}}"#
        )
    };
    let ome = format!(
        r#"{{"ome":{{"version":"0.5","multiscales":[{{"axes":[{{"name":"c","type":"channel"}},{{"name":"y","type":"space","unit":"micrometer"}},{{"name":"x","type":"space","unit":"micrometer"}}],"datasets":[{},{}]}}],"omero":{{"channels":[{{"label":"DAPI","color":"0000FF","window":{{"start":100,"end":1000}}}},{{"label":"GFP","color":"00FF00","window":{{"start":100,"end":1000}}}}]}}}}}}"#,
        dataset("0", 0.5),
        dataset("1", 1.0)
    );
    fs::write(folder.join("steps.raw"), (0..1600_u16).flat_map(u16::to_le_bytes).collect::<Vec<_>>())?;
    for arguments in [
        "create weather.zarr --group",
        "create weather.zarr/g --group",
        "create weather.zarr/names --dtype string --shape 2,2",
        "create weather.zarr/sharded --dtype u2 --shape 40,40 --chunks 5,5 --shards 20,20 --from steps.raw",
        "create weather.zarr/t2m --dtype i2 --shape 24,90,180 --chunks 12,45,90 --dimension-names time,lat,lon --from t2m.raw",
        r#"attrs merge weather.zarr/t2m {"scale_factor":0.01,"add_offset":273.15,"_FillValue":-32768,"units":"K"}"#,
        "create weather.zarr/lat --dtype f4 --shape 90 --dimension-names lat --from lat.raw",
        "attrs set weather.zarr/lat units degrees_north",
        "create weather.zarr/lon --dtype f4 --shape 180 --dimension-names lon --from lon.raw",
        "attrs set weather.zarr/lon units degrees_east",
        "create weather.zarr/cells --group",
        "create weather.zarr/cells/0 --dtype u2 --shape 2,64,64 --chunks 1,32,32 --dimension-names c,y,x --from cells0.raw",
        "create weather.zarr/cells/1 --dtype u2 --shape 2,32,32 --chunks 1,32,32 --dimension-names c,y,x --from cells1.raw",
        &format!("attrs merge weather.zarr/cells {ome}"),
        "attrs set weather.zarr/t2m title \"<img\u{a0}src=x\u{a0}onerror=alert(1)>\"",
        "view weather.zarr -o view.html",
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

/// Checks what both show of a node of each kind, wide and narrow, and writes pictures beside the report. With `update`
/// two of them become those of the README of the command.
pub(super) fn check_kinds(report: &Path, update: bool) -> Result<()> {
    let Some(mut test) = test("kinds.mjs")? else { return Ok(()) };
    let pictures = report.join("pictures");
    run(test.arg(build::program("zarr")?).arg(report.join("kinds")).arg(&pictures))?;
    for name in ["view.png", "info.png"].into_iter().filter(|_| update) {
        let of_readme = root().join("crates/zarr-cli/pictures").join(name);
        fs::copy(pictures.join(format!("readme-{name}")), &of_readme)
            .with_context(|| of_readme.display().to_string())?;
    }
    Ok(())
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
