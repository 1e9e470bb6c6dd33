use std::time::SystemTime;

/// When this many different jobs are forbidden, and none was answered otherwise, it is the key that is refused.
const SEVERAL: usize = 3;

/// What the answers of this process tell about its API key.
#[derive(Debug, Default)]
pub(crate) struct KeyWatch {
    /// The different jobs that were forbidden since the key was accepted last.
    forbidden: Vec<i64>,
    /// When the service last knew a job.
    knew_at: Option<SystemTime>,
}

impl KeyWatch {
    /// The service knew a job of the key.
    pub(crate) fn knew(&mut self, now: SystemTime) {
        self.knew_at = Some(now);
        self.accepted();
    }

    /// The service accepted the key, or a person lifted the pause.
    pub(crate) fn accepted(&mut self) {
        self.forbidden.clear();
    }

    /// The service forbade to read a job. `true`: so many different ones in a row that it refuses the key.
    pub(crate) fn forbade(&mut self, job: i64) -> bool {
        if self.forbidden.len() < SEVERAL && !self.forbidden.contains(&job) {
            self.forbidden.push(job);
        }
        self.forbidden.len() >= SEVERAL
    }

    /// Whether the service has known another job since that time. A key of another environment knows none of them.
    pub(crate) fn has_known_since(&self, since: SystemTime) -> bool {
        self.knew_at.is_some_and(|knew_at| since <= knew_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_several_different_jobs_in_a_row_show_that_the_key_is_refused() {
        let mut watch = KeyWatch::default();
        for job in [1, 1, 1, 2, 1, 2] {
            assert!(!watch.forbade(job));
        }
        assert!(watch.forbade(3) && watch.forbade(3));
        watch.accepted();
        assert!(!watch.forbade(3) && !watch.forbade(4));
        watch.knew(SystemTime::UNIX_EPOCH);
        assert!(!watch.forbade(5));
    }
}
