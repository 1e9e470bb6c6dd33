//! Which handlers were started and which came to their end, in a file that survives the child.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::Write,
    path::Path,
    sync::mpsc,
    thread,
};

/// Its name in a child's folder.
pub(crate) const FILE: &str = "runs";

/// Writes the file, from one thread, so that strace counts its writes in one row.
#[derive(Debug, Clone)]
pub(crate) struct Runs(mpsc::Sender<(String, mpsc::Sender<()>)>);

impl Runs {
    /// To the end of the file in the working directory.
    pub(crate) fn write() -> Self {
        let file = File::options().create(true).append(true).open(FILE);
        let mut file = file.expect("the folder can be written to");
        let (sender, lines) = mpsc::channel::<(String, mpsc::Sender<()>)>();
        thread::spawn(move || {
            for (line, written) in lines {
                file.write_all(line.as_bytes()).expect("the file can be written to");
                _ = written.send(());
            }
        });
        Self(sender)
    }

    /// Returns when the kernel has the line.
    pub(crate) fn note(&self, what: &str, job_id: &str) {
        let (written, wait) = mpsc::channel();
        self.0
            .send((format!("{what} {job_id}\n"), written))
            .expect("the thread lives as long as this");
        wait.recv().expect("the thread writes what it receives");
    }
}

/// How often each job's handler began and ended.
pub(crate) fn read(folder: &Path) -> HashMap<String, (u32, u32)> {
    let mut runs: HashMap<String, (u32, u32)> = HashMap::new();
    let text = fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    for (what, job_id) in text.lines().filter_map(|line| line.split_once(' ')) {
        let (began, ended) = runs.entry(job_id.to_owned()).or_default();
        match what {
            "began" => *began += 1,
            _ => *ended += 1,
        }
    }
    runs
}
