//! In which order an application gets the deliveries of a job from `listen --forward-to`, and what it does not get.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use article_webhook::{Delivery, Reply, fixture};
use rustix::process::Signal;
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time::timeout,
};

use crate::{
    deliver,
    free_port::free_port,
    listening::{Listening, application},
    running::TIMEOUT,
    sample,
    tool::{TOKEN, run, text},
};

const FIRST: &str = "article.complete";
const SECOND: &str = "article.updated";

/// A delivery that the application saw, and whether it took it.
type Seen = (String, String, bool);

/// Starts an application that refuses the first event of `job_1` `times` times. Returns the deliveries that it sees.
async fn refusing(
    address: SocketAddr,
    times: usize,
) -> (JoinHandle<()>, mpsc::UnboundedReceiver<Seen>) {
    let (saw, seen) = mpsc::unbounded_channel();
    let refused = Arc::new(AtomicUsize::new(0));
    let sink = move |delivery: Delivery| {
        let (job, event) = (delivery.job_id().to_string(), delivery.event().as_str().to_owned());
        let is_refused =
            (&*job, &*event) == ("job_1", FIRST) && refused.fetch_add(1, Ordering::SeqCst) < times;
        saw.send((job, event, !is_refused)).unwrap();
        async move { if is_refused { Reply::Unavailable } else { Reply::Stored } }
    };
    (application(address, sink).await, seen)
}

async fn deliver(url: &str, job: &str, event: &str) {
    let article = fixture::complete().job_id(job).bytes().clone();
    assert_eq!(deliver::deliver(url, TOKEN, event, job, article).await, 200, "{job}");
}

/// What the application sees until it has taken this delivery.
async fn until(seen: &mut mpsc::UnboundedReceiver<Seen>, job: &str, event: &str) -> Vec<Seen> {
    let mut all = Vec::new();
    let last = (job.to_owned(), event.to_owned(), true);
    while all.last() != Some(&last) {
        let next = timeout(TIMEOUT, seen.recv()).await;
        all.push(next.unwrap_or_else(|_| panic!("after {all:?} it waits for {last:?}")).unwrap());
    }
    all
}

fn of_job_1(all: &[Seen]) -> Vec<(&str, bool)> {
    let of_job = all.iter().filter(|(job, ..)| job == "job_1");
    of_job.map(|(_, event, is_taken)| (&**event, *is_taken)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_waits_until_what_arrived_before_it_for_its_job_is_taken_and_no_other_job_waits()
{
    let (_folder, file) = sample::place();
    let address = free_port();
    let (_, mut seen) = refusing(address, 2).await;
    let mut listening = Listening::start(&file, address, &["--forward-speed", "20"]);
    deliver(&listening.url, "job_1", FIRST).await;
    deliver(&listening.url, "job_1", SECOND).await;
    deliver(&listening.url, "job_2", SECOND).await;
    let all = until(&mut seen, "job_1", SECOND).await;
    let expected = [(FIRST, false), (FIRST, false), (FIRST, true), (SECOND, true)];
    assert_eq!(of_job_1(&all), expected, "{all:?}");
    let at = |it: (&str, &str)| {
        all.iter().position(|seen| (&*seen.0, &*seen.1, seen.2) == (it.0, it.1, true))
    };
    assert!(at(("job_2", SECOND)).unwrap() < at(("job_1", FIRST)).unwrap(), "{all:?}");

    let mut held = 0;
    loop {
        let line = listening.next_forwarded();
        match line["text"].as_str().unwrap() {
            "waits for what arrived before it for this job" => {
                assert_eq!((&line["forwarded"], &line["status"]), (&"job_1".into(), &Value::Null));
                held += 1;
            }
            _ if line["forwarded"] == "job_1" && line["status"] == 200 => break,
            _ => {}
        }
    }
    assert_eq!(held, 1, "it is reported once");
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_goes_on_once_what_arrived_before_it_for_its_job_is_given_up() {
    let (_folder, file) = sample::place();
    let address = free_port();
    let (_, mut seen) = refusing(address, usize::MAX).await;
    let listening = Listening::start(&file, address, &["--forward-speed", "1000"]);
    deliver(&listening.url, "job_1", FIRST).await;
    deliver(&listening.url, "job_1", SECOND).await;
    let all = until(&mut seen, "job_1", SECOND).await;
    let mut expected = vec![(FIRST, false); 4];
    expected.push((SECOND, true));
    assert_eq!(of_job_1(&all), expected);
    assert_eq!(listening.end(Signal::INT), Some(0));
}

/// Also one that has had its turn, and that the application refused. That it waits is reported anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_waits_again_for_what_arrived_before_it_for_its_job_and_is_requeued() {
    let (_folder, file) = sample::place();
    let (asks, mut asked) = mpsc::unbounded_channel();
    let sink = move |delivery: Delivery| {
        let (reply, replied) = oneshot::channel();
        asks.send((delivery.event().as_str().to_owned(), reply)).unwrap();
        async move { replied.await.unwrap_or(Reply::Unavailable) }
    };
    let address = free_port();
    application(address, sink).await;
    let mut asked = async |event: &str| {
        let next = timeout(TIMEOUT, asked.recv()).await.expect("the application gets a delivery");
        let (came, reply): (String, oneshot::Sender<Reply>) = next.unwrap();
        assert_eq!(came, event);
        reply
    };
    let mut listening = Listening::start(&file, address, &["--forward-speed", "1000"]);
    let url = listening.url.clone();
    let mut until_it_waits = || {
        listening.next_where(|line| line["text"] == "waits for what arrived before it for this job")
    };

    deliver(&url, "job_1", FIRST).await;
    let first = asked(FIRST).await;
    deliver(&url, "job_1", SECOND).await;
    until_it_waits();
    first.send(Reply::Unavailable).unwrap();
    for _ in 1..4 {
        asked(FIRST).await.send(Reply::Unavailable).unwrap();
    }
    let second = asked(SECOND).await;
    assert_eq!(run(&["inbox", "requeue", text(&file), "job_1"]).0, Some(0));
    let first = asked(FIRST).await;
    second.send(Reply::Unavailable).unwrap();
    until_it_waits();
    first.send(Reply::Stored).unwrap();
    asked(SECOND).await.send(Reply::Stored).unwrap();
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_arrives_in_order_although_the_application_and_the_tool_die_and_return() {
    let (_folder, file) = sample::place();
    let address = free_port();
    let (events, jobs) = ([FIRST, SECOND, "article.moved"], ["job_1", "job_2", "job_3"]);
    let (running, mut seen) = refusing(address, 1).await;
    let mut listening = Listening::start(&file, address, &["--forward-speed", "20"]);
    let mut all: Vec<Seen> = Vec::new();
    for event in events {
        for job in jobs {
            deliver(&listening.url, job, event).await;
        }
        match event {
            FIRST => {
                all.extend(until(&mut seen, "job_3", FIRST).await);
                running.abort();
                while let Some(last) = seen.recv().await {
                    all.push(last);
                }
            }
            SECOND => {
                assert_eq!(listening.end(Signal::KILL), None);
                listening = Listening::start(&file, address, &["--forward-speed", "20"]);
            }
            _ => (_, seen) = refusing(address, 1).await,
        }
    }
    let taken = |all: &[Seen], job: &str| {
        let of_job = all.iter().filter(|(it, _, is_taken)| it == job && *is_taken);
        let mut events: Vec<_> = of_job.map(|(_, event, _)| event.clone()).collect();
        // What was cut off comes again.
        events.dedup();
        events
    };
    while jobs.iter().any(|job| taken(&all, job).len() < events.len()) {
        let next = timeout(TIMEOUT, seen.recv()).await;
        all.push(next.unwrap_or_else(|_| panic!("only {all:?}")).unwrap());
    }
    for job in jobs {
        assert_eq!(taken(&all, job), events, "{all:?}");
    }
    assert_eq!(listening.end(Signal::INT), Some(0));
}
