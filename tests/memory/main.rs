//! What a body takes in memory, whatever the shape of its JSON, counted at the allocator: at most three times
//! its length, beside the body itself.

mod readers;
mod shapes;

use std::io::{self, Write as _};

use readers::READERS;
use shapes::{REPAIRED, SHAPES};

/// The length of a body, nearly. The client reads no longer answer to an order.
const LENGTH: usize = 1_000_000;

#[test]
fn no_shape_takes_more_than_three_times_its_length() {
    let (mut over, mut most) = (Vec::new(), 0.0_f64);
    for (name, body) in SHAPES {
        let body = body(LENGTH);
        for (reader, copies, read) in READERS {
            let taken = read(body.as_bytes());
            let allowed = (3 + copies) * body.len() as u64;
            let times = taken as f64 / body.len() as f64;
            most = most.max(times - copies as f64);
            if taken > allowed {
                over.push(format!("{name}: {reader} takes {times:.1} times the body"));
            }
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
    // Unlike what `println!` writes, it is seen when the tests pass.
    let shapes = SHAPES.len();
    writeln!(io::stdout(), "memory: at most {most:.1} times the body, in {shapes} shapes")
        .expect("there is an output");
}

/// A body that has to be repaired is copied, and then read like any other.
#[test]
fn a_repair_takes_the_length_of_the_body_once_more() {
    let mut over = Vec::new();
    for (name, more, html) in REPAIRED {
        let html = html.repeat(LENGTH / html.len());
        let before = br#"{"job_id":"job_1","status":"complete","article":{"title":"","html":""#;
        let body = [before, &html[..], br#""}}"#].concat();
        for (reader, _, read) in &READERS[..4] {
            let taken = read(&body) as f64 / body.len() as f64;
            if taken > 3.0 + more {
                over.push(format!("{name}: {reader} takes {taken:.1} times the body"));
            }
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}
