//! The report: one HTML page without scripts, which loads nothing.

use std::fmt::Write as _;

use super::history::Milestone;
use super::lines;
use super::results::{Cell, Chart, Results, Scaling, Sums, median};
use super::text::{escaped, ratio, size_of, time, whole};

const STYLE: &str = include_str!("page.css");

/// Renders the page of results, and of what releases before reached.
pub(super) fn page(results: &Results, history: &[Milestone], sources: &[String]) -> String {
    let mut body = String::from("<h1>Benchmarks</h1>\n");
    let sources: Vec<String> =
        sources.iter().map(|source| format!("<code>{}</code>", escaped(source))).collect();
    let _ = writeln!(body, "<p>From {}.</p>", sources.join(", "));
    if !results.cells.is_empty() {
        body += &cells(results);
    }
    for scaling in &results.scaling {
        body += &self::scaling(scaling);
    }
    if !history.is_empty() {
        body += &releases(history);
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Benchmarks</title>\n<style>\n{STYLE}</style>\n<main>\n{body}</main>\n</html>\n"
    )
}

/// Renders the comparison with other implementations.
fn cells(results: &Results) -> String {
    let mut html = String::from("<h2>Beside other implementations</h2>\n");
    let versions = results.versions.iter().map(|(name, versions)| {
        let versions: Vec<_> = versions.iter().map(String::as_str).collect();
        escaped(&format!("{name} {}", versions.join(" and ")))
    });
    let _ = writeln!(html, "<p>{}.</p>", versions.collect::<Vec<_>>().join(", "));
    let all: Vec<&Cell> = results.cells.iter().collect();
    html += "<p>Wall is the least of all repetitions. <em>CPU, × sol</em> is our time on all processors, divided by that of \
        a program that knows the layout of the data beforehand. <em>Speed</em> is the wall time of the fastest other \
        implementation, divided by ours: more than 1 means that ours is faster. With several runs each ratio is the median of \
        the ratios within the runs, with the smallest and the largest.</p>\n";

    html += "<h3>By kind of work</h3>\n<div class=\"wide\"><table>\n<thead><tr><th>work<th>cells<th>CPU, × sol\
        <th colspan=\"2\">speed, geometric mean<th class=\"text\">slowest cell</thead>\n<tbody>\n";
    let mut kinds: Vec<&str> = Vec::new();
    for cell in &results.cells {
        if !kinds.contains(&cell.kind()) {
            kinds.push(cell.kind());
        }
    }
    for kind in kinds {
        let cells: Vec<&Cell> = all.iter().copied().filter(|cell| cell.kind() == kind).collect();
        html += &sum(kind, &cells);
    }
    html += "</tbody>\n<tfoot>\n";
    html += &sum("all", &all);
    html += "</tfoot>\n</table></div>\n<h3>Cells</h3>\n<div class=\"wide\"><table>\n<thead><tr><th>cell<th>wall<th>CPU, × sol\
        <th class=\"text\">fastest other<th>its wall<th colspan=\"2\">speed<th>range<th>peak MiB<th>of the other<th>requests\
        <th>of the other</thead>\n<tbody>\n";
    for cell in &results.cells {
        html += &row(cell);
    }
    html + "</tbody>\n</table></div>\n"
}

/// Renders the history, the newest release first.
fn releases(history: &[Milestone]) -> String {
    let mut html = String::from(
        "<h2>Releases</h2>\n<p>Each row is measured on one machine with the other implementations of its time, and has the \
         geometric mean of all cells.</p>\n<div class=\"wide\"><table>\n<thead><tr><th>release<th>of<th>cells<th>CPU, × sol\
         <th colspan=\"2\">speed<th>cells behind<th class=\"text\">slowest cell<th class=\"text\">beside\
         <th class=\"text\">machine</thead>\n<tbody>\n",
    );
    for of in history.iter().rev() {
        let _ = writeln!(
            html,
            "<tr><th>{}<td>{}<td>{}<td>{}{}<td>{}<td class=\"text\">{}<td class=\"text\">{}<td class=\"text\">{}",
            escaped(&of.release),
            escaped(&of.date),
            of.cells,
            ratio(of.cpu),
            bar(of.speed),
            of.behind,
            escaped(&of.slowest),
            escaped(&of.others),
            escaped(&of.machine)
        );
    }
    html + "</tbody>\n</table></div>\n"
}

/// Renders the sum of some cells.
fn sum(name: &str, cells: &[&Cell]) -> String {
    let sums = Sums::of(cells.iter().copied());
    let slowest = sums.slowest.map(|(name, speed)| format!("{} {}", escaped(name), ratio(speed)));
    format!(
        "<tr><th>{}<td>{}<td>{}{}<td class=\"text\">{}\n",
        escaped(name),
        cells.len(),
        ratio(sums.cpu),
        bar(sums.speed),
        slowest.unwrap_or_default()
    )
}

fn row(cell: &Cell) -> String {
    let beside = cell.beside();
    let failures: Vec<String> =
        cell.runs.iter().filter_map(|run| run.failure.as_deref()).map(escaped).collect();
    let name = escaped(&cell.name);
    if beside.is_empty() {
        return format!("<tr><th>{name}<td colspan=\"11\" class=\"text bad\">{}\n", failures.join("; "));
    }
    let rivals: Vec<_> = beside.iter().filter_map(|run| run.rival).collect();
    let mut names: Vec<String> = rivals.iter().map(|(name, ..)| escaped(name)).collect();
    names.dedup();
    let of = |numbers: Vec<f64>, shown: fn(f64) -> String| match numbers.is_empty() {
        true => String::new(),
        false => shown(median(numbers)),
    };
    #[allow(clippy::cast_precision_loss, reason = "a number of requests")]
    let requests = |outcome: &super::results::Outcome| outcome.requests().map(|n| n as f64);
    let speeds = cell.speed();
    let range = match speeds {
        Some([_, least, most]) if rivals.len() > 1 => format!("{} to {}", ratio(least), ratio(most)),
        _ => String::new(),
    };
    format!(
        "<tr><th>{name}{}<td>{}<td>{}<td class=\"text\">{}<td>{}{}<td>{range}<td>{}<td>{}<td>{}<td>{}\n",
        failures.iter().map(|failure| format!(" <span class=\"bad\">{failure}</span>")).collect::<String>(),
        of(beside.iter().map(|run| run.ours.wall()).collect(), time),
        cell.cpu().map(ratio).unwrap_or_default(),
        names.join(", "),
        of(rivals.iter().map(|(_, rival, _)| rival.wall()).collect(), time),
        bar(speeds.map_or(f64::NAN, |speeds| speeds[0])),
        of(beside.iter().map(|run| run.ours.rss).collect(), whole),
        of(rivals.iter().map(|(_, rival, _)| rival.rss).collect(), whole),
        of(beside.iter().filter_map(|run| requests(run.ours)).collect(), whole),
        of(rivals.iter().filter_map(|(_, rival, _)| requests(rival)).collect(), whole),
    )
}

/// Renders the cells of a ratio: a number, and a bar from 1 to the right or to the left. A bar has its full length at 16.
fn bar(speed: f64) -> String {
    if speed.is_nan() {
        return "<td><td>".to_owned();
    }
    let length = (speed.log2().abs() / 4.0).min(1.0) * 50.0;
    let (class, start) = if speed < 1.0 { ("slower", 50.0 - length) } else { ("faster", 50.0) };
    format!(
        "<td class=\"{class}\">{}<td class=\"bar\"><div class=\"{class}\" style=\"margin-left:{start:.1}%;width:{length:.1}%\"></div>",
        ratio(speed)
    )
}

/// Renders the curves of one file.
fn scaling(scaling: &Scaling) -> String {
    let quick = if scaling.quick { ", each work done once (<code>--quick</code>)" } else { "" };
    let mut html = format!(
        "<h2>Scaling</h2>\n<p>Version {}, {} processors{quick}. Median of the repetitions; both axes are logarithmic.</p>\n\
         <div class=\"charts\">\n",
        escaped(&scaling.version),
        scaling.processors
    );
    for chart in &scaling.charts {
        let (title, unit) = (escaped(&chart.title), escaped(&chart.unit));
        let _ = writeln!(
            html,
            "<figure>\n<figcaption><h3>{title}</h3>time for each {unit}</figcaption>\n{}{}</figure>",
            lines::draw(chart),
            numbers(chart)
        );
    }
    html + "</div>\n"
}

/// Renders the numbers of a chart as a table, closed at first.
fn numbers(chart: &Chart) -> String {
    let mut sizes: Vec<f64> =
        chart.lines.iter().flat_map(|line| &line.points).map(|point| point.size).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let heads: String = sizes.iter().map(|size| format!("<th>{}", size_of(*size, &chart.size))).collect();
    let mut html = format!(
        "<details><summary>Numbers</summary>\n<div class=\"wide\"><table>\n<thead><tr><th>{}<th>threads{heads}</thead>\n<tbody>\n",
        escaped(&chart.size)
    );
    for line in &chart.lines {
        let cost = |size: &f64| {
            let point = line.points.iter().find(|point| point.size.total_cmp(size).is_eq());
            format!("<td>{}", point.map(|point| time(point.each())).unwrap_or_default())
        };
        let costs: String = sizes.iter().map(cost).collect();
        let _ = writeln!(html, "<tr><th>{}<td>{}{costs}", escaped(&line.name), line.threads);
    }
    html + "</tbody>\n</table></div></details>\n"
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests only")]
mod tests {
    use super::*;

    /// Returns the page of the samples, and the rows that begin with a name, as plain texts.
    fn sample() -> (String, impl Fn(&str) -> Vec<String>) {
        let mut results = Results::default();
        let files = [
            include_str!("../../testdata/bench/first.json"),
            include_str!("../../testdata/bench/second.json"),
            include_str!("../../testdata/bench/scaling.json"),
        ];
        files.into_iter().for_each(|file| results.add(file).unwrap());
        let history =
            serde_json::from_str::<Vec<Milestone>>(include_str!("../../testdata/bench/history.json"));
        let page = page(&results, &history.unwrap(), &["<first>.json".to_owned()]);
        let rows = page.clone();
        let rows_of = move |name: &str| {
            let rows = rows.lines().filter_map(|line| line.strip_prefix(&format!("<tr><th>{name}<td")));
            rows.map(|row| {
                let cells = row.split("<td").map(|cell| cell.split_once('>').map_or("", |(_, rest)| rest));
                cells
                    .map(|cell| cell.split('<').next().unwrap_or_default().trim())
                    .collect::<Vec<_>>()
                    .join("|")
            })
            .collect()
        };
        (page, rows_of)
    }

    #[test]
    fn a_row_has_the_least_of_the_repetitions_and_the_medians_of_the_ratios() {
        let (_, rows) = sample();
        for (name, row) in [
            // Both runs: 79 ms to 40 ms, and 150 ms to 50 ms; the CPU is that of sol, and 1.2 times as much.
            ("read-all/raw", "45 ms|1.10|zarrs|114 ms|2.49||1.98 to 3.00|274|280||"),
            // TensorStore failed.
            ("read-all/zstd", "145 ms|1.05|zarrs|230 ms|1.60||1.20 to 2.00|276|282||"),
            ("write-all/tiny", "1 s|2.00|zarrs|600 ms|0.60|||270|273||"),
            ("update/raw", "wrong data"),
            ("open", "unsupported: open"),
            ("net/slab64", "60 ms||zarrs|360 ms|6.00|||40|60|65|65"),
            ("net/slab64 (http)", "70 ms||zarrs|350 ms|5.00|||40|60|65|65"),
        ] {
            assert_eq!(rows(name).last().unwrap(), row, "{name}");
        }
        assert_eq!(rows("base/memcpy"), [""; 0], "a bound is no cell of ours");
    }

    #[test]
    fn sums_are_geometric_means() {
        let (_, rows) = sample();
        for (name, row) in [
            ("read-all", "2|1.07|1.99||read-all/zstd 1.60"),
            ("update", "1||||"),
            ("all", "7|1.32|2.35||write-all/tiny 0.60"),
        ] {
            assert_eq!(rows(name)[0], row, "{name}");
        }
    }

    #[test]
    fn releases_have_rows_the_newest_first() {
        let (page, rows) = sample();
        assert_eq!(
            rows("0.1.0")[0],
            "2026-11-23|57|1.31|1.58||10|write-all/tiny 0.60|zarrs 0.23.14|2 × one & another"
                .replace('&', "&amp;")
        );
        assert!(page.find("<th>0.2.0").unwrap() < page.find("<th>0.1.0").unwrap());
    }

    #[test]
    fn the_page_loads_nothing_and_escapes_names() {
        let (page, _) = sample();
        for loading in ["http:", "https:", "//", "src=", "href=", "url(", "@import", "<script", "<first>"] {
            assert!(!page.contains(loading), "{loading}");
        }
        assert!(page.contains("<code>&lt;first&gt;.json</code>"));
        assert_eq!(page.matches("<figure>").count(), 2);
        // Each point has a circle with its number as text.
        assert_eq!(page.matches("<circle").count(), 4 * 4 + 2 * 3);
        assert!(page.contains("read all, 1 thread, 1 k chunks of the array: 315 ns for each chunk"));
    }

    #[test]
    fn another_file_is_refused() {
        for (file, message) in [
            ("[]", "not a JSON object"),
            ("{}", "neither a member"),
            (r#"{"summary": {"open": {}}}"#, "cell \"open\""),
            (r#"{"scaling": {}}"#, "member \"scaling\""),
        ] {
            let error = Results::default().add(file).unwrap_err();
            assert!(format!("{error:#}").starts_with(message), "{file}: {error:#}");
        }
    }
}
