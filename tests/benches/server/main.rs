//! What a request costs the server, in processor time of its process: this project's extractors
//! against handlers that are as common as they are careless.
//!
//! Each server is this program once more, as a child process of its own with one worker thread.

#![allow(clippy::print_stdout)] // a program may

#[path = "../common"]
mod common {
    pub(crate) mod child;
    pub(crate) mod form;
    pub(crate) mod median;
    pub(crate) mod owned;
    pub(crate) mod sample;
}

mod actix;
mod axum;
mod client;
mod duel;
mod role;

#[path = "../../../crates/article-webhook-inbox/benches/inbox/table.rs"]
mod table;

use article_webhook::fixture::{self, Defect};

use client::Road;
use common::{
    form::Form,
    sample::{Text, posts},
};
use duel::Duel;
use role::{Framework, Handler, Role};
use table::{Table, at_least, at_most};

fn main() {
    if let Some(role) = Role::from_args() {
        role.serve();
        return;
    }
    stay_on_one_processor();
    let rounds = match Form::from_args() {
        Form::Short => 40,
        Form::Long => 400,
    };
    println!("{}", strangers(rounds));
    println!("{}", articles(rounds));
}

/// Here, and so in the servers. A request that crosses from one processor to another costs twice as
/// much as one that does not, and which of them it is changes by chance.
#[cfg(target_os = "linux")]
fn stay_on_one_processor() {
    use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    sched_setaffinity(None, &here).expect("it is a processor that runs this");
}

#[cfg(not(target_os = "linux"))]
fn stay_on_one_processor() {
    panic!("the processor time of a process is read from what Linux reports");
}

fn strangers(rounds: usize) -> Table {
    let posts = [fixture::generated(1, 1 << 20).defect(Defect::WrongToken)];
    let mut table = Table::new(
        "server: strangers",
        "a wrong token with a body of 1 MiB, a handler that takes the body first : ArticleComplete",
        &["the body comes", "axum", "actix-web"],
    );
    for road in [Road::Network, Road::Loopback] {
        let duel = Duel { posts: &posts, road, status: 401, rounds, batch: 16 };
        let figures =
            [(Framework::Axum, 5.0), (Framework::Actix, 2.5)].map(|(framework, target)| {
                let role = |handler| Role { framework, handler };
                let cost = duel.cost(role(Handler::Buffering), role(Handler::Article));
                at_least(cost, target, "")
            });
        table.row(road.name(), figures);
    }
    table
}

fn articles(rounds: usize) -> Table {
    let mut table = Table::new(
        "server: articles",
        "an article of 16 KiB, ArticleComplete : the framework's Json, which checks nothing",
        &["body", "axum", "actix-web"],
    );
    for text in Text::ALL {
        let duel = Duel {
            posts: &posts(16 << 10, text),
            road: Road::Loopback,
            status: 200,
            rounds,
            batch: 64,
        };
        let figures = [Framework::Axum, Framework::Actix].map(|framework| {
            let role = |handler| Role { framework, handler };
            let cost = duel.cost(role(Handler::Article), role(Handler::Json));
            at_most(cost, 1.05, "")
        });
        table.row(text.name(), figures);
    }
    table
}
