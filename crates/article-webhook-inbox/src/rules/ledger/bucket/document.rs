use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::Bucket;
use crate::{
    call::{Pause, PauseReason},
    timestamp::{END_OF_9999, from_millis, to_millis},
};

/// A bucket as stores and exports keep it. Times are milliseconds since 1970.
#[derive(Serialize, Deserialize)]
pub(crate) struct BucketDocument {
    full_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pause: Option<PauseDocument>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_refused_at: Option<i64>,
}

#[derive(Serialize, Deserialize)]
struct PauseDocument {
    since: i64,
    until: i64,
    #[serde(flatten)]
    why: Why,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
enum Why {
    RateLimited,
    Unavailable,
    KeyRefused { key: u64 },
}

impl Bucket {
    /// The bucket as a store keeps it, in JSON.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "numbers and names are JSON")]
    pub fn to_json(&self) -> String {
        serde_json::to_string(&BucketDocument::from(self)).expect("numbers and names are JSON")
    }

    /// The bucket that [`to_json`](Self::to_json) wrote. `None` for any other text.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        serde_json::from_str::<BucketDocument>(text).ok().map(Self::from)
    }
}

impl From<&Bucket> for BucketDocument {
    fn from(bucket: &Bucket) -> Self {
        let pause = |pause: Pause| PauseDocument {
            since: to_millis(pause.since),
            until: to_millis(pause.until),
            why: match pause.why {
                PauseReason::RateLimited => Why::RateLimited,
                PauseReason::Unavailable => Why::Unavailable,
                PauseReason::KeyRefused { key } => Why::KeyRefused { key },
            },
        };
        Self {
            full_at: to_millis(bucket.full_at),
            pause: bucket.pause.map(pause),
            key_refused_at: bucket.key_refused_at.map(to_millis),
        }
    }
}

impl From<BucketDocument> for Bucket {
    fn from(document: BucketDocument) -> Self {
        let pause = |pause: PauseDocument| Pause {
            since: time(pause.since),
            until: time(pause.until),
            why: match pause.why {
                Why::RateLimited => PauseReason::RateLimited,
                Why::Unavailable => PauseReason::Unavailable,
                Why::KeyRefused { key } => PauseReason::KeyRefused { key },
            },
        };
        Self {
            full_at: time(document.full_at),
            pause: document.pause.map(pause),
            key_refused_at: document.key_refused_at.map(time),
        }
    }
}

fn time(millis: i64) -> SystemTime {
    from_millis(millis.min(END_OF_9999))
}
