//! Opens a file in the browser of the user.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::exit::say;

/// The program of the system that opens files, and its arguments before the file.
const OPENER: (&str, &[&str]) = if cfg!(target_os = "macos") {
    ("open", &[])
} else if cfg!(windows) {
    ("cmd", &["/c", "start", ""])
} else {
    ("xdg-open", &[])
};

/// How often, and how long apart, the program is asked whether it has failed. One that still runs has opened the file.
const LOOKS: usize = 30;
const APART: Duration = Duration::from_millis(100);

/// Opens a file. A note says if that fails.
pub(super) fn open(file: &Path) {
    let (program, arguments) = OPENER;
    let started = Command::new(program)
        .args(arguments)
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let reason = match started {
        Ok(mut child) => {
            let mut looks = (0..LOOKS).map(|_| {
                thread::sleep(APART);
                child.try_wait()
            });
            match looks.find_map(Result::transpose) {
                Some(Ok(status)) if !status.success() => format!("{program} has found none"),
                _ => return,
            }
        }
        Err(e) => format!("{program}: {e}"),
    };
    say(&format!(
        "note: no browser was opened ({reason}); open the file above, or choose its name with -o FILE"
    ));
}
