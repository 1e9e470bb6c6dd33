//! What `demo --headless` tells.

use std::{env, path::Path, time::Duration};

use article_webhook_client::JobId;
use article_webhook_inbox::{Source, State};
use article_webhook_simulator::{Fault, Rule};
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use super::{
    environment::{Ended, Running},
    receiver::Condition,
    record::Order,
    show::show,
};
use crate::{
    exit::Exit,
    failure::Failure,
    output::{Output, Tone},
    text::escape,
};

/// How long the whole story may take. It takes about eight seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Orders articles, and breaks the receiver in three ways. Returns early if what should happen does not.
pub(super) async fn tell(running: &mut Running, output: &Output) -> Result<(), Failure> {
    let mut story =
        Story { running, output, until: Instant::now() + PATIENCE, ordered: Vec::new() };
    if !output.is_json() {
        output.line(
            "The article service, simulated, and an application that orders from it. Two minutes pass in a second.",
        )?;
    }
    story.nothing_fails().await?;
    story.answer_is_lost().await?;
    story.receiver_cannot_store().await?;
    story.receiver_is_off().await
}

struct Story<'a> {
    running: &'a mut Running,
    output: &'a Output,
    until: Instant,
    /// What was ordered in this chapter.
    ordered: Vec<JobId>,
}

impl Story<'_> {
    async fn nothing_fails(&mut self) -> Result<(), Failure> {
        self.chapter(
            1,
            "Nothing fails",
            "A delivery is on disk before it is answered. Then the application publishes it.",
        )?;
        let topics =
            ["How to choose running shoes", "How to lace running shoes", "Socks for runners"];
        self.order(&topics).await?;
        self.wait_for(Order::is_over).await
    }

    async fn answer_is_lost(&mut self) -> Result<(), Failure> {
        self.chapter(
            2,
            "The receiver's answer is lost",
            "The service delivers the article again. It is published once.",
        )?;
        self.running.demo.set_faults(vec![Rule::new(Fault::AnswerLost).attempt(1)]);
        self.order(&["When to replace running shoes"]).await?;
        self.wait_for(Order::is_over).await?;
        self.running.demo.set_faults(Vec::new());
        Ok(())
    }

    async fn receiver_cannot_store(&mut self) -> Result<(), Failure> {
        self.chapter(
            3,
            "The receiver cannot store",
            "It says so with 503, and the service tries again: after 10, 60 and 300 seconds.",
        )?;
        self.running.demo.set(Condition::CannotStore);
        self.order(&["Running shoes for wide feet", "Running shoes for winter"]).await?;
        self.wait_for(|order| order.attempts.len() >= 2 || order.is_over()).await?;
        self.running.demo.set(Condition::Works);
        self.wait_for(Order::is_over).await
    }

    async fn receiver_is_off(&mut self) -> Result<(), Failure> {
        self.chapter(4, "The receiver is off", "After four attempts the service never delivers again. The collector polls what is missing.")?;
        self.running.demo.set(Condition::Off);
        self.order(&["Shoes for trails", "Insoles for runners"]).await?;
        self.wait_for(|order| order.attempts.len() >= 4 || order.is_over()).await?;
        self.running.demo.set(Condition::Works);
        self.wait_for(Order::is_over).await
    }

    async fn order(&mut self, topics: &[&str]) -> Result<(), Failure> {
        self.ordered.clear();
        for topic in topics {
            self.ordered.push(self.running.demo.order(topic).await?);
        }
        Ok(())
    }

    fn chapter(&self, number: u32, title: &str, meaning: &str) -> Result<(), Failure> {
        let value = json!({ "chapter": number, "title": title, "meaning": meaning });
        let title = self.output.paint(Tone::Head, &format!("{number}  {title}"));
        self.output.either("chapter", &value, &format!("\n{title}\n   {meaning}"))
    }

    /// Shows what happens until this is so of each order of the chapter, or until the patience ends.
    async fn wait_for(&mut self, is_so: impl Fn(&Order) -> bool) -> Result<(), Failure> {
        let is_so_of_all = |orders: &[Order]| {
            let is_so = |id: &JobId| orders.iter().any(|order| order.job_id == *id && is_so(order));
            self.ordered.iter().all(is_so)
        };
        while !is_so_of_all(&self.running.demo.orders()) {
            match timeout_at(self.until, self.running.next()).await {
                Ok(happening) => show(&happening?, self.output)?,
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }
}

/// Says how it ended, and what to try next.
pub(super) fn end(ended: &[Ended], inbox: Option<&Path>, output: &Output) -> Result<Exit, Failure> {
    let of = |is_so: fn(&Ended) -> bool| -> Vec<&str> {
        ended.iter().filter(|it| is_so(it)).map(|it| it.order.job_id.as_str()).collect()
    };
    let missing = of(|it| it.state != Some(State::Done) || it.order.published.is_empty());
    let repeated = of(|it| it.order.published.len() > 1);
    let collected = of(|it| it.order.published == [Source::Api]);
    let retried = of(|it| it.order.published == [Source::Webhook] && it.order.attempts.len() > 1);
    let value = json!({
        "orders": ended.len(),
        "retried": retried.len(),
        "collected": collected.len(),
        "missing": missing,
        "repeated": repeated,
    });
    if !missing.is_empty() || !repeated.is_empty() {
        if output.is_json() {
            output.json("outcome", &value)?;
        }
        let what =
            format!("not every article arrived once: missing {missing:?}, repeated {repeated:?}");
        return Err(Failure::failed(what).fix(
            "repeat it on an idle machine; if it fails again, report it with what it printed",
        ));
    }
    let at_once = ended.len() - retried.len() - collected.len();
    let line = format!(
        "\n{}\n   {at_once} at the first attempt, {} after further attempts, {} polled by the collector\n",
        output.paint(
            Tone::Good,
            &format!("{} articles were ordered, and each arrived once", ended.len())
        ),
        retried.len(),
        collected.len(),
    );
    output.either("outcome", &value, &line)?;
    if !output.is_json() {
        output.line(&next(inbox))?;
    }
    Ok(Exit::Done)
}

/// The commands to try next, under the name that this one has.
fn next(inbox: Option<&Path>) -> String {
    let tool = env::args().next().unwrap_or_else(|| "article-webhook".to_owned());
    let first = match inbox {
        Some(file) => (format!("inbox list {}", file.display()), "what the inbox has"),
        None => ("demo --headless --inbox demo.db".to_owned(), "the same with an inbox that stays"),
    };
    let commands = [
        first,
        ("demo".to_owned(), "the same with a page, where you break the receiver"),
        ("listen --help".to_owned(), "receive deliveries for your own application"),
    ];
    let mut text = String::from("Next\n");
    let width =
        commands.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
    for (command, what) in commands {
        text += &format!("   {tool} {command:<width$}  {what}\n");
    }
    escape::lines(text.trim_end())
}
