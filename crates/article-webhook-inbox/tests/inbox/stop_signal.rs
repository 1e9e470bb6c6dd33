//! The end of a program by a signal. No other test of this program waits for one: it is remembered until the process ends.

use std::{process::Command, time::Duration};

use article_webhook_inbox::stop_signal;
use tokio::time::timeout;

#[tokio::test]
async fn a_signal_stops_also_what_begins_to_wait_after_it() {
    let mut first = std::pin::pin!(stop_signal());
    // From here on the signal does not end the process.
    assert!(timeout(Duration::ZERO, &mut first).await.is_err());
    let process = std::process::id().to_string();
    assert!(Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
    let limit = Duration::from_secs(60);
    timeout(limit, first).await.expect("what waited stops");
    timeout(limit, stop_signal()).await.expect("what waits later stops, too");
}
