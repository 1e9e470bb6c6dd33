use std::{
    io::{self, BufRead, Write},
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use serde::{Deserialize, Serialize};

use super::Inbox;
use crate::{Body, Digest, Entry, Error, Filter, Key, Source, State};

/// What became of imported lines.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use article_inbox::Inbox;
/// use article_webhook::{Sink, fixture::{self, Post}};
///
/// let (from, to) = (Inbox::memory(), Inbox::memory());
/// let post = Post::complete();
/// from.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
///
/// let mut lines = Vec::new();
/// assert_eq!(from.export(&mut lines).await?, 1);
/// let imported = to.import(&lines[..]).await?;
/// assert_eq!((imported.added, imported.present), (1, 0));
/// let imported = to.import(&lines[..]).await?;
/// assert_eq!((imported.added, imported.present), (0, 1));
///
/// let error = to.import(&b"{}"[..]).await.unwrap_err();
/// assert!(error.to_string().starts_with("line 1 is no entry: missing field `job_id`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive] // there may be more to tell
pub struct Imported {
    /// Entries that were new here.
    pub added: u64,
    /// Entries that were here already, and stayed as they were.
    pub present: u64,
}

/// An entry as a line of JSON. Times are milliseconds since 1970; a body is its text.
#[derive(Serialize, Deserialize)]
struct Line {
    job_id: String,
    event: String,
    state: String,
    attempts: u32,
    received_at: u64,
    at: u64,
    conflicts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    bodies: Vec<BodyLine>,
}

#[derive(Serialize, Deserialize)]
struct BodyLine {
    received_at: u64,
    source: String,
    target: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    intent: Option<String>,
    sha256: String,
    /// Missing once retention removed it, and where it is damaged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

impl Inbox {
    /// Writes all entries as lines of JSON, the oldest first, with their bodies, and says how many. What changes
    /// meanwhile is written as it was before or after.
    ///
    /// # Errors
    ///
    /// The store failed, or the writer did.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # use article_webhook::{Sink, fixture::{self, Post}};
    /// # let post = Post::complete().job_id("job_1");
    /// # let delivery = fixture::receiver().open(post.headers())?.read(post.body().clone())?;
    /// use article_inbox::Inbox;
    ///
    /// let inbox = Inbox::memory();
    /// inbox.accept(delivery).await;
    /// let mut lines = Vec::new();
    /// assert_eq!(inbox.export(&mut lines).await?, 1);
    /// assert!(lines.starts_with(br#"{"job_id":"job_1","#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn export(&self, mut out: impl Write) -> Result<u64, Error> {
        let unwritten =
            |error: io::Error| Error::unavailable("the export cannot be written").because(error);
        let (mut written, mut filter) = (0, Filter::default());
        loop {
            let page = self.list(filter.clone()).await?;
            for entry in page.entries {
                // Erased since the page was read.
                let Some((entry, bodies)) = self.show(entry.key).await? else { continue };
                let line = serde_json::to_string(&Line::new(entry, bodies));
                let line = line.map_err(|error| unwritten(error.into()))?;
                writeln!(out, "{line}").map_err(unwritten)?;
                written += 1;
            }
            let Some(next) = page.next else { break };
            filter.after = next;
        }
        out.flush().map_err(unwritten)?;
        Ok(written)
    }

    /// Takes in what another inbox exported. An entry that is here already stays as it is; one that was leased there
    /// waits here. Lines before a bad one are taken in.
    ///
    /// # Errors
    ///
    /// A line is no entry, or holds a body that differs from its digest; the error names the line. The store or the
    /// reader failed.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use article_inbox::Inbox;
    ///
    /// let inbox = Inbox::memory();
    /// let line = r#"{"job_id":"job_1","event":"article.complete","state":"done","attempts":1,"received_at":0,"at":0,
    ///     "conflicts":0,"bodies":[{"received_at":0,"source":"webhook","target":"default",
    ///     "sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}]}"#.replace('\n', " ");
    /// assert_eq!(inbox.import(line.as_bytes()).await?.added, 1);
    ///
    /// let error = inbox.import(&b"[]"[..]).await.unwrap_err();
    /// assert!(error.to_string().starts_with("line 1 is no entry"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn import(&self, lines: impl BufRead) -> Result<Imported, Error> {
        let mut imported = Imported::default();
        for (number, line) in (1..).zip(lines.lines()) {
            let line = line.map_err(|error| {
                Error::unavailable(format!("line {number} cannot be read")).because(error)
            })?;
            if line.is_empty() {
                continue;
            }
            let bad = |what: String| Error::invalid(format!("line {number} is no entry: {what}"));
            let line: Line =
                serde_json::from_str(&line).map_err(|error| bad(unreadable(&error)))?;
            let (entry, bodies) = line.read().map_err(bad)?;
            if self.0.store.import(entry, bodies).await? {
                self.0.wake.wake();
                imported.added += 1;
            } else {
                imported.present += 1;
            }
        }
        Ok(imported)
    }
}

impl Line {
    fn new(entry: Entry, bodies: Vec<Body>) -> Self {
        Self {
            job_id: entry.key.job_id.as_str().to_owned(),
            event: entry.key.event.as_str().to_owned(),
            state: entry.state.as_str().to_owned(),
            attempts: entry.attempts,
            received_at: milliseconds(entry.received_at),
            at: milliseconds(entry.at),
            conflicts: entry.conflicts,
            cause: entry.cause,
            bodies: bodies.into_iter().map(BodyLine::new).collect(),
        }
    }

    fn read(self) -> Result<(Entry, Vec<Body>), String> {
        let job_id: JobId = self.job_id.parse().map_err(|_| "job_id: not a job id".to_owned())?;
        let state = State::from_name(&self.state).ok_or("state: not a state")?;
        let bodies: Result<Vec<_>, _> = self.bodies.into_iter().map(BodyLine::read).collect();
        let bodies = bodies?;
        if bodies.is_empty() || bodies.len() > crate::BODIES {
            return Err(format!("bodies: expected 1 to {}", crate::BODIES));
        }
        let is_again = |(at, body): (usize, &Body)| {
            bodies[..at].iter().any(|other| other.digest == body.digest)
        };
        if bodies.iter().enumerate().any(is_again) {
            return Err("bodies: the same one twice".to_owned());
        }
        // Its bytes were damaged there: to be collected again, which an unhandled entry would not be.
        let is_lost = matches!(state, State::Waiting | State::Leased | State::Corrupt)
            && bodies.iter().all(|body| body.bytes.is_none());
        let state = if is_lost { State::Corrupt } else { state };
        let entry = Entry {
            id: 0,
            key: Key { job_id, event: self.event.as_str().into() },
            state,
            attempts: self.attempts,
            received_at: time(self.received_at)?,
            at: time(self.at)?,
            conflicts: self.conflicts,
            cause: self.cause,
        };
        Ok((entry, bodies))
    }
}

impl BodyLine {
    fn new(body: Body) -> Self {
        let intact = body.bytes.as_ref().filter(|_| body.is_intact());
        let text = intact.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
        Self {
            received_at: milliseconds(body.received_at),
            source: body.source.as_str().to_owned(),
            target: body.target.into(),
            intent: body.intent.map(Into::into),
            sha256: body.digest.to_string(),
            body: text,
        }
    }

    fn read(self) -> Result<Body, String> {
        let digest = digest(&self.sha256).ok_or("sha256: expected 64 hexadecimal digits")?;
        let body = Body {
            received_at: time(self.received_at)?,
            source: Source::from_name(&self.source).ok_or("source: not a source")?,
            target: self.target.into(),
            intent: self.intent.map(Into::into),
            digest,
            bytes: self.body.map(Into::into),
        };
        if !body.is_intact() {
            return Err("body: not the one of which sha256 is the digest".to_owned());
        }
        Ok(body)
    }
}

/// Why a line cannot be read. What the parser says of a value of another kind holds that value, which may be a body.
fn unreadable(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if error.is_data() && !text.starts_with("missing field") {
        return format!("another kind of value than expected at column {}", error.column());
    }
    text
}

fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn time(milliseconds: u64) -> Result<SystemTime, String> {
    let since = Duration::from_millis(milliseconds);
    // The year 9999, within what any store can hold.
    let within = milliseconds < 253_402_300_800_000;
    within
        .then(|| SystemTime::UNIX_EPOCH + since)
        .ok_or_else(|| "a time after the year 9999".to_owned())
}

fn digest(hex: &str) -> Option<Digest> {
    let mut bytes = [0; 32];
    if hex.len() != 64 || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&hex[at..at + 2], 16).ok()?;
    }
    Some(bytes.into())
}
