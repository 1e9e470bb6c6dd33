//! The newest entries first, where a state has many entries.

use article_webhook_inbox::{Filter, ListOrder, State, store::Store};
use rusqlite::Connection;

use crate::{Place, arrival};

/// Two thirds of them wait: more than are sorted. The others are done.
const MANY: i64 = 30_100;

#[tokio::test]
async fn a_state_of_many_entries_is_listed_from_the_newest() {
    let place = Place::new();
    let store = place.open();
    store.record(arrival("job_1", "{}")).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let more = format!(
        "INSERT INTO article_inbox_entries (job_id, event, state, attempts, fence, at, received_at, conflicts, held, \
         since, interrupted) WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < {MANY}) \
         SELECT 'job_' || n, event, iif(n % 3, state, 'done'), attempts, fence, at, received_at, conflicts, 0, since, \
         interrupted FROM article_inbox_entries, numbers WHERE id = 1 ORDER BY n"
    );
    Connection::open(&place.path).unwrap().execute_batch(&more).unwrap();

    let store = place.open();
    for state in [State::Waiting, State::Done] {
        let filter = Filter {
            state: Some(state),
            order: ListOrder::NewestFirst,
            limit: 40,
            ..Filter::default()
        };
        let page = store.list(filter.clone()).await.unwrap();
        let expected: Vec<i64> =
            (1..=MANY).rev().filter(|id| (id % 3 == 0) == (state == State::Done)).collect();
        let ids = |entries: &[article_webhook_inbox::Entry]| {
            entries.iter().map(|entry| entry.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(&page.entries), expected[..40]);
        let page = store.list(Filter { after: page.next.unwrap(), ..filter }).await.unwrap();
        assert_eq!(ids(&page.entries), expected[40..80]);
    }
}
