//! What the inbox in PostgreSQL promises, held against faults: two nodes are delivered to over sockets and work, while their
//! server crashes, their connections are killed and cut, they are killed themselves, the disk fills, and standbys take over.
//! The senders keep a ledger of what was acknowledged, the workers a record of what they ran.
//!
//! ```text
//! cargo test -p article-webhook-postgres --test postgres_chaos                     every fault, its short form
//! cargo test -p article-webhook-postgres --test postgres_chaos -- restart          this one
//! cargo test -p article-webhook-postgres --test postgres_chaos -- restart --long   its long form
//! ```
//!
//! | | |
//! |---|---|
//! | `restart` | the server ends at once, as with `pg_ctl -m immediate`, and starts again |
//! | `backends` | connections are killed by the server |
//! | `node` | nodes are killed |
//! | `cut` | the connection is cut after each byte of a request that commits, and of its answer; in the short form after one in 13 |
//! | `pooler` | behind PgBouncer: its connections are killed, the server crashes, and PgBouncer ends |
//! | `full` | the disk of the tables is full |
//! | `switch` | the server ends, and its synchronous standby takes over |
//! | `async_standby` | a standby follows asynchronously, which health and log say |
//! | `cancelled_wait` | the wait for a synchronous standby is cancelled |
//!
//! Where there are no PostgreSQL programs, or no part of a disk can be made small, it says so.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program may
#![allow(clippy::unwrap_used)] // what cannot be set up fails the test

#[path = "../common/bouncer.rs"]
mod bouncer;
#[path = "../../../../tests/durability/form.rs"]
mod form;
#[path = "../common/log.rs"]
mod log;
#[path = "../common/proxy.rs"]
mod proxy;
#[path = "../common/scene.rs"]
mod scene;
#[path = "../common/server.rs"]
mod server;
#[allow(dead_code, reason = "`tests/durability` uses all of it")]
#[path = "../../../../tests/durability/service.rs"]
mod service;

mod acknowledged;
mod database;
mod fault;
mod node;
mod runs;
mod trial;

use std::env;

use form::Form;

/// Nothing if it cannot be done here, which the fault says.
type Fault = fn(Form) -> Option<()>;

fn main() {
    if node::serves() {
        return;
    }
    let form = Form::from_arguments();
    // What `cargo test` passes on besides is for a harness that this is not.
    let names: Vec<_> = env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let chosen = |name: &str| names.is_empty() || names.iter().any(|named| named == name);
    let faults: [(&str, Fault); 9] = [
        ("restart", fault::ends::restart),
        ("backends", fault::ends::backends),
        ("node", fault::ends::node),
        ("cut", fault::cut::cut),
        ("pooler", fault::ends::pooler),
        ("full", fault::disk::full),
        ("switch", fault::standby::switch),
        ("async_standby", fault::standby::async_standby),
        ("cancelled_wait", fault::standby::cancelled_wait),
    ];
    for (name, fault) in faults {
        if chosen(name) && fault(form).is_none() {
            println!("postgres: {name}: skipped");
        }
    }
}
