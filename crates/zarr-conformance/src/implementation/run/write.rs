//! Writing: peers write copies of the arrays of fixtures, and all peers that can read the fixture read the copy.

use std::fs;
use std::path::PathBuf;

use super::super::SuiteError;
use super::super::fixture::Expect;
use super::super::judge::{broken, elements, judge, refused};
use super::super::peer::{Exit, PeerAnswer, Verb};
use super::super::results::{Asked, CaseResult};
use super::super::session::Line;
use super::super::verdict::{Direction, Fault, FaultKind, Verdict};
use super::{Entries, Suite, request};

/// An array to be written.
struct Task<'a> {
    asked: &'a Asked,
    /// A file with its elements, if a peer could read them. The digest proves that they are right.
    elements: Option<PathBuf>,
    /// The peers that could read the fixture.
    readers: Vec<usize>,
}

/// An array that a peer has written.
struct Written<'t, 'a> {
    task: &'t Task<'a>,
    folder: PathBuf,
    entries: Vec<CaseResult>,
}

impl Suite<'_> {
    /// Lets peers write arrays, and all able peers read them.
    pub(super) fn write(&self, entries: &mut Entries) -> Result<(), SuiteError> {
        let tasks = self.tasks()?;
        if tasks.is_empty() {
            return Ok(());
        }
        for (index, writer) in self.asked_peers() {
            (self.options.tell)(&format!("{} writes, and all read that: {} cases", writer.id, tasks.len()));
            let mut written = self.spread(index, &tasks, |line, task| self.write_one(line, task))?;
            for index in 0..self.peers.len() {
                self.read_back(index, &mut written)?;
            }
            let found = written.into_iter().map(|written| (written.task.asked.id.clone(), written.entries));
            entries.entry(writer.id.clone()).or_default().extend(found);
        }
        Ok(())
    }

    /// Returns the arrays to write, with elements from a peer that reads the fixture correctly.
    fn tasks(&self) -> Result<Vec<Task<'_>>, SuiteError> {
        let asked = self.asked.iter().filter(|asked| asked.direction == Direction::Write);
        let mut tasks: Vec<_> =
            asked.map(|asked| Task { asked, elements: None, readers: Vec::new() }).collect();
        for index in 0..self.peers.len() {
            let read = self.spread(index, &tasks, |line, task| {
                let case = &task.asked.case;
                let node = case.node(&self.store(case)?);
                let answer = self.ask(line, case, &request(case, Verb::Read, &node))?;
                let right = answer.exit == Exit::Done && elements(case, Expect::Ok, &answer.output).is_none();
                Ok(right.then_some(answer.output))
            })?;
            for (task, output) in tasks.iter_mut().zip(read) {
                let Some(output) = output else { continue };
                task.readers.push(index);
                if task.elements.is_none() {
                    let file = self.folder()?.join("elements");
                    fs::write(&file, output).map_err(SuiteError::at(&file))?;
                    task.elements = Some(file);
                }
            }
        }
        Ok(tasks)
    }

    fn write_one<'t, 'a>(
        &self,
        line: &mut Line<'_>,
        task: &'t Task<'a>,
    ) -> Result<Written<'t, 'a>, SuiteError> {
        let case = &task.asked.case;
        let folder = self.folder()?.join("written.zarr");
        let written = |verdict| Written {
            task,
            folder: folder.clone(),
            entries: vec![CaseResult::new(Verb::Write.name(), verdict)],
        };
        let Some(elements) = &task.elements else {
            return Ok(written(Verdict::NotImplemented("no peer here reads the fixture itself".to_owned())));
        };
        let node = case.node(&self.fixtures.root.join(&case.store));
        let metadata = node.join(case.write.as_deref().unwrap_or_default());
        let mut request = request(case, Verb::Write, &folder);
        request.write = Some((&metadata, elements));
        let PeerAnswer { exit, message, .. } = self.ask(line, case, &request)?;
        let fault = |kind, got| Verdict::Failed(Fault::new(kind, "an array with this metadata", got));
        Ok(written(match exit {
            Exit::Done => Verdict::Passed,
            Exit::NotImplemented => Verdict::NotImplemented(message),
            Exit::Refused => fault(FaultKind::Refused, refused(&message)),
            Exit::Closed => fault(FaultKind::Broken, "an endless stream".to_owned()),
            Exit::Broken(how) => fault(FaultKind::Broken, broken(&how, &message)),
        }))
    }

    /// Lets a peer read the copies of the fixtures that it can read.
    fn read_back(&self, reader: usize, written: &mut [Written<'_, '_>]) -> Result<(), SuiteError> {
        let done = |written: &Written<'_, '_>| matches!(written.entries[0].verdict, Verdict::Passed);
        let mut chosen: Vec<_> =
            written.iter_mut().filter(|one| done(one) && one.task.readers.contains(&reader)).collect();
        let verdicts = self.spread(reader, &chosen, |line, written| {
            let case = &written.task.asked.case;
            let answer = self.ask(line, case, &request(case, Verb::Read, &written.folder))?;
            Ok(judge(case, Verb::Read, &answer))
        })?;
        for (written, verdict) in chosen.iter_mut().zip(verdicts) {
            written.entries.push(CaseResult::new(format!("read by {}", self.peers[reader].id), verdict));
        }
        Ok(())
    }
}
