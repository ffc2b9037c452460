//! Processes of `zarr pyramid` are killed (SIGKILL) at chosen moments, and what is made in the end is what a process makes that
//! nobody disturbs.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{Folder, command, zarr_in};

/// How the levels are made again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Beside level 0, and on with `--resume`.
    Beside,
    /// In a new group, and on with `--resume`.
    New,
    /// By three workers, one of which dies.
    Joined,
}

const WAYS: [Way; 3] = [Way::Beside, Way::New, Way::Joined];

impl Way {
    fn arguments(self) -> &'static str {
        match self {
            Self::Beside => "a.zarr --levels 3 --max-memory 2MB",
            Self::New => "a.zarr b.zarr --levels 3 --max-memory 2MB",
            Self::Joined => "a.zarr --levels 3 --max-memory 2MB --join night-1 --lease 0.3",
        }
    }

    /// The store that is written.
    fn store(self) -> &'static str {
        if self == Self::New { "b.zarr" } else { "a.zarr" }
    }
}

/// What happened.
#[derive(Debug, Default)]
struct Kills {
    /// For each way, the killed processes.
    killed: [usize; 3],
    /// For each way, the smallest and the largest number of files that a killed process and those before it had written.
    files: [Option<(usize, usize)>; 3],
    /// Resumed runs among the killed ones.
    resumed: usize,
    /// Processes that had ended before they could be killed.
    late: usize,
    /// Hidden files that were swept.
    swept: u64,
}

/// The stores, and what they are without kills.
struct Stage {
    folder: Folder,
    /// Level 0 and the document of the group.
    start: Vec<(String, Vec<u8>)>,
    wanted: [Vec<(String, Vec<u8>)>; 2],
}

impl Stage {
    fn new() -> Self {
        let folder = Folder::new();
        let numbers: Vec<u8> =
            (0..480_u32 * 480).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        folder.write("numbers.raw", numbers);
        zarr_in(folder.path(), ["create", "a.zarr", "--group"]).exits(0);
        let options = "create a.zarr/0 --dtype uint8 --shape 480,480 --chunks 40,40 --dimension-names y,x --from numbers.raw";
        zarr_in(folder.path(), options.split(' ')).exits(0);
        let start = folder.contents("a.zarr");
        let mut stage = Self { folder, start, wanted: [Vec::new(), Vec::new()] };
        for (at, way) in [Way::Beside, Way::New].into_iter().enumerate() {
            stage.run(way.arguments());
            stage.wanted[at] = stage.folder.contents(way.store());
            stage.reset();
        }
        stage
    }

    fn run(&self, arguments: &str) {
        zarr_in(self.folder.path(), ["pyramid"].into_iter().chain(arguments.split(' '))).ok();
    }

    fn spawn(&self, arguments: &str) -> Child {
        let mut command = command();
        command.current_dir(self.folder.path()).arg("pyramid").args(arguments.split(' '));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Leaves only level 0.
    fn reset(&self) {
        let _ = fs::remove_dir_all(self.folder.join("b.zarr"));
        for entry in fs::read_dir(self.folder.join("a.zarr")).unwrap().map(Result::unwrap) {
            match entry.file_name().to_str() {
                Some("0") => {}
                _ if entry.file_type().unwrap().is_dir() => fs::remove_dir_all(entry.path()).unwrap(),
                _ => fs::remove_file(entry.path()).unwrap(),
            }
        }
        let (path, document) = self.start.iter().find(|(path, _)| path == "zarr.json").unwrap();
        self.folder.write(&format!("a.zarr/{path}"), document);
        assert!(self.folder.contents("a.zarr") == self.start, "level 0 has changed");
    }

    /// Kills a process when so many files are written. Returns whether it was still running, and the number of files.
    fn kill(&self, way: Way, mut process: Child, files: usize) -> Option<usize> {
        let store = self.folder.join(way.store());
        let most = Instant::now() + Duration::from_secs(60);
        while process.try_wait().unwrap().is_none() && count(&store) < files {
            assert!(Instant::now() < most, "{way:?}: {files} files are not there after a minute");
            thread::sleep(Duration::from_micros(200));
        }
        let is_running = process.try_wait().unwrap().is_none();
        if is_running {
            process.kill().unwrap();
        }
        let ended = process.wait_with_output().unwrap();
        let was_killed = is_running && ended.status.code().is_none();
        assert!(was_killed || ended.status.success(), "{way:?}: {}", String::from_utf8_lossy(&ended.stderr));
        was_killed.then(|| count(&store))
    }

    /// Makes the levels once in a way, with kills. `moment` of 100 says when.
    fn round(&self, way: Way, moment: usize, kills: &mut Kills) {
        let at = WAYS.iter().position(|known| *known == way).unwrap();
        let wanted = &self.wanted[usize::from(way == Way::New)];
        let before = if way == Way::New { 0 } else { self.start.len() };
        let files = |moment: usize| before + (wanted.len() - before) * moment / 100;
        let mut note = |killed: Option<usize>, is_resumed: bool| match killed {
            Some(found) => {
                kills.killed[at] += 1;
                kills.resumed += usize::from(is_resumed);
                let (least, most) = kills.files[at].unwrap_or((found, found));
                kills.files[at] = Some((least.min(found), most.max(found)));
            }
            None => kills.late += 1,
        };
        let arguments = way.arguments();
        if way == Way::Joined {
            let mut workers: Vec<Child> = (0..3).map(|_| self.spawn(arguments)).collect();
            note(self.kill(way, workers.remove(moment % 3), files(moment)), false);
            for worker in workers {
                let done = worker.wait_with_output().unwrap();
                let error = String::from_utf8_lossy(&done.stderr);
                assert!(done.status.success() && error.is_empty(), "{moment}: {error}");
            }
            self.run(arguments);
        } else {
            note(self.kill(way, self.spawn(arguments), files(moment)), false);
            let resumed = format!("{arguments} --resume");
            if moment.is_multiple_of(2) {
                note(self.kill(way, self.spawn(&resumed), files(moment.midpoint(100))), true);
            }
            self.run(&resumed);
        }
        // A killed writer leaves a hidden file, which does no harm.
        let sweep = ["sweep", way.store(), "--older-than", "0", "--json"];
        kills.swept += zarr_in(self.folder.path(), sweep).ok().json()["deleted"].as_u64().unwrap();
        let found = self.folder.contents(way.store());
        let differ = found.iter().filter(|file| !wanted.contains(file)).map(|file| &file.0);
        let differ: Vec<&String> = differ.collect();
        assert!(differ.is_empty() && found.len() == wanted.len(), "{way:?} at {moment}: {differ:?}");
        self.reset();
    }
}

/// Returns the number of files in a folder that a process writes.
fn count(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let one = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => count(&entry.path()),
        Ok(_) => 1,
        Err(_) => 0,
    };
    entries.flatten().map(one).sum()
}

/// Makes levels until so many processes were killed.
fn killed(wanted: usize) {
    let (stage, mut kills) = (Stage::new(), Kills::default());
    for round in 0..wanted * 4 {
        // Each moment once, in an order without a pattern.
        stage.round(WAYS[round % 3], round * 37 % 100, &mut kills);
        if kills.killed.iter().sum::<usize>() >= wanted {
            println!("{} rounds: {kills:?}", round + 1);
            return;
        }
    }
    panic!("too few processes were killed: {kills:?}");
}

#[test]
fn killed_processes_make_what_undisturbed_ones_make() {
    killed(6);
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_a_hundred_killed_processes_make_what_undisturbed_ones_make() {
    killed(100);
}
