//! What happened to a child's database files and when it answered: everything a power cut needs.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use crate::{
    role,
    trace::{self, Call},
};

/// The files of a database, and the lock, which records how far was acknowledged. All others, such as the memory that SQLite's
/// processes share, and the children's own notes, mean nothing after a power cut.
const SUFFIXES: [&str; 4] = ["", "-wal", "-journal", "-lock"];

/// The answers that were given on each connection, by the port of the service's side: whose they were.
pub(crate) type Answers = HashMap<u16, Vec<String>>;

/// A moment lies between two events. Every event has one at which it began and one at which it had ended.
pub(crate) type Moment = usize;

#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) files: Vec<File>,
    pub(crate) names: Vec<Naming>,
    /// When the folder was synced.
    pub(crate) folder_syncs: Vec<Sync>,
    /// From when on a delivery counts as acknowledged: its answer may have left the machine.
    pub(crate) acknowledged: BTreeMap<Moment, String>,
    /// When a child began to send each of its own requests, and their texts.
    pub(crate) requests: Vec<(Moment, String)>,
    pub(crate) refused: u32,
    pub(crate) checkpoints: u32,
    pub(crate) end: Moment,
}

/// A file, whatever its name.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) changes: Vec<Change>,
    pub(crate) syncs: Vec<Sync>,
}

/// From its beginning to its end; one that never ended may have happened in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: Moment,
    pub(crate) end: Moment,
}

#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) span: Span,
    pub(crate) what: What,
}

#[derive(Debug)]
pub(crate) enum What {
    Written { offset: usize, bytes: Vec<u8> },
    Cut { length: usize },
}

/// What had ended when it began is on the disk when it has ended, unless it failed. Then the kernel takes what was to be
/// written for written, and no later sync writes it: it may be on the disk, and it may never be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sync {
    pub(crate) span: Span,
    pub(crate) failed: bool,
}

/// A name is given to a file, or taken away.
#[derive(Debug)]
pub(crate) struct Naming {
    pub(crate) span: Span,
    pub(crate) name: String,
    pub(crate) file: Option<usize>,
}

impl Recording {
    /// Puts the traces of children that followed each other in a folder that was empty into one recording.
    pub(crate) fn read(folder: &Path, traces: &[impl AsRef<Path>], answers: &Answers) -> Self {
        let mut recording = Self::default();
        let mut names: HashMap<String, usize> = HashMap::new();
        let mut answered: HashMap<u16, usize> = HashMap::new();
        for trace in traces {
            let calls = trace::read(trace.as_ref());
            let lines =
                calls.iter().map(|call| call.end.unwrap_or(call.start) + 1).max().unwrap_or(0);
            let start = recording.end;
            for call in calls {
                let span = Span {
                    start: start + 2 * call.start,
                    end: call.end.map_or(Moment::MAX, |end| start + 2 * end + 1),
                };
                if let Some(port) = call.peer() {
                    recording.answer(span, &call, port, answers, &mut answered);
                } else {
                    recording.change(span, &call, folder, &mut names);
                }
            }
            recording.end = start + 2 * lines;
        }
        recording
    }

    fn answer(
        &mut self,
        span: Span,
        call: &Call,
        port: u16,
        answers: &Answers,
        answered: &mut HashMap<u16, usize>,
    ) {
        let text = call.text();
        let Some(status) = text.strip_prefix(b"HTTP/1.1 ") else {
            // The head and the body may be two pieces of one call.
            let text = [text, call.second_text()].concat();
            self.requests.push((span.start, String::from_utf8_lossy(&text).into_owned()));
            return;
        };
        let nth = answered.entry(port).or_default();
        let job_id = answers.get(&port).and_then(|jobs| jobs.get(*nth));
        *nth += 1;
        if !status.starts_with(b"2") {
            self.refused += 1;
        } else if let Some(job_id) = job_id {
            self.acknowledged.insert(span.start, job_id.clone());
        }
    }

    fn change(
        &mut self,
        span: Span,
        call: &Call,
        folder: &Path,
        names: &mut HashMap<String, usize>,
    ) {
        let name_of = |path: &Path| {
            let name = path.strip_prefix(folder).unwrap_or(path).to_str()?;
            let suffix = name.strip_prefix(role::FILE)?;
            SUFFIXES.contains(&suffix).then(|| name.to_owned())
        };
        let failed = call.end.is_some() && call.result.is_none();
        let is_sync = matches!(call.name.as_str(), "fsync" | "fdatasync");
        if failed && !is_sync {
            return;
        }
        if call.name.starts_with("unlink") || call.name.starts_with("rename") {
            let path =
                |text: Vec<u8>| name_of(Path::new(&String::from_utf8_lossy(&text).into_owned()));
            let Some(name) = path(call.text()) else { return };
            let file = names.remove(&name);
            self.names.push(Naming { span, name, file: None });
            if call.name.starts_with("rename") {
                let name = path(call.second_text()).expect("a database file stays one");
                names.extend(file.map(|file| (name.clone(), file)));
                self.names.push(Naming { span, name, file });
            }
            return;
        }
        let Some(path) = call.file() else { return };
        if is_sync && path == folder {
            self.folder_syncs.push(Sync { span, failed });
            return;
        }
        let Some(name) = name_of(&path) else { return };
        if call.is_on_a_deleted_file() {
            return;
        }
        if call.name.starts_with("open") || call.name == "creat" {
            if !names.contains_key(&name) {
                names.insert(name.clone(), self.files.len());
                self.names.push(Naming { span, name, file: Some(self.files.len()) });
                self.files.push(File::default());
            } else if call.has_flag("O_TRUNC") {
                self.files[names[&name]]
                    .changes
                    .push(Change { span, what: What::Cut { length: 0 } });
            }
            return;
        }
        let file = &mut self.files
            [*names.get(&name).expect("the folder was empty when the recording began")];
        match call.name.as_str() {
            "fsync" | "fdatasync" => {
                file.syncs.push(Sync { span, failed });
                self.checkpoints += u32::from(name == role::FILE && !failed);
            }
            "pwrite64" => {
                let mut bytes = call.text();
                bytes.truncate(call.result.map_or(usize::MAX, length));
                let offset = length(call.last_number());
                file.changes.push(Change { span, what: What::Written { offset, bytes } });
            }
            "ftruncate" => {
                let length = length(call.last_number());
                file.changes.push(Change { span, what: What::Cut { length } });
            }
            other => {
                panic!("{other} on {name} is not understood: teach the recording what it does")
            }
        }
    }
}

fn length(number: u64) -> usize {
    number.try_into().expect("files of a test are small")
}
