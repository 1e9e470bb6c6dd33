//! What a stranger costs: a wrong token is refused in less than a microsecond, without an allocation; by a receiver
//! of 3,000 targets in less than 200 µs.

#![allow(clippy::print_stdout)] // a program may

mod common {
    pub(crate) mod measured;
    pub(crate) mod median;
}

#[path = "../../crates/article-webhook-inbox/benches/inbox/table.rs"]
mod table;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use article_webhook::{
    AuthToken, Receiver, Targets,
    fixture::{self, Defect},
};
use http::HeaderMap;

use common::{measured::line_time, median::median};
use table::{Table, at_most};

const LIMIT: Duration = Duration::from_micros(1);

const MANY: u32 = 3000;
const LIMIT_OF_MANY: Duration = Duration::from_micros(200);
const BUILD_LIMIT: Duration = Duration::from_millis(50);

fn main() {
    one_target();
    many_targets();
}

fn one_target() {
    let receiver = fixture::receiver();
    let mut table = Table::new(
        "refusal",
        "a refused request : 1 µs, and its allocations",
        &["Authorization", "time", "allocations"],
    );
    let post = fixture::generated(1, 16 << 10);
    let requests = [
        ("a wrong token", post.clone().defect(Defect::WrongToken)),
        ("no token", post.clone().defect(Defect::NoToken)),
        ("two tokens", post.defect(Defect::RepeatedToken)),
    ];
    for (name, post) in requests {
        let headers = post.into_request("/").into_parts().0.headers;
        let allocations = allocation_counter::measure(|| refuse(&receiver, &headers)).count_total;
        let figures = [
            at_most(time(&receiver, &headers) / LIMIT.as_secs_f64(), 1.0, ""),
            at_most(allocations as f64, 0.0, ""),
        ];
        table.row(name, figures);
    }
    println!("{table}");
}

fn many_targets() {
    let post = fixture::generated(1, 16 << 10).defect(Defect::WrongToken);
    let headers = post.into_request("/").into_parts().0.headers;
    let build = median((0..11).map(|_| time_to_build()));
    let receiver = Receiver::new(targets());
    let allocations = allocation_counter::measure(|| refuse(&receiver, &headers)).count_total;
    let mut table = Table::new(
        "refusal: many",
        "a receiver of 3,000 targets : 50 ms to build it, and 200 µs to refuse a wrong token",
        &["", "build", "time", "allocations"],
    );
    let figures = [
        at_most(build / BUILD_LIMIT.as_secs_f64(), 1.0, ""),
        at_most(time(&receiver, &headers) / LIMIT_OF_MANY.as_secs_f64(), 1.0, ""),
        at_most(allocations as f64, 0.0, ""),
    ];
    table.row("3,000 targets", figures);
    println!("{table}");
}

/// Seconds from the texts of the tokens to a receiver.
fn time_to_build() -> f64 {
    let start = Instant::now();
    black_box(Receiver::new(targets()));
    start.elapsed().as_secs_f64()
}

fn targets() -> Targets {
    let token = |number| {
        AuthToken::new(&format!("Bearer {number:048x}")).expect("the token is a legal one")
    };
    let one = Targets::new("target 0", token(0)).expect("no label is reserved");
    let all =
        (1..MANY).try_fold(one, |all, number| all.and(&format!("target {number}"), token(number)));
    all.expect("no two targets have the same token")
}

/// Seconds for one refusal: the median of many short batches, so that an interruption spoils one.
fn time(receiver: &Receiver, headers: &HeaderMap) -> f64 {
    const BATCH: u32 = 1000;
    let mut batches = Vec::new();
    let start = Instant::now();
    while start.elapsed() < line_time() / 4 {
        let batch = Instant::now();
        for _ in 0..BATCH {
            refuse(receiver, black_box(headers));
        }
        batches.push(batch.elapsed().as_secs_f64() / f64::from(BATCH));
    }
    median(batches)
}

fn refuse(receiver: &Receiver, headers: &HeaderMap) {
    let refused = black_box(receiver.open(headers)).expect_err("it is no accepted token");
    black_box(refused.answer());
}
