//! What the senders know: what was acknowledged.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use article_webhook_inbox::Digest;

use crate::{database::Database, runs::Record};

/// The digest of everything that was answered with a 2xx, by job.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged(Mutex<BTreeMap<String, Digest>>);

impl Acknowledged {
    pub(crate) fn acknowledge(&self, job_id: &str, body: &[u8]) {
        self.lock().insert(job_id.to_owned(), Digest::of(body));
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// The jobs that are acknowledged, and not in the database with the body that was sent.
    pub(crate) fn lost(&self, database: &Database) -> Vec<String> {
        let schema = &database.schema;
        let rows = database.run(&format!(
            "SELECT e.job_id, encode(b.digest, 'hex'), encode(sha256(b.body), 'hex') FROM {schema}.article_inbox_entries e \
             JOIN {schema}.article_inbox_bodies b ON b.entry = e.id AND b.slot = 0"
        ));
        let stored: HashMap<_, _> =
            rows.iter().map(|row| (row[0].as_str(), (&row[1], &row[2]))).collect();
        let is_lost = |job_id: &str, digest: &Digest| {
            let digest: String =
                digest.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            stored.get(job_id) != Some(&(&digest, &digest))
        };
        let acknowledged = self.lock();
        let lost = acknowledged.iter().filter(|(job_id, digest)| is_lost(job_id, digest));
        lost.map(|(job_id, _)| job_id.clone()).collect()
    }

    /// Holds the database and the record of the workers against what was acknowledged.
    pub(crate) fn check(&self, database: &Database, record: &Record) {
        assert!(self.len() > 0, "nothing was acknowledged");
        let lost = self.lost(database);
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        let schema = &database.schema;
        let doubled = database.run(&format!(
            "SELECT job_id FROM {schema}.article_inbox_entries GROUP BY job_id HAVING count(*) > 1"
        ));
        assert!(doubled.is_empty(), "stored twice: {doubled:?}");
        assert!(record.repeated.is_empty(), "handed out twice: {:?}", record.repeated);
        assert!(record.after_the_end.is_empty(), "run again: {:?}", record.after_the_end);

        let effects = database.run(&format!(
            "SELECT job_id, count(*) FROM {schema}.effects GROUP BY job_id HAVING count(*) > 1"
        ));
        assert!(effects.is_empty(), "effects that happened more than once: {effects:?}");
        let without = database.run(&format!(
            "SELECT job_id FROM {schema}.article_inbox_entries WHERE job_id LIKE 'own-%' \
             EXCEPT SELECT job_id FROM {schema}.effects"
        ));
        assert!(without.is_empty(), "done without an effect: {without:?}");
        for row in
            database.run(&format!("SELECT id, job_id, fence FROM {schema}.article_inbox_entries"))
        {
            let (id, fence): (i64, i64) = (row[0].parse().unwrap(), row[2].parse().unwrap());
            assert!(record.of_job.contains_key(&row[1]), "{} is done, and never ran", row[1]);
            let last = record.last_fence[&id];
            assert_eq!(last, fence, "{} is done under a lease that no worker had", row[1]);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Digest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
