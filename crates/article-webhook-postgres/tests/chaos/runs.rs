//! Which handlers began, and which completed their entries, in one file for all nodes. Each line is written at once, so that
//! the lines stand in the order of their events.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::Write as _,
    path::Path,
    sync::Arc,
};

use article_webhook_inbox::Job;

#[derive(Debug, Clone)]
pub(crate) struct Runs(Arc<File>);

impl Runs {
    pub(crate) fn write(path: &Path) -> Self {
        Self(Arc::new(File::options().create(true).append(true).open(path).unwrap()))
    }

    /// Notes an event of a job, with the id and the fence of its lease.
    pub(crate) fn note(&self, what: &str, job: &Job) {
        let completion = job.completion().unwrap();
        let [id, fence] = completion.parameters() else { panic!("a completion names its lease") };
        let line = format!("{what} {id} {fence} {}\n", job.job_id());
        (&*self.0).write_all(line.as_bytes()).unwrap();
    }
}

/// What the file says, and what it must not say.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) runs: usize,
    /// How often the handler of each job ran.
    pub(crate) of_job: HashMap<String, u32>,
    /// The highest fence of each entry.
    pub(crate) last_fence: HashMap<i64, i64>,
    /// Leases that were handed out twice.
    pub(crate) repeated: Vec<String>,
    /// Runs after the application had committed the completion of the entry.
    pub(crate) after_the_end: Vec<String>,
}

pub(crate) fn read(path: &Path) -> Record {
    let mut record = Record::default();
    let (mut leases, mut completed) = (HashSet::new(), HashSet::new());
    for line in fs::read_to_string(path).unwrap_or_default().lines() {
        let parts: Vec<_> = line.split(' ').collect();
        let &[what, id, fence, job_id] = &parts[..] else { panic!("a line of the record: {line}") };
        let (id, fence): (i64, i64) = (id.parse().unwrap(), fence.parse().unwrap());
        if what == "completed" {
            completed.insert(id);
            continue;
        }
        record.runs += 1;
        *record.of_job.entry(job_id.to_owned()).or_default() += 1;
        let last = record.last_fence.entry(id).or_default();
        *last = fence.max(*last);
        if !leases.insert((id, fence)) {
            record.repeated.push(line.to_owned());
        }
        if completed.contains(&id) {
            record.after_the_end.push(line.to_owned());
        }
    }
    record
}
