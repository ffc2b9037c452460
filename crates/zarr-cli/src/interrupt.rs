//! Ctrl-C, and the signals that ask a program to end: long work says what is left and how to go on.

use std::process;
use std::sync::Mutex;

use zarr_array::traits::lock::unpoisoned;

use crate::exit::say;

/// The message that an interrupt of the process prints now.
static WORDS: Mutex<Option<String>> = Mutex::new(None);

/// The exit code of a program that Ctrl-C has ended.
const INTERRUPTED: i32 = 130;

/// Lets Ctrl-C say these words before it ends the process, until the guard is dropped. What is written stays as a kill
/// leaves it.
pub(crate) fn saying(words: String) -> Guard {
    *unpoisoned(WORDS.lock()) = Some(words);
    listen();
    Guard
}

/// Ends the process with the words of the moment.
fn end() {
    let words = unpoisoned(WORDS.lock()).take();
    say(&words.map_or_else(|| "interrupted".to_owned(), |words| format!("interrupted; {words}")));
    process::exit(INTERRUPTED);
}

/// Waits for signals from now on, in a thread of its own. Those that the process was started with as ignored, as by `nohup` or
/// in the background of a script, stay ignored.
#[cfg(unix)]
fn listen() {
    use std::sync::Once;
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let ignored = ignored();
        let signals = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        // After an error a signal ends the process without words.
        let Ok(mut signals) = Signals::new(signals) else { return };
        thread::spawn(move || {
            if signals.forever().next().is_some() {
                end();
            }
        });
    });
}

/// Returns the ignored signals, a bit for each. Only Linux tells them; elsewhere a hangup is left as it is.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let signals = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let signals = signals.and_then(|signals| u64::from_str_radix(signals.trim(), 16).ok());
    signals.unwrap_or(1 << (signal_hook::consts::SIGHUP - 1))
}

#[cfg(not(unix))]
fn listen() {
    // An error means that this was done before.
    let _ = ctrlc::try_set_handler(end);
}

/// Long work that can be interrupted.
#[derive(Debug)]
pub(crate) struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        *unpoisoned(WORDS.lock()) = None;
    }
}
