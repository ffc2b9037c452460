//! Ctrl-C, and the signals that ask a program to end: long work says what is left and how to go on.

use std::process;
use std::sync::{Mutex, PoisonError};

use crate::exit::say;

/// What is said when the process is interrupted now.
static WORDS: Mutex<Option<String>> = Mutex::new(None);

/// The exit code of a program that Ctrl-C has ended.
const INTERRUPTED: i32 = 130;

/// Lets Ctrl-C say these words before it ends the process, until the guard is dropped. What is written stays as a kill
/// leaves it.
pub(crate) fn saying(words: String) -> Guard {
    *WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
    let end = || {
        let words = WORDS.lock().unwrap_or_else(PoisonError::into_inner).take();
        say(&words.map_or_else(|| "interrupted".to_owned(), |words| format!("interrupted; {words}")));
        process::exit(INTERRUPTED);
    };
    // Where there are no signals, Ctrl-C ends the process without words.
    let _ = ctrlc::try_set_handler(end);
    Guard
}

/// Long work that can be interrupted.
#[derive(Debug)]
pub(crate) struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        *WORDS.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
