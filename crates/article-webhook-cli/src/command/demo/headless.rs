//! What `demo --headless` prints.

use std::{env, path::Path, time::Duration};

use article_webhook_client::JobId;
use article_webhook_inbox::{Source, State};
use article_webhook_simulator::{Fault, Rule};
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use super::{
    environment::{Demo, Ended, Running},
    happening::Order,
    receiver::Condition,
};
use crate::{
    failure::{Exit, Failure},
    output::{Output, Table, Tone},
    text::escape,
};

/// How long all chapters may take. It takes about eight seconds.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What is broken, and until when.
struct Chapter {
    title: &'static str,
    meaning: &'static str,
    breaks: fn(&Demo),
    topics: &'static [&'static str],
    /// Of each order. Then nothing is broken any more.
    until: fn(&Order) -> bool,
}

const CHAPTERS: [Chapter; 4] = [
    Chapter {
        title: "Nothing fails",
        meaning: "A delivery is on disk before it is answered. Then the application publishes it.",
        breaks: |_| {},
        topics: &["How to choose running shoes", "How to lace running shoes", "Socks for runners"],
        until: Order::is_over,
    },
    Chapter {
        title: "The receiver's answer is lost",
        meaning: "The service delivers the article again. It is published once.",
        breaks: |demo| demo.simulator.set_faults(vec![Rule::new(Fault::AnswerLost).attempt(1)]),
        topics: &["When to replace running shoes"],
        until: Order::is_over,
    },
    Chapter {
        title: "The receiver cannot store",
        meaning: "It says so with 503, and the service tries again: after 10, 60 and 300 seconds.",
        breaks: |demo| demo.set(Condition::CannotStore),
        topics: &["Running shoes for wide feet", "Running shoes for winter"],
        until: |order| order.attempts.len() >= 2 || order.is_over(),
    },
    Chapter {
        title: "The receiver is off",
        meaning: "After four attempts the service never delivers again. The collector polls what is missing.",
        breaks: |demo| demo.set(Condition::Off),
        topics: &["Shoes for trails", "Insoles for runners"],
        until: |order| order.attempts.len() >= 4 || order.is_over(),
    },
];

/// Orders articles, and breaks the receiver in three ways. Returns early if what should happen does not.
pub(super) async fn show(running: &mut Running, output: &Output) -> Result<(), Failure> {
    let until = Instant::now() + TIMEOUT;
    if !output.is_json() {
        output.line(
            "The article service, simulated, and an application that orders from it. Two minutes pass in a second.",
        )?;
    }
    for (number, Chapter { title, meaning, breaks, topics, until: is_so }) in (1..).zip(CHAPTERS) {
        let value = json!({ "chapter": number, "title": title, "meaning": meaning });
        let title = output.paint(Tone::Head, &format!("{number}  {title}"));
        output.either("chapter", &value, &format!("\n{title}\n   {meaning}"))?;
        breaks(&running.demo);
        let mut story = Story { running, output, until, ordered: Vec::new() };
        for topic in topics {
            story.ordered.push(story.running.demo.order(topic).await?);
        }
        story.wait_for(is_so).await?;
        story.running.demo.simulator.set_faults(Vec::new());
        story.running.demo.set(Condition::Works);
        story.wait_for(Order::is_over).await?;
    }
    Ok(())
}

struct Story<'a> {
    running: &'a mut Running,
    output: &'a Output,
    until: Instant,
    /// What was ordered in this chapter.
    ordered: Vec<JobId>,
}

impl Story<'_> {
    /// Shows what happens until this is so of each order of the chapter, or until `TIMEOUT` is over.
    async fn wait_for(&mut self, is_so: fn(&Order) -> bool) -> Result<(), Failure> {
        let is_so_of_all = |orders: &[Order]| {
            let is_so =
                |id: &JobId| orders.iter().any(|order| order.job_id == id.as_str() && is_so(order));
            self.ordered.iter().all(is_so)
        };
        while !is_so_of_all(&self.running.demo.record.orders()) {
            match timeout_at(self.until, self.running.next()).await {
                Ok(happening) => happening?.show(self.output)?,
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }
}

/// Says how it ended, and what to try next.
pub(super) fn end(ended: &[Ended], inbox: Option<&Path>, output: &Output) -> Result<Exit, Failure> {
    let of = |is_so: fn(&Ended) -> bool| -> Vec<&str> {
        ended.iter().filter(|it| is_so(it)).map(|it| &*it.order.job_id).collect()
    };
    let missing = of(|it| it.state != Some(State::Done) || it.order.published.is_empty());
    let repeated = of(|it| it.order.published.len() > 1);
    let collected = of(|it| it.order.published == [Source::Api]).len();
    let retried =
        of(|it| it.order.published == [Source::Webhook] && it.order.attempts.len() > 1).len();
    let (orders, is_well) = (ended.len(), missing.is_empty() && repeated.is_empty());
    if output.is_json() {
        let value = json!({
            "orders": orders,
            "retried": retried,
            "collected": collected,
            "missing": missing,
            "repeated": repeated,
        });
        output.json("outcome", &value)?;
    }
    if !is_well {
        let what =
            format!("not every article arrived once: missing {missing:?}, repeated {repeated:?}");
        return Err(Failure::failed(what).fix(
            "repeat it on an idle machine; if it fails again, report it with what it printed",
        ));
    }
    if output.is_json() {
        return Ok(Exit::Done);
    }
    let at_once = orders - retried - collected;
    let well = format!("{orders} articles were ordered, and each arrived once");
    output.line(&format!(
        "\n{}\n   {at_once} at the first attempt, {retried} after further attempts, {collected} polled by the collector\n",
        output.paint(Tone::Good, &well),
    ))?;
    output.line("Next")?;
    // Under the name that this program has.
    let tool = env::args().next().unwrap_or_else(|| "article-webhook".to_owned());
    let mut table = Table::plain();
    let first = match inbox {
        Some(file) => (&*format!("inbox list {}", file.display()), "what the inbox has"),
        None => ("demo --headless --inbox demo.db", "the same with an inbox that stays"),
    };
    for (command, what) in [
        first,
        ("demo", "the same with a page, where you break the receiver"),
        ("listen --help", "receive deliveries for your own application"),
    ] {
        let command = escape::line(&format!("   {tool} {command}"));
        table.row([(Tone::Plain, command), (Tone::Plain, what.to_owned())]);
    }
    table.write(output).map(|()| Exit::Done)
}
