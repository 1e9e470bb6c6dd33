//! What the service knows: what it sent, and what was acknowledged.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

use article_webhook_inbox::State;

use crate::{service::Parcel, store::Row};

/// The body of everything that was answered with a 2xx, by job.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged(Mutex<BTreeMap<String, Vec<u8>>>);

impl Acknowledged {
    pub(crate) fn acknowledge(&self, parcel: &Parcel) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(parcel.job_id.clone(), parcel.body.clone());
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub(crate) fn jobs(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Holds the entries against what was acknowledged.
    pub(crate) fn compare(&self, rows: &[Row]) -> Comparison {
        let acknowledged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entries: HashMap<&str, Vec<&Row>> = HashMap::new();
        for row in rows {
            entries.entry(&row.job_id).or_default().push(row);
        }
        let is_there = |job_id: &str, body: &Vec<u8>| {
            entries.get(job_id).is_some_and(|rows| rows.iter().any(|row| row.bodies.contains(body)))
        };
        Comparison {
            acknowledged: acknowledged.len(),
            lost: acknowledged
                .iter()
                .filter(|(job_id, body)| !is_there(job_id, body))
                .map(|(job_id, _)| job_id.clone())
                .collect(),
            doubled: entries
                .iter()
                .filter(|(_, rows)| rows.len() > 1)
                .map(|(job_id, _)| (*job_id).to_owned())
                .collect(),
            unfinished: rows
                .iter()
                .filter(|row| row.state != State::Done)
                .map(|row| format!("{} {}", row.job_id, row.state))
                .collect(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) acknowledged: usize,
    /// Acknowledged, and not there with the bytes that were sent.
    pub(crate) lost: Vec<String>,
    /// There more than once.
    pub(crate) doubled: Vec<String>,
    /// There, and not done.
    pub(crate) unfinished: Vec<String>,
}
