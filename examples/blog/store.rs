use std::{
    error::Error,
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use article_webhook_axum::{ArticleResult, DecodeError, Delivery, JobId, Reply, Sink};
use axum::body::Bytes;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;

use crate::images::{Origin, fetch};

/// A folder with one file per delivery, which contains the exact bytes of the body, and one for its image.
#[derive(Clone)]
pub(crate) struct Store {
    directory: Arc<Path>,
    images: Origin,
}

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
    pub(crate) has_image: bool,
}

impl Store {
    pub(crate) fn open(directory: &Path, images: Origin) -> io::Result<Self> {
        if !directory.exists() {
            fs::create_dir(directory)?;
        }
        sync(&directory.join(".."))?;
        Ok(Self { directory: directory.into(), images })
    }

    /// A page of the deliveries, including those that this version cannot decode. It reads the names of all
    /// files, which is fast enough for thousands of articles; for more, keep an index.
    pub(crate) fn newest_first(&self, number: usize) -> io::Result<Option<Page>> {
        let Some(before) = number.checked_sub(1).and_then(|pages| pages.checked_mul(ON_A_PAGE))
        else {
            return Ok(None);
        };
        let mut entries = Vec::new();
        for file in fs::read_dir(&self.directory)? {
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
        let body = match fs::read(self.directory.join(&key)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        let result = ArticleResult::from_json(&body);
        let has_image = self.image_path(&key).exists();
        Ok(Some(Entry { key, result, has_image }))
    }

    /// The copy of the image of an entry.
    pub(crate) fn image(&self, key: &str) -> io::Result<Option<Vec<u8>>> {
        if !is_key(key) || !self.image_path(key).exists() {
            return Ok(None);
        }
        fs::read(self.image_path(key)).map(Some)
    }

    fn image_path(&self, key: &str) -> PathBuf {
        self.directory.join(format!("{key}.image"))
    }

    /// Fetches an image, and keeps it until somebody removes it. If that fails, pages show the image of its URL.
    async fn keep_image(self, key: String, job: JobId, url: String) {
        let kept = async {
            let image = fetch(&url, self.images).await?;
            let store = move || {
                let mut file = NamedTempFile::new_in(&self.directory)?;
                file.write_all(&image)?;
                file.persist(self.image_path(&key)).map_err(|failed| failed.error)
            };
            Ok::<_, Box<dyn Error + Send + Sync>>(spawn_blocking(store).await??)
        };
        let kept = match kept.await {
            Ok(_) => "its image is kept".to_owned(),
            Err(error) => format!("its image is not kept: {error}"),
        };
        println!("{}  {}", job.as_str().escape_debug(), kept.escape_debug());
    }

    /// Once this has returned `Ok`, the delivery survives a crash.
    fn store(&self, delivery: &Delivery) -> io::Result<Reply> {
        let mut file = NamedTempFile::new_in(&self.directory)?;
        file.write_all(delivery.body())?;
        file.as_file().sync_all()?;
        let reply = match file.persist_noclobber(self.directory.join(key(delivery))) {
            Ok(_) => Reply::Stored,
            Err(taken) if taken.error.kind() == ErrorKind::AlreadyExists => Reply::Duplicate,
            Err(failed) => return Err(failed.error),
        };
        // For a duplicate as well: the first delivery may have failed at this point.
        sync(&self.directory)?;
        Ok(reply)
    }
}

impl Sink for Store {
    async fn accept(&self, delivery: Delivery) -> Reply {
        let (store, job, key) = (self.clone(), delivery.job_id().clone(), key(&delivery));
        let result = delivery.decode().ok();
        let image = result.and_then(|it| Some(it.featured_image?.http_url()?.to_owned()));
        let stored = spawn_blocking(move || store.store(&delivery)).await;
        let reply = stored.map_err(io::Error::from).flatten().unwrap_or_else(|error| {
            eprintln!("cannot store an article: {error}");
            Reply::Unavailable
        });
        println!("{}  {reply:?}", job.as_str().escape_debug());
        // After the answer: the service does not wait for an image.
        if matches!(reply, Reply::Stored)
            && let Some(url) = image
        {
            tokio::spawn(self.clone().keep_image(key, job, url));
        }
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
