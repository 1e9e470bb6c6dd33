//! The body of a delivery is synced before its answer is written.

use crate::{
    child::Child,
    load,
    role::{self, Role},
    strace::Strace,
    trace::{self, Call},
};

pub(crate) fn the_sync_returns_before_the_answer_is_written() {
    assert_eq!(Order::of(Role::Receiver), Order::SyncFirst);
    println!("durability: order: the log is synced, and then the answer is written");
}

#[derive(Debug, PartialEq, Eq)]
enum Order {
    SyncFirst,
    AnswerFirst,
}

impl Order {
    /// What a receiver does with one delivery.
    fn of(role: Role) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let folder = folder.path().canonicalize().expect("it is there");
        let trace = folder.join("trace");
        let child = Child::start(&folder, role, Some(&Strace::recording(&trace)));
        let child = child.expect("the receiver starts");
        let (_, statuses) = load::deliver(child.address, &load::parcels("canary", 1, 1, 2000));
        assert_eq!(statuses, [("canary-0-0".to_owned(), 200)]);
        child.stop();

        let calls = trace::read(&trace);
        let file = folder.join(role::FILE.to_owned() + "-wal");
        let log: Vec<_> = calls.iter().filter(|call| call.file().as_ref() == Some(&file)).collect();
        let holds_the_body =
            |call: &Call| call.text().windows(10).any(|window| window == b"canary-0-0");
        let body = log.iter().find(|call| call.name == "pwrite64" && holds_the_body(call));
        let body = body.expect("the body is written to the log");
        let answer = calls
            .iter()
            .find(|call| call.peer().is_some() && call.text().starts_with(b"HTTP/1.1 200"));
        let answer = answer.expect("the answer is written").start;
        if body.start > answer {
            return Self::AnswerFirst;
        }
        // The last write before the answer may be of a page that holds no text of the body.
        let written = log.iter().rfind(|call| call.name == "pwrite64" && call.start < answer);
        let written = written.and_then(|write| write.end).expect("the write of the body returned");
        let is_sync = |call: &Call| {
            matches!(call.name.as_str(), "fdatasync" | "fsync") && call.result == Some(0)
        };
        let synced =
            log.iter().find(|call| is_sync(call) && call.start > written).and_then(|sync| sync.end);
        if synced.is_some_and(|synced| synced < answer) {
            Self::SyncFirst
        } else {
            Self::AnswerFirst
        }
    }
}
