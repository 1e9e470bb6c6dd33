//! What stands on the last line of the terminal while something lasts.

use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::Output;
use crate::text::moment;

/// How often the time is shown that it has taken.
const TICK: Duration = Duration::from_secs(1);

impl Output {
    /// Does some work, and shows what it is, and for how long it has lasted. Only on a terminal.
    pub(crate) async fn during<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        let (start, mut work) = (Instant::now(), std::pin::pin!(work));
        let done = loop {
            let lasted = moment::span(start.elapsed());
            self.progress(&format!("{what}, for {lasted}"));
            if let Ok(done) = timeout(TICK, &mut work).await {
                break done;
            }
        };
        self.clear_progress();
        done
    }
}
