use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::Path,
    sync::Arc,
};

use article_webhook_axum::{ArticleResult, DecodeError, Delivery, Reply, Sink};
use axum::body::Bytes;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;

/// A folder with one file per delivery, which contains the exact bytes of the body.
#[derive(Clone)]
pub(crate) struct Store(Arc<Path>);

/// How many articles are on one page of the list.
const ON_A_PAGE: usize = 20;

/// A page of the list.
pub(crate) struct Page {
    pub(crate) number: usize,
    pub(crate) entries: Vec<Entry>,
    pub(crate) is_last: bool,
}

pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) result: Result<ArticleResult, DecodeError>,
}

impl Store {
    pub(crate) fn open(directory: &Path) -> io::Result<Self> {
        if !directory.exists() {
            fs::create_dir(directory)?;
        }
        sync(&directory.join(".."))?;
        Ok(Self(directory.into()))
    }

    /// A page of the deliveries, including those that this version cannot decode. It reads the names of all
    /// files, which is fast enough for thousands of articles; for more, keep an index.
    pub(crate) fn newest_first(&self, number: usize) -> io::Result<Option<Page>> {
        let Some(before) = number.checked_sub(1).and_then(|pages| pages.checked_mul(ON_A_PAGE))
        else {
            return Ok(None);
        };
        let mut entries = Vec::new();
        for file in fs::read_dir(&self.0)? {
            let file = file?;
            let name = file.file_name().to_string_lossy().into_owned();
            if is_key(&name) {
                entries.push((file.metadata()?.modified()?, name));
            }
        }
        if number > 1 && entries.len() <= before {
            return Ok(None);
        }
        let is_last = entries.len() - before <= ON_A_PAGE;
        entries.sort();
        let names = entries.into_iter().rev().map(|(_arrived, name)| name);
        let names = names.skip(before).take(ON_A_PAGE);
        let entries: io::Result<_> =
            names.filter_map(|name| self.entry(name).transpose()).collect();
        Ok(Some(Page { number, entries: entries?, is_last }))
    }

    /// The key comes from a URL and becomes a file name, so it must be one that this store made.
    pub(crate) fn entry(&self, key: String) -> io::Result<Option<Entry>> {
        if !is_key(&key) {
            return Ok(None);
        }
        let body = match fs::read(self.0.join(&key)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        let result = ArticleResult::from_json(&body);
        Ok(Some(Entry { key, result }))
    }

    /// Once this has returned `Ok`, the delivery survives a crash.
    fn store(&self, delivery: &Delivery) -> io::Result<Reply> {
        let mut file = NamedTempFile::new_in(&self.0)?;
        file.write_all(delivery.body())?;
        file.as_file().sync_all()?;
        let reply = match file.persist_noclobber(self.0.join(key(delivery))) {
            Ok(_) => Reply::Stored,
            Err(taken) if taken.error.kind() == ErrorKind::AlreadyExists => Reply::Duplicate,
            Err(failed) => return Err(failed.error),
        };
        // For a duplicate as well: the first delivery may have failed at this point.
        sync(&self.0)?;
        Ok(reply)
    }
}

impl Sink for Store {
    async fn accept(&self, delivery: Delivery) -> Reply {
        let (store, job) = (self.clone(), delivery.job_id().clone());
        let stored = spawn_blocking(move || store.store(&delivery)).await;
        let reply = stored.map_err(io::Error::from).flatten().unwrap_or_else(|error| {
            eprintln!("cannot store an article: {error}");
            Reply::Unavailable
        });
        println!("{}  {reply:?}", job.as_str().escape_debug());
        reply
    }
}

/// The name of a delivery's file. A job id may contain `/`, so it is not used as a file name. The event
/// is part of the key, because another event of the same job is not a duplicate.
fn key(delivery: &Delivery) -> String {
    let identity = format!("{} {}", delivery.event(), delivery.job_id());
    format!("{:x}", Bytes::copy_from_slice(&Sha256::digest(identity)))
}

fn is_key(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Syncs a directory. On Unix its file names survive a crash only then.
fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
