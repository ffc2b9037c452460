//! `zarr help`: the help of a verb, or a topic that several verbs share.

use crate::command;
use crate::exit::{Exit, Failure, Outcome};
use crate::name;
use crate::out::stdout::print;

/// Print the help of a verb, or of a topic: stores, select, exit.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The verb or the topic.
    #[arg(value_name = "VERB|TOPIC")]
    topic: Option<String>,
}

/// The help of the command: the verbs by what they are for.
pub(crate) const HELP: &str = "\
zarr: look at, copy, change and check Zarr stores

Usage: zarr STORE[/PATH] [OPTIONS]            the same as zarr info
       zarr VERB [OPTIONS] …                  zarr VERB -h for its options

Look
  info       what a store, group or array is: dimensions, types, attributes; --chunks: of an array
  ls         the children of a group, or the stores in a folder or bucket
  tree       the whole hierarchy, with --sizes
  cat        elements, as text, CSV, JSON, NumPy, PNG: part, decoded and by label
  stats      extremes, mean, deviation, histogram; --by time: along a dimension
  view       writes a page with maps, images and curves into one file
  serve      the store and its page over HTTP

Copy
  copy       another place, chunks, shards, codecs or format; a part; resumable
  sync       makes a copy equal again, writing only what differs
  diff       what differs between two stores, in meaning
  pyramid    levels of lower resolution, for viewers

Change
  create     an array or a group, empty or from a file
  append     elements, or a whole dataset, along a dimension
  write      elements of a part
  set        attributes, dimension names, fill value     (attrs: to print them)
  resize     a new shape
  mv, rm     renames, erases; rm --unfinished: what killed writers have left
  consolidate, migrate                                   metadata of a store

Check
  validate   errors of format and conventions; --data: every chunk
  doctor     what makes a store slow or hard to read, and the command that mends it
  du         stored and uncompressed bytes
  explain    what reading a part costs: requests and bytes
  checksum   digests of data that do not depend on chunks and codecs

Examples
  zarr weather.zarr
  zarr cat weather.zarr/t2m -f csv -s time=2020-07-15,lat=~48,lon=~16
  zarr copy s3://bucket/weather.zarr . -s time=2020 --chunks time=366,lat=20,lon=20

STORE is a folder, FILE.zip, s3:// gs:// az:// or https:// URL; STORE/PATH a node in it.
zarr help stores      credentials, endpoints, retries, --trace, --durable
zarr help select      -s in full         zarr help exit    exit codes
zarr completions SHELL, zarr man DIR, zarr --version
";

const SELECT: &str = "\
-s, --select SELECTION chooses a part of an array.

By position, as in NumPy, with an entry for each dimension:
  5            an index, which drops its dimension; -1 is the last one
  0:24  ::-1   a slice: start, end (not included), step
  [1,5]        a list; several lists select all combinations
  [true,false] a mask
  @PATH        the list or mask in another array of the store
  ...          all dimensions that have no entry

By label, as DIMENSION=LABEL,…; other dimensions are whole:
  time=2020-07-15        a label; of a time, all of this day
  time=2020-01:2020-02   a range, both ends included, in any order
  time=2020-01:2020-02:7 every seventh label
  lat=~48.2              the nearest label
  lat=[48,50.5]          a list of labels
  time@0  time@:24       positions along a dimension

Quote what a shell would change: -s 'lat=[48,50.5]'.
";

const EXIT: &str = "\
Exit codes:
  0   ok
  1   invalid metadata, or a difference
  2   a wrong command line
  3   not found
  4   input or output
  5   corrupt data
  6   unsupported extension or format
  7   store unavailable; try again
  8   permission denied
  9   conflict with another writer; try again
  10  uncertain write; check what is stored
  11  limit exceeded
";

pub(crate) fn run(args: &Args) -> Outcome {
    let text = match args.topic.as_deref() {
        None => HELP.to_owned(),
        Some("select") => SELECT.to_owned(),
        Some("exit") => EXIT.to_owned(),
        Some("stores") => stores(),
        Some(verb) => {
            let mut command = command();
            let Some(found) = command.find_subcommand_mut(verb) else {
                let message =
                    format!("there is neither a verb nor a topic {verb:?}; topics: stores, select, exit");
                return Err(Failure::usage(message));
            };
            let name = format!("{} {verb}", name::get());
            found.clone().bin_name(name).render_long_help().to_string()
        }
    };
    print(&name::in_text(&text))?;
    Ok(Exit::Ok)
}

/// Returns the options for stores, which all verbs have.
fn stores() -> String {
    let mut text = "Options for stores, of all verbs:\n".to_owned();
    let command = command();
    for option in command.get_arguments().filter(|option| option.get_help_heading() == Some("Stores")) {
        let Some(long) = option.get_long() else { continue };
        let value = option
            .get_value_names()
            .and_then(|names| names.first())
            .filter(|_| option.get_action().takes_values());
        let value = value.map(|value| format!(" <{value}>")).unwrap_or_default();
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        text += &format!("\n  --{long}{value}\n");
        for line in wrapped(&help) {
            text += &format!("      {line}\n");
        }
    }
    text += "\nCredentials come from the environment and the configuration files of the service, such as AWS_ACCESS_KEY_ID or\n\
             ~/.aws/credentials; proxies from HTTPS_PROXY and NO_PROXY. Without any, use --anon.\n";
    text
}

/// Wraps a text into lines.
fn wrapped(text: &str) -> Vec<String> {
    const WIDTH: usize = 90;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > WIDTH {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
