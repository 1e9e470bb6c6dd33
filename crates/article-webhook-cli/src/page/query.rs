use std::time::{Duration, SystemTime};

use article_webhook_inbox::{CauseCount, Filter, ListOrder, State};
use url::form_urlencoded::{Serializer, parse};

/// Entries on a page of the list.
const LENGTH: u32 = 50;

/// Which entries the reader asked for, as the query of a URL says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Query {
    pub(super) state: Option<State>,
    /// A group of causes.
    pub(super) cause: String,
    /// A part of a job id, a title or a cause, as it was typed.
    pub(super) search: String,
    /// Those that were requeued at this time, in milliseconds since 1970.
    pub(super) requeued: Option<u64>,
    pub(super) after: i64,
    /// How many deliveries in quarantine were just read again. The notice is shown once, so no link has the number.
    pub(super) read: u64,
}

impl Query {
    /// What has no meaning is left out.
    pub(super) fn parse(query: &str) -> Self {
        let mut read = Self::default();
        for (name, value) in parse(query.as_bytes()) {
            match &*name {
                "state" => read.state = State::from_name(&value),
                "cause" => read.cause = value.into_owned(),
                "q" => read.search = value.trim().to_owned(),
                "requeued" => read.requeued = value.parse().ok(),
                "read" => read.read = value.parse().unwrap_or_default(),
                "after" => read.after = value.parse().unwrap_or_default(),
                _ => {}
            }
        }
        read
    }

    /// The entries of a group of causes. Entries without a cause have none: they are all of the state.
    pub(super) fn of_group(group: &CauseCount) -> Self {
        let cause = group.cause.as_deref().unwrap_or_default().to_owned();
        Self { state: Some(group.state), cause, ..Self::default() }
    }

    /// Whether all entries are meant, from the newest on.
    pub(super) fn is_all(&self) -> bool {
        Self { read: 0, ..self.clone() } == Self::default()
    }

    pub(super) fn filter(&self) -> Filter {
        let given = |text: &str| (!text.is_empty()).then(|| text.into());
        Filter {
            state: self.state,
            cause: given(&self.cause),
            search: given(&self.search),
            requeued_at: self.requeued_at(),
            after: self.after.max(0),
            order: ListOrder::NewestFirst,
            limit: LENGTH,
            ..Filter::default()
        }
    }

    pub(super) fn requeued_at(&self) -> Option<SystemTime> {
        Some(SystemTime::UNIX_EPOCH + Duration::from_millis(self.requeued?))
    }

    /// The list that an entry was opened from, as the query of the entry says it.
    pub(super) fn of_entry(query: &str) -> Self {
        let list = parse(query.as_bytes()).find(|(name, _)| name == "list");
        list.map(|(_, list)| Self::parse(&list)).unwrap_or_default()
    }

    /// What follows the path of an entry that is opened from this list, with its `?`.
    pub(super) fn for_entry(&self, more: Option<(&str, &str)>) -> String {
        let list = self.text();
        let list = list.strip_prefix('?').map(|list| ("list", list));
        let mut query = Serializer::new(String::new());
        let pairs: Vec<_> = more.into_iter().chain(list).collect();
        let query = query.extend_pairs(&pairs).finish();
        if pairs.is_empty() { query } else { format!("?{query}") }
    }

    /// The list from its newest entry on.
    pub(super) fn first_page(&self) -> Self {
        Self { after: 0, ..self.clone() }
    }

    /// What follows a path, with its `?`.
    pub(super) fn text(&self) -> String {
        let mut query = Serializer::new(String::new());
        let state = self.state.map(State::as_str).unwrap_or_default();
        let requeued = self.requeued.map(|at| at.to_string()).unwrap_or_default();
        let after = if self.after == 0 { String::new() } else { self.after.to_string() };
        for (name, value) in [
            ("state", state),
            ("cause", &self.cause),
            ("q", &self.search),
            ("requeued", &requeued),
            ("after", &after),
        ] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        match query.finish() {
            query if query.is_empty() => query,
            query => format!("?{query}"),
        }
    }
}
