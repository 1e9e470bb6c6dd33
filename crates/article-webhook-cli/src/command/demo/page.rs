//! What `demo` does until Ctrl-C, and its part of the page.

use std::{
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use article_webhook_inbox::{Source, stop_signal};
use maud::{Markup, html};
use serde_json::json;

use super::{
    SPEED,
    environment::{Demo, FIRST_ASK, Running},
    happening::Order,
    receiver::Condition,
};
use crate::{
    command::attempt,
    failure::Failure,
    output::{Output, Tone, log::remember_refusals},
    page::{Action, Listening, Page, Panel},
    text::{escape, moment},
};

/// Orders one article, shows the page, and prints what happens.
pub(super) async fn run(
    running: &mut Running,
    listening: Listening,
    output: &Output,
) -> Result<(), Failure> {
    let mut stop = pin!(stop_signal());
    let no_page =
        |error: std::io::Error| Failure::failed("the page cannot be shown").because(&error);
    let file = running.file.display().to_string();
    let page = Page::new(&running.inbox, &file, listening)
        .panel(Arc::new(Buttons::new(Arc::clone(&running.demo))))
        .refusals(remember_refusals());
    let url = page.url();
    let line = format!(
        "The article service, simulated, and an application that orders from it. A minute passes in a second.\n\
         Order, break the receiver and repair it on the page, and see here and there what happens. Ctrl-C ends it.\n\n  {}\n",
        output.paint(Tone::Head, &url),
    );
    output.either("page", &json!({ "page": url, "inbox": file, "speed": SPEED }), &line)?;
    running.spawn(move |stop| async move { page.serve(stop).await.map_err(no_page) });
    running.demo.order("How to choose running shoes").await?;
    loop {
        tokio::select! {
            () = &mut stop => break,
            () = output.unread() => return Err(Failure::of_closed_pipe()),
            happening = running.next() => happening?.show(output)?,
        }
    }
    output.note("\nended");
    Ok(())
}

const TOPICS: [&str; 10] = [
    "How to choose running shoes",
    "How to lace running shoes",
    "How to wash running shoes",
    "When to replace running shoes",
    "Running shoes for wide feet",
    "Running shoes for winter",
    "Shoes for trails",
    "Shoes for the track",
    "Socks for runners",
    "Insoles for runners",
];

/// How many orders are shown.
const SHOWN: usize = 20;

struct Buttons {
    demo: Arc<Demo>,
    topic: AtomicUsize,
}

impl Buttons {
    fn new(demo: Arc<Demo>) -> Self {
        Self { demo, topic: AtomicUsize::new(0) }
    }

    async fn order(&self, articles: usize) -> Result<(), String> {
        for _ in 0..articles {
            let topic = TOPICS[self.topic.fetch_add(1, Ordering::Relaxed) % TOPICS.len()];
            self.demo.order(topic).await.map_err(|failure| failure.to_string())?;
        }
        Ok(())
    }
}

impl Panel for Buttons {
    fn title(&self) -> &'static str {
        "The simulated service"
    }

    fn text(&self) -> String {
        let receiver = match self.demo.condition() {
            Condition::Works => "The receiver works.",
            Condition::CannotStore => "The receiver cannot store, and answers 503.",
            Condition::Off => "The receiver is off: nothing listens on its port.",
        };
        format!(
            "{receiver} The service tries a delivery four times: at once, and 10, 60 and 300 seconds later. On its clock \
             a minute passes in a second."
        )
    }

    fn actions(&self) -> Vec<Action> {
        let condition = self.demo.condition();
        let action = |name, label, note| Action { name, label, note };
        let actions = [
            action("order", "Order an article", "It is written within a second, and delivered."),
            action("order-ten", "Order ten", "All at once."),
            action(
                "break",
                "Break the receiver",
                "It cannot store, and answers 503: the service tries again.",
            ),
            action(
                "switch-off",
                "Switch it off",
                "Nothing listens: the service stops after six minutes, and the collector polls.",
            ),
            action("repair", "Repair the receiver", "It stores again."),
        ];
        let is_needed = |action: &Action| condition_of(action.name) != Some(condition);
        actions.into_iter().filter(is_needed).collect()
    }

    /// The orders, as the service sees them.
    fn rows(&self) -> Markup {
        let orders = self.demo.record.orders();
        html! {
            table {
                thead {
                    tr {
                        th scope="col" { "Ordered" }
                        th scope="col" { "Article" }
                        th scope="col" { "Attempts of the service" }
                        th scope="col" { "Now" }
                    }
                }
                tbody { @for order in orders.iter().take(SHOWN) { (row(order)) } }
            }
            @if orders.is_empty() {
                p.quiet { "Nothing is ordered yet. What the service does with each order is seen here." }
            }
        }
    }

    fn press<'a>(
        &'a self,
        name: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>> {
        Box::pin(async move {
            match condition_of(name) {
                Some(condition) => self.demo.set(condition),
                None if name == "order" => self.order(1).await?,
                None => self.order(TOPICS.len()).await?,
            }
            Ok(())
        })
    }
}

/// What an action does with the receiver. `None`: it orders.
fn condition_of(action: &str) -> Option<Condition> {
    match action {
        "break" => Some(Condition::CannotStore),
        "switch-off" => Some(Condition::Off),
        "repair" => Some(Condition::Works),
        _ => None,
    }
}

fn row(order: &Order) -> Markup {
    let (tone, now) = now(order);
    html! {
        tr {
            td.time { (moment::clock(order.at)) }
            td.what {
                span.title { bdi { (escape::line(order.topic())) } }
                span.job { bdi { (escape::line(&order.job_id)) } }
            }
            td.steps {
                @for attempt in &order.attempts {
                    span data-tone=(attempt::tone(attempt).name()) {
                        bdi { (moment::clock(attempt.at)) " " (escape::line(&attempt::answer(attempt))) }
                    }
                }
            }
            td.now data-tone=(tone.name()) { bdi { (now) } }
        }
    }
}

fn now(order: &Order) -> (Tone, String) {
    match (order.published.first(), order.attempts.last()) {
        (Some(Source::Api), _) => (Tone::Good, "collected and published".to_owned()),
        (Some(_), _) => (Tone::Good, "published".to_owned()),
        (None, None) => (Tone::Quiet, "is being written".to_owned()),
        (None, Some(last)) => match attempt::pause(last) {
            Some(pause) => (Tone::Busy, format!("again at {}", moment::clock(last.at + pause))),
            None if last.outcome.is_success() => (Tone::Busy, "stored".to_owned()),
            None => {
                let at = moment::clock(order.at + FIRST_ASK);
                (Tone::Bad, format!("not delivered; the collector polls at {at}"))
            }
        },
    }
}
