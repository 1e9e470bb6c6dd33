#![expect(
    clippy::exhaustive_structs,
    clippy::exhaustive_enums,
    reason = "a store loads and saves every field"
)]

use std::time::SystemTime;

use article_webhook::{Event, JobId};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{ArticleEntry, BodyLine, BodyWrite, EntryLine, IntentRow, JobRow, KnownBody, Row};
use crate::{
    Body, Digest, Entry, EntryKey, Source, State,
    call::{
        Arrival, Expect, JobState, Lease, Outcome, PollLease, PollOutcome, PollSettled, Prune,
        Pruned, Reason, Recorded, Settled, search_text,
    },
    codec::{self, NewerFields},
    entry::{CAPABILITY, title_of},
};

/// Everything that is stored about one job: what the ledger knows of it, its entries and their bodies. Each transition of
/// the inbox is a method of these rows. A script loads the rows, calls the method, and saves what it changed.
#[derive(Debug, Clone)]
pub struct JobRows {
    /// The job.
    pub job_id: JobId,
    /// The row of the ledger.
    pub expected: Tracked<JobRow>,
    /// One for each event.
    pub entries: Vec<EntryRows>,
}

/// How many bytes of bodies one transaction removes or reads again, so that no delivery waits long for it.
pub(crate) const MAX_BODY_BYTES: usize = 8 << 20;

/// Why what was delivered to the URL of an order is set aside.
pub(crate) const OF_ANOTHER_JOB: &str = "it was delivered to the URL of an order for another job: has the URL leaked? If the job is yours, collect it";

/// An entry and its bodies.
#[derive(Debug, Clone)]
pub struct EntryRows {
    /// The event of the deliveries.
    pub event: Event,
    /// When the first body was stored.
    pub received_at: SystemTime,
    /// The row of the entry.
    pub row: Tracked<Row>,
    /// The bodies in the order of their arrival.
    pub bodies: Vec<Tracked<BodyRow>>,
    /// What the store found damaged when it loaded the entry.
    pub damage: Option<String>,
}

/// A stored body. Its bytes stay in the store until they are needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodyRow {
    /// When it was stored.
    #[serde(skip, default = "codec::no_time")]
    pub received_at: SystemTime,
    /// How it reached the inbox.
    #[serde(with = "codec::text")]
    pub source: Source,
    /// The label of the publish target.
    pub target: Box<str>,
    /// The intent of the capability URL that it was delivered to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Box<str>>,
    /// The title of the article in it, as far as its bytes are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
    /// The SHA-256 of the bytes.
    #[serde(skip, default = "no_digest")]
    pub digest: Digest,
    /// The bytes of the body.
    #[serde(skip)]
    pub bytes: BodyBytes,
    /// What only a newer version knows.
    #[serde(flatten)]
    pub newer: NewerFields,
}

/// No body has it.
fn no_digest() -> Digest {
    Digest::from([0; 32])
}

/// Where the bytes of a body are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum BodyBytes {
    /// In the store: this many.
    Stored(u64),
    /// Nowhere: they were old.
    #[default]
    Removed,
    /// Here, to be stored.
    New(Bytes),
}

/// A row as the store has it, and as it is to be saved.
#[derive(Debug, Clone)]
pub struct Tracked<T> {
    /// The id of the row, or 0 if the store does not have it.
    pub id: i64,
    stored: Option<T>,
    now: Option<T>,
    is_of_newer: bool,
}

/// What saving a row means.
#[derive(Debug)]
pub enum Change<'a, T> {
    /// The row stays as it is.
    Nothing,
    /// The row is new.
    Insert(&'a T),
    /// The row has this content now.
    Update(&'a T),
    /// The row is removed.
    Delete,
}

impl<T: Clone + PartialEq> Tracked<T> {
    /// No row.
    #[must_use]
    pub fn none() -> Self {
        Self { id: 0, stored: None, now: None, is_of_newer: false }
    }

    /// A row that the store has.
    #[must_use]
    pub fn stored(id: i64, row: T) -> Self {
        Self { id, stored: Some(row.clone()), now: Some(row), is_of_newer: false }
    }

    /// A row in a state that only a newer version knows. It can be removed, and not changed. `row` is what it is taken for.
    #[must_use]
    pub fn of_newer(id: i64, row: T) -> Self {
        Self { is_of_newer: true, ..Self::stored(id, row) }
    }

    /// A row that the store does not have yet.
    #[must_use]
    pub fn new(row: T) -> Self {
        Self { id: 0, stored: None, now: Some(row), is_of_newer: false }
    }

    /// The row as the store has it.
    #[must_use]
    pub fn stored_row(&self) -> Option<&T> {
        self.stored.as_ref()
    }

    /// The row as it is now.
    #[must_use]
    pub fn get(&self) -> Option<&T> {
        self.now.as_ref()
    }

    /// The row as it is now, to be changed.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.now.as_mut().filter(|_| !self.is_of_newer)
    }

    /// The row has this content now.
    pub fn set(&mut self, row: T) {
        if !self.is_of_newer {
            self.now = Some(row);
        }
    }

    /// The row is to be removed.
    pub fn remove(&mut self) {
        self.now = None;
    }

    /// What saving the row means.
    #[must_use]
    pub fn change(&self) -> Change<'_, T> {
        match (&self.stored, &self.now) {
            (None, None) => Change::Nothing,
            (None, Some(row)) => Change::Insert(row),
            (Some(_), None) => Change::Delete,
            (Some(stored), Some(row)) if stored == row => Change::Nothing,
            (Some(_), Some(row)) => Change::Update(row),
        }
    }
}

impl BodyRow {
    /// A row with its columns, and what is damaged of it. There is no `document` if that cannot be trusted.
    #[must_use]
    pub fn read(
        document: Option<Self>,
        received_at: SystemTime,
        digest: &[u8],
        length: Option<u64>,
    ) -> (Self, Option<String>) {
        let damage = document.is_none().then(|| "its checksum does not match".to_owned());
        let digest = digest.try_into().ok().filter(|_| damage.is_none());
        // A body is taken for a delivered one unless it is known to come from the API.
        let document = document.unwrap_or_else(|| Self {
            received_at,
            source: Source::Webhook,
            target: "".into(),
            intent: None,
            title: None,
            digest: no_digest(),
            bytes: BodyBytes::Removed,
            newer: NewerFields::default(),
        });
        let row = Self {
            received_at,
            digest: digest.map_or_else(no_digest, |digest: [u8; 32]| digest.into()),
            bytes: length.map_or(BodyBytes::Removed, BodyBytes::Stored),
            ..document
        };
        (row, damage)
    }

    /// The body, with its bytes.
    #[must_use]
    pub fn with_bytes(self, bytes: Option<Bytes>) -> Body {
        let Self { received_at, source, target, intent, digest, .. } = self;
        Body { received_at, source, target, intent, digest, bytes }
    }

    /// Whether the store has its bytes, or is about to.
    #[must_use]
    pub fn has_bytes(&self) -> bool {
        self.bytes != BodyBytes::Removed
    }

    /// How many bytes it has.
    #[must_use]
    pub fn length(&self) -> u64 {
        match &self.bytes {
            BodyBytes::Stored(length) => *length,
            BodyBytes::Removed => 0,
            BodyBytes::New(bytes) => bytes.len() as u64,
        }
    }

    /// As [`Body::is_by_capability`].
    #[must_use]
    pub fn is_by_capability(&self) -> bool {
        &*self.target == CAPABILITY
    }

    pub(super) fn new(arrival: &Arrival, now: SystemTime) -> Self {
        Self {
            received_at: now,
            source: arrival.source,
            target: arrival.target.clone(),
            intent: arrival.intent.clone(),
            title: arrival.key.is_article().then(|| title_of(&arrival.bytes)).flatten(),
            digest: arrival.digest,
            bytes: BodyBytes::New(arrival.bytes.clone()),
            newer: NewerFields::default(),
        }
    }
}

impl From<&BodyRow> for KnownBody {
    fn from(body: &BodyRow) -> Self {
        Self {
            digest: body.digest,
            source: body.source,
            has_intent: body.intent.is_some(),
            is_by_capability: body.is_by_capability(),
        }
    }
}

impl EntryRows {
    /// The bodies that are there.
    pub fn bodies(&self) -> impl Iterator<Item = &BodyRow> {
        self.bodies.iter().filter_map(Tracked::get)
    }

    /// How many bodies have bytes.
    #[must_use]
    pub fn held(&self) -> usize {
        self.bodies().filter(|body| body.has_bytes()).count()
    }

    /// The label of the publish target that the first body was sent to.
    #[must_use]
    pub fn target(&self) -> Box<str> {
        self.bodies().next().map(|body| body.target.clone()).unwrap_or_default()
    }

    /// The title of the article: of the first body that has one, in the order in which a worker reads them.
    fn title(&self) -> Option<&str> {
        let titled = self.bodies().filter(|body| body.title.is_some());
        titled.min_by_key(|body| body.is_by_capability())?.title.as_deref()
    }

    /// The entry as the inbox shows it.
    #[must_use]
    pub fn entry(&self, job_id: &JobId) -> Option<Entry> {
        let key = EntryKey { job_id: job_id.clone(), event: self.event.clone() };
        let row = self.row.get()?.clone();
        let first = self.bodies().next().map_or(("".into(), Source::Webhook, None), |body| {
            (body.target.clone(), body.source, body.has_bytes().then(|| body.length()))
        });
        let title = self.title().map(Into::into);
        Some(row.into_entry(self.row.id, key, self.received_at, first, title))
    }

    /// What a search looks into, which a store keeps beside the row.
    #[must_use]
    pub fn search_text(&self, job_id: &JobId) -> String {
        let cause = self.row.get().and_then(|row| row.cause.as_deref());
        search_text(job_id, self.title(), cause)
    }

    fn record(&mut self, arrival: &Arrival, now: SystemTime) -> Recorded {
        let known: Vec<_> = self.bodies().map(KnownBody::from).collect();
        let new = KnownBody::from(arrival);
        let Some(row) = self.row.get_mut() else {
            // Another body is for a node that knows the state of the entry.
            return match known.iter().any(|body| body.digest == new.digest) {
                true => Recorded::Duplicate,
                false => Recorded::BodyLimitReached,
            };
        };
        let recording = if arrival.key.is_failure() {
            row.record_failure(new, &known, now)
        } else {
            row.record(new, &known, now)
        };
        match recording.write {
            BodyWrite::Nothing => {}
            BodyWrite::Append => self.bodies.push(Tracked::new(BodyRow::new(arrival, now))),
            BodyWrite::Replace(index) => {
                if let Some(body) = self.bodies[index].get_mut() {
                    let intent = body.intent.take();
                    *body = BodyRow::new(arrival, now);
                    body.intent = body.intent.take().or(intent);
                }
            }
            BodyWrite::Intent(index) => {
                if let Some(body) = self.bodies[index].get_mut() {
                    body.intent.clone_from(&arrival.intent);
                }
            }
            BodyWrite::Target(index) => {
                if let Some(body) = self.bodies[index].get_mut() {
                    body.target.clone_from(&arrival.target);
                }
            }
        }
        recording.recorded
    }

    pub(super) fn remove(&mut self) {
        self.row.remove();
        self.bodies.iter_mut().for_each(Tracked::remove);
    }
}

impl JobRows {
    /// The rows of a job of which nothing is stored.
    #[must_use]
    pub fn none(job_id: JobId) -> Self {
        Self { job_id, expected: Tracked::none(), entries: Vec::new() }
    }

    /// The entry of an event.
    #[must_use]
    pub fn entry(&self, event: &Event) -> Option<&EntryRows> {
        self.entries.iter().find(|entry| entry.event == *event && entry.row.get().is_some())
    }

    /// The event of the entry that the job ended with: of its article, or of its failure. Retention may have removed that.
    #[must_use]
    pub fn ended_with(&self) -> Option<Event> {
        self.expected.get()?.ended_with(&self.job_id)
    }

    /// The key of an entry of the job.
    #[must_use]
    pub fn key(&self, entry: &EntryRows) -> EntryKey {
        EntryKey { job_id: self.job_id.clone(), event: entry.event.clone() }
    }

    pub(super) fn entry_mut(&mut self, event: &Event) -> Option<&mut EntryRows> {
        self.entries.iter_mut().find(|entry| entry.event == *event && entry.row.get().is_some())
    }

    /// The entry with this id.
    #[must_use]
    pub fn entry_of(&self, id: i64) -> Option<&EntryRows> {
        self.entries.iter().find(|entry| entry.row.id == id && entry.row.get().is_some())
    }

    fn row_mut(&mut self, id: i64) -> Option<&mut Row> {
        self.entries.iter_mut().find(|entry| entry.row.id == id)?.row.get_mut()
    }

    /// What the ledger needs to know of the article.
    #[must_use]
    pub fn article(&self) -> Option<ArticleEntry> {
        let entry = self.entry(&Event::ArticleComplete)?;
        let first = |source| {
            let of_source = entry.bodies().filter(|body| body.source == source);
            of_source.map(|body| body.received_at).min()
        };
        let state = entry.row.get()?.state;
        Some(ArticleEntry {
            state,
            pushed_at: first(Source::Webhook),
            collected_at: first(Source::Api),
        })
    }

    /// Whether the URL of the intent of this name is [good for](IntentRow::admits) the job.
    #[must_use]
    pub fn is_admitted(&self, name: &str, intent: &IntentRow) -> bool {
        intent.admits((name, self.intent_since(intent)), &self.job_id)
    }

    /// The intent that the ledger has for the job, unless this one of that name is younger than the job: the job is then of an
    /// order that took nothing and is gone.
    fn intent_since(&self, intent: &IntentRow) -> Option<&str> {
        let job = self.expected.get().filter(|job| job.expected_at >= intent.created_at)?;
        job.intent.as_deref()
    }

    /// The intent that the ledger has for the job.
    #[must_use]
    pub fn intent(&self) -> Option<&str> {
        self.expected.get()?.intent.as_deref()
    }

    /// Stores a body, and reports a copy of an article to the ledger. `intent` is the order that the body names.
    pub fn record(
        &mut self,
        arrival: &Arrival,
        mut intent: Option<&mut IntentRow>,
        now: SystemTime,
    ) -> Recorded {
        let named = arrival.intent.as_deref().filter(|_| arrival.is_by_capability());
        if let (Some(name), Some(intent)) = (named, &intent)
            && !self.is_admitted(name, intent)
        {
            return Recorded::OtherJob;
        }
        if !arrival.key.is_article() {
            return self.record_body(arrival, now);
        }
        let bound = match (named, &mut intent) {
            (Some(name), Some(intent)) => self.bind(name, intent, now),
            _ => None,
        };
        let is_removed = self.entry(&arrival.key.event).is_none();
        let is_tombstone = self.expected.get().is_some_and(JobRow::is_tombstone);
        let recorded = if is_removed && is_tombstone {
            Recorded::Duplicate
        } else {
            self.record_body(arrival, now)
        };
        if recorded == Recorded::BodyLimitReached {
            return recorded;
        }
        let article = self.article();
        if let Some(intent) = intent {
            intent.resolve(&self.job_id, now);
            if self.expected.get().is_none() {
                let job = Expect::job(self.job_id.clone(), bound.unwrap_or(now));
                let expect = Expect { reason: Reason::Ordered, ..job };
                let article = article.as_ref().filter(|_| bound.is_none());
                self.expected.set(JobRow::new(&expect, article, now));
            }
        }
        let Some(job) = self.expected.get_mut() else { return recorded };
        let before = job.clone();
        job.note_copy(arrival.source, arrival.intent.as_deref(), now);
        if let (Some(name), Some(at)) = (named, bound) {
            job.doubt(name, at, now);
        } else if !arrival.is_by_capability() && job.is_provisional() {
            // The token, or the API, vouches for the job. If it is not bound, a poll decides whether it is that of the order.
            job.unproven = None;
        }
        if let Some(article) = article {
            job.sync_with_entry(article.state, arrival.source, now);
        }
        let recorded = job.recorded(recorded, &before, now);
        self.remove_overtaken(before.state);
        recorded
    }

    /// The job was delivered to the URL of this intent, which is good for it. Returns when the API is polled about it, if nothing
    /// else says that it is the job of this order: no body came in another way, and retention removed none.
    fn bind(&self, name: &str, intent: &mut IntentRow, now: SystemTime) -> Option<SystemTime> {
        let deadline = intent.bind((name, self.intent_since(intent)), &self.job_id, now)?;
        let is_doubtful = match self.entry(&Event::ArticleComplete) {
            Some(entry) => entry.bodies().all(BodyRow::is_by_capability),
            None => !self.expected.get().is_some_and(JobRow::is_tombstone),
        };
        is_doubtful.then_some(deadline)
    }

    /// Stores a body. A good copy ends the quarantine.
    fn record_body(&mut self, arrival: &Arrival, now: SystemTime) -> Recorded {
        let recorded = match self.entry_mut(&arrival.key.event) {
            Some(entry) => entry.record(arrival, now),
            None => {
                self.entries.push(EntryRows {
                    event: arrival.key.event.clone(),
                    received_at: now,
                    row: Tracked::new(Row::new(now)),
                    bodies: vec![Tracked::new(BodyRow::new(arrival, now))],
                    damage: None,
                });
                Recorded::Stored
            }
        };
        if recorded != Recorded::BodyLimitReached {
            self.end_quarantine(&arrival.key, &arrival.bytes);
        }
        recorded
    }

    /// Changes the row of an entry, and reports the state of the article to the ledger.
    pub fn change<T>(
        &mut self,
        id: i64,
        now: SystemTime,
        change: impl FnOnce(&mut Row) -> T,
    ) -> Option<T> {
        let changed = change(self.row_mut(id)?);
        self.sync_with_article(now);
        Some(changed)
    }

    /// Stores the outcome of an attempt.
    pub fn settle(&mut self, lease: Lease, outcome: &Outcome, now: SystemTime) -> Settled {
        let bodies = self.entry_of(lease.id).map_or(0, |entry| entry.bodies().count());
        let settled = self.change(lease.id, now, |row| row.settle(lease, outcome, bodies, now));
        self.end_quarantine_if_handled();
        settled.unwrap_or(Settled::LostLease)
    }

    /// Requeues an entry.
    ///
    /// A quarantine is never one: its event shows that also if its row is damaged.
    pub fn requeue(
        &mut self,
        event: &Event,
        from: Option<State>,
        requeued_at: SystemTime,
        now: SystemTime,
    ) -> bool {
        let key = EntryKey { job_id: self.job_id.clone(), event: event.clone() };
        if key.is_quarantine() {
            return false;
        }
        let Some((id, held)) = self.entry(event).map(|entry| (entry.row.id, entry.held())) else {
            return false;
        };
        self.change(id, now, |row| row.requeue(from, held, requeued_at, now)).unwrap_or_default()
    }

    /// Discards an entry. One of a quarantine is removed, and its job stays expected.
    pub fn discard(&mut self, event: &Event, cause: &str, now: SystemTime) -> bool {
        let Some(entry) = self.entry(event) else { return false };
        let (id, key) = (entry.row.id, self.key(entry));
        if key.is_quarantine() {
            return self.remove_quarantine(&key);
        }
        self.change(id, now, |row| row.discard(cause, now)).unwrap_or_default()
    }

    /// Adds an entry that another store exported. `false` if this store has one, or knows that its article was here.
    pub fn import(&mut self, entry: &EntryLine, now: SystemTime) -> bool {
        let is_tombstone = self.expected.get().is_some_and(JobRow::is_tombstone);
        let is_article = entry.event == Event::ArticleComplete;
        let key = EntryKey { job_id: self.job_id.clone(), event: entry.event.clone() };
        let is_not_needed = self.is_quarantine_not_needed(&key);
        if self.entry(&entry.event).is_some() || (is_article && is_tombstone) || is_not_needed {
            return false;
        }
        self.entries.push(EntryRows {
            event: entry.event.clone(),
            received_at: entry.received_at,
            row: Tracked::new(entry.row().imported(now)),
            bodies: entry.bodies.iter().map(BodyLine::row).map(Tracked::new).collect(),
            damage: None,
        });
        for bytes in entry.bodies.iter().filter_map(|body| body.body.as_ref()) {
            self.end_quarantine(&key, bytes);
        }
        self.end_quarantine_if_handled();
        self.sync_with_article(now);
        true
    }

    /// Adds an entry of another store. If this store has it too, its bodies are added as if they were delivered again, and what
    /// is [known there](Row::merge) of the work on it counts. `false` if this store has the entry, or knows that its article was
    /// here.
    pub fn merge(&mut self, line: &EntryLine, now: SystemTime) -> bool {
        if self.entry(&line.event).is_none() {
            return self.import(line, now);
        }
        let key = EntryKey { job_id: self.job_id.clone(), event: line.event.clone() };
        let quarantined = key.quarantined();
        for body in &line.bodies {
            let Some(bytes) = body.body.clone() else { continue };
            let BodyRow { source, target, intent, .. } = body.document.clone();
            let (digest, key) = (body.sha256, quarantined.clone().unwrap_or(key.clone()));
            let arrival = Arrival { key, source, target, intent, digest, bytes };
            if quarantined.is_some() {
                let cause = line.document.cause.as_deref().unwrap_or_default();
                self.quarantine(&arrival, cause, u64::MAX, now);
            } else {
                self.record(&arrival, None, now);
            }
        }
        if let Some(row) = self.entry_mut(&line.event).and_then(|entry| entry.row.get_mut()) {
            row.merge(&line.row().imported(now));
        }
        self.end_quarantine_if_handled();
        self.sync_with_article(now);
        false
    }

    /// Adds a job of another store that ended there with an entry which retention removed: it is not polled, and a copy that
    /// came here is done. `false` if this store has the job.
    pub fn merge_removed(&mut self, job: JobRow, now: SystemTime) -> bool {
        let (here, ended_with) = (self.expected.get(), job.ended_with(&self.job_id));
        let is_new = here.is_none();
        if here.is_none_or(|here| !here.state.has_article()) {
            let article = self.article();
            self.expected.set(job.imported(article.as_ref(), now));
        }
        let entry = ended_with.and_then(|event| self.entry_mut(&event));
        if let Some(row) = entry.and_then(|entry| entry.row.get_mut()) {
            row.merge_removed(now);
        }
        self.end_quarantine_if_handled();
        is_new
    }

    /// Adds what another store knew of the job. `false` if this store has it.
    pub fn import_job(&mut self, job: JobRow, now: SystemTime) -> bool {
        let is_new = self.expected.get().is_none();
        if is_new {
            let article = self.article();
            self.expected.set(job.imported(article.as_ref(), now));
        }
        is_new
    }

    /// Expects the job.
    pub fn expect(&mut self, expect: &Expect, now: SystemTime) -> JobState {
        let article = self.article();
        match self.expected.get_mut() {
            Some(job) => job.expect(expect, now),
            None => self.expected.set(JobRow::new(expect, article.as_ref(), now)),
        }
        self.expected.get().map_or(JobState::Expected, |job| job.state)
    }

    /// Expects the job. `intent` is that to whose URL it was delivered and refused, if the ledger has it. If the URL is good for
    /// another job, this one is not expected, unless a call has no answer: then the API says whether this one is there, if not too
    /// many others were named.
    pub fn expect_of(
        &mut self,
        expect: &Expect,
        intent: Option<(&str, &mut IntentRow)>,
        now: SystemTime,
    ) -> JobState {
        let Some((name, intent)) = intent else { return self.expect(expect, now) };
        let is_delivered = matches!(expect.reason, Reason::Refused { .. });
        if !is_delivered {
            intent.resolve(&self.job_id, now);
            return self.expect(expect, now);
        }
        if self.is_admitted(name, intent) {
            let bound = self.bind(name, intent, now);
            let state = self.expect(expect, now);
            if let (Some(at), Some(job)) = (bound, self.expected.get_mut()) {
                job.doubt(name, at, now);
            }
            return state;
        }
        if intent.expects_refused(&self.job_id) {
            intent.note_refused(&self.job_id);
            self.expect(&Expect { intent: None, ..expect.clone() }, now);
            let is_candidate = |job: &&mut JobRow| job.intent.is_none() && job.state.is_open();
            let job = self.expected.get_mut().filter(is_candidate);
            job.into_iter().for_each(|job| job.unproven = Some(name.into()));
        }
        self.expected.get().map_or(JobState::Expected, |job| job.state)
    }

    /// The answer to an order says that it is this job.
    pub fn confirm(&mut self, now: SystemTime) {
        self.expected.get_mut().into_iter().for_each(|job| job.unproven = None);
        self.sync_with_article(now);
    }

    /// The body says what ends the job once the API says the same.
    pub fn note_statement(&mut self, statement: Digest) {
        if let Some(job) = self.expected.get_mut().filter(|job| job.state.is_open()) {
            job.unconfirmed = Some(statement);
        }
    }

    /// The job is not that of this intent, to whose URL it was delivered. `bodies` are those of its article. They go into
    /// quarantine if no handler has had them, and none came in another way. `false` if a handler may have had them.
    pub fn unbind(&mut self, name: &str, bodies: &[Body], now: SystemTime) -> bool {
        if self.intent() != Some(name) {
            return true;
        }
        let article = EntryKey::article(self.job_id.clone());
        let (mut is_set_aside, mut was_handled) = (false, false);
        if let Some(entry) = self.entry_mut(&article.event) {
            let is_unvouched = entry.bodies().all(BodyRow::is_by_capability);
            // A handler that failed has had it, too.
            let (is_open, was_handed_out) = match entry.row.get().map(|row| (row.state, row)) {
                Some((State::Waiting, row)) => (true, row.attempts > 0),
                // No worker gets it again, and the one that has it loses its lease.
                Some((State::Leased, _)) => (true, true),
                Some((State::Unhandled | State::Corrupt, _)) => (true, false),
                Some((State::Done | State::Dead | State::Quarantined, _)) | None => (false, true),
            };
            is_set_aside = is_unvouched && is_open;
            was_handled = is_unvouched && was_handed_out;
            for body in entry.bodies.iter_mut().filter_map(Tracked::get_mut) {
                body.intent.take_if(|intent| &**intent == name);
            }
            if is_set_aside {
                entry.remove();
            }
        }
        let job = self.expected.get_mut();
        job.into_iter().for_each(|job| (job.intent, job.unproven) = (None, None));
        self.sync_with_article(now);
        if is_set_aside {
            // A repeated call may have ordered it, too. The API knows.
            self.expected.get_mut().into_iter().for_each(|job| job.reopen(now));
            for arrival in bodies.iter().filter_map(|body| Arrival::of(article.clone(), body)) {
                self.quarantine(&arrival, OF_ANOTHER_JOB, u64::MAX, now);
            }
        }
        !was_handled
    }

    /// Stores the outcome of a poll whose lease [holds](Self::is_polled).
    pub fn settle_poll(
        &mut self,
        lease: PollLease,
        outcome: &PollOutcome,
        key: u64,
        now: SystemTime,
    ) -> PollSettled {
        let Some(job) = self.expected.get() else { return PollSettled::LostLease };
        let (before, intent) = (job.state, job.intent.clone());
        let answered = match outcome {
            PollOutcome::Answered(answer) => Some((answer, Event::ArticleComplete)),
            PollOutcome::Failed { answer, .. } => {
                Some((answer, EntryKey::failure(self.job_id.clone()).event))
            }
            _ => None,
        };
        if let Some((answer, event)) = answered {
            let arrival = Arrival {
                key: EntryKey { job_id: self.job_id.clone(), event },
                source: Source::Api,
                target: answer.target.clone(),
                intent,
                digest: answer.digest,
                bytes: answer.bytes.clone(),
            };
            self.record_body(&arrival, now);
        }
        let entry = self.article().map(|article| article.state);
        let Some(job) = self.expected.get_mut() else { return PollSettled::LostLease };
        let settled = job.settle(lease, outcome, key, entry, now);
        self.remove_overtaken(before);
        settled
    }

    /// Whether the job is polled under this lease.
    #[must_use]
    pub fn is_polled(&self, lease: PollLease, now: SystemTime) -> bool {
        self.expected.get().is_some_and(|job| job.is_polled(lease, now))
    }

    /// Whether the job is bound to an order by a delivery alone, and the API did not know it when it was polled.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.expected.get().is_some_and(|job| job.is_provisional() && job.missing.is_some())
    }

    /// Whether the job is bound to an order by a delivery alone.
    #[must_use]
    pub fn is_provisional(&self) -> bool {
        self.expected.get().is_some_and(JobRow::is_provisional)
    }

    /// Notes to which order the job belongs that was delivered to the URL of one: to this intent, or to none.
    pub fn decide(&mut self, intent: Option<Box<str>>) {
        let Some(job) = self.expected.get_mut() else { return };
        job.unproven = None;
        job.intent = intent.or(job.intent.take());
    }

    /// Removes bodies of an entry that are old, as long as the limits allow it. What was removed counts in `pruned` and in
    /// `bytes`.
    pub fn prune_bodies(&mut self, id: i64, prune: &Prune, pruned: &mut Pruned, bytes: &mut u64) {
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.row.id == id) else { return };
        let Some(row) = entry.row.get() else { return };
        for body in entry.bodies.iter_mut().filter_map(Tracked::get_mut) {
            if !body.has_bytes() || !prune.removes_bytes(row, body.received_at) {
                continue;
            }
            let is_too_much = *bytes + body.length() > MAX_BODY_BYTES as u64 && pruned.bodies > 0;
            if pruned.bodies == prune.limit || is_too_much {
                pruned.more = true;
                return;
            }
            *bytes += body.length();
            (body.bytes, body.title) = (BodyBytes::Removed, None);
            pruned.bodies += 1;
        }
    }

    /// Removes an entry that is old. What is known of its job stays, so that no copy is handled again.
    pub fn prune_entry(&mut self, id: i64) {
        let article = self.article();
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.row.id == id) else { return };
        let is_article = entry.event == Event::ArticleComplete;
        let ended_at = entry.row.get().map(|row| row.at);
        entry.remove();
        if let (Some(article), Some(ended_at), true, None) =
            (article, ended_at, is_article, self.expected.get())
            && let Some(job) = JobRow::of_pruned(&self.job_id, &article, ended_at)
        {
            self.expected.set(job);
        }
    }

    /// How many bytes its bodies have.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.entries.iter().flat_map(EntryRows::bodies).map(BodyRow::length).sum()
    }

    /// Erases everything about the job. Returns the number of entries.
    pub fn erase(&mut self) -> usize {
        let entries = self.entries.iter().filter(|entry| entry.row.get().is_some()).count();
        self.entries.iter_mut().for_each(EntryRows::remove);
        self.expected.remove();
        entries
    }

    /// The ledger follows the state of the article.
    pub fn sync_with_article(&mut self, now: SystemTime) {
        let (Some(article), Some(job)) = (self.article(), self.expected.get_mut()) else { return };
        let before = job.state;
        job.sync_with_entry(article.state, article.source(), now);
        self.remove_overtaken(before);
    }

    /// The ledger expects the article again if its entry was found damaged. An entry of an unknown event may be that of the
    /// article.
    pub fn sync_with_damage(&mut self, now: SystemTime) {
        let failure = EntryKey::failure(self.job_id.clone()).event;
        let is_damaged = |entry: &EntryRows| {
            entry.damage.is_some() && entry.event != failure && !self.key(entry).is_quarantine()
        };
        if !self.entries.iter().any(is_damaged) {
            return;
        }
        match (self.article(), self.expected.get_mut()) {
            (None, Some(job)) => job.sync_with_entry(State::Corrupt, Source::Webhook, now),
            _ => self.sync_with_article(now),
        }
    }

    /// Removes the failure of the job if its article came since the job was in this state, and no handler has ended with it.
    fn remove_overtaken(&mut self, before: JobState) {
        if !self.expected.get().is_some_and(|job| job.has_arrived_since(before)) {
            return;
        }
        let failure = EntryKey::failure(self.job_id.clone()).event;
        if let Some(entry) = self.entry_mut(&failure)
            && entry.row.get().is_some_and(Row::is_overtaken)
        {
            entry.remove();
        }
    }
}
