//! The demo's part of the page.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use article_webhook_inbox::Source;

use super::{
    environment::{Demo, FIRST_ASK},
    receiver::Condition,
    record::{Order, again_in, is_answer_lost},
    show::answer,
};
use crate::{
    output::Tone,
    page::{Action, Panel, Row, Step},
    text::moment,
};

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

pub(super) struct Buttons {
    demo: Arc<Demo>,
    topic: AtomicUsize,
}

impl Buttons {
    pub(super) fn new(demo: Arc<Demo>) -> Self {
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
    fn title(&self) -> String {
        "The simulated service".to_owned()
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
        let action = |name, label: &str, note: &str| Action {
            name,
            label: label.to_owned(),
            note: note.to_owned(),
        };
        let mut actions = vec![
            action("order", "Order an article", "It is written within a second, and delivered."),
            action("order-ten", "Order ten", "All at once."),
        ];
        let condition = self.demo.condition();
        if condition != Condition::CannotStore {
            let note = "It cannot store, and answers 503: the service tries again.";
            actions.push(action("break", "Break the receiver", note));
        }
        if condition != Condition::Off {
            let note =
                "Nothing listens: the service stops after six minutes, and the collector polls.";
            actions.push(action("switch-off", "Switch it off", note));
        }
        if condition != Condition::Works {
            actions.push(action("mend", "Mend the receiver", "It stores again."));
        }
        actions
    }

    fn rows(&self) -> Vec<Row> {
        self.demo.orders().iter().take(SHOWN).map(row).collect()
    }

    fn press<'a>(
        &'a self,
        name: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>> {
        Box::pin(async move {
            match name {
                "order" => return self.order(1).await,
                "order-ten" => return self.order(TOPICS.len()).await,
                "break" => self.demo.set(Condition::CannotStore),
                "switch-off" => self.demo.set(Condition::Off),
                _ => self.demo.set(Condition::Works),
            }
            Ok(())
        })
    }
}

/// An order, as the service sees it.
fn row(order: &Order) -> Row {
    let attempt = |attempt: &article_webhook_simulator::Attempt| {
        let text = format!("{} {}", moment::clock(attempt.at), answer(attempt));
        match attempt.outcome.is_success() {
            true if is_answer_lost(attempt) => Step { tone: Tone::Busy, text },
            true => Step { tone: Tone::Good, text },
            false => Step { tone: Tone::Bad, text },
        }
    };
    Row {
        time: moment::clock(order.at),
        name: order.topic.clone(),
        job_id: order.job_id.as_str().to_owned(),
        steps: order.attempts.iter().map(attempt).collect(),
        now: now(order),
    }
}

fn now(order: &Order) -> Step {
    let (tone, text) = match (order.published.first(), order.attempts.last()) {
        (Some(Source::Api), _) => (Tone::Good, "collected and published".to_owned()),
        (Some(_), _) => (Tone::Good, "published".to_owned()),
        (None, None) => (Tone::Quiet, "is being written".to_owned()),
        (None, Some(last)) => match again_in(last) {
            Some(pause) => (Tone::Busy, format!("again at {}", moment::clock(last.at + pause))),
            None if last.outcome.is_success() => (Tone::Busy, "stored".to_owned()),
            None => {
                let at = moment::clock(order.at + FIRST_ASK);
                (Tone::Bad, format!("not delivered; the collector polls at {at}"))
            }
        },
    };
    Step { tone, text }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::command::demo::environment::Running;

    #[tokio::test(flavor = "multi_thread")]
    async fn buttons_order_break_and_mend() {
        // All eleven are undelivered together for a second, also on a busy machine.
        let mut running = Running::start(None, 200).await.ok().unwrap();
        let buttons = Buttons::new(Arc::clone(&running.demo));
        let names = |buttons: &Buttons| -> Vec<_> {
            buttons.actions().iter().map(|action| action.name).collect()
        };
        assert_eq!(names(&buttons), ["order", "order-ten", "break", "switch-off"]);

        buttons.press("switch-off").await.unwrap();
        assert_eq!(names(&buttons), ["order", "order-ten", "break", "mend"]);
        assert!(buttons.text().starts_with("The receiver is off"));
        buttons.press("order").await.unwrap();
        buttons.press("order-ten").await.unwrap();
        let until = tokio::time::Instant::now() + Duration::from_secs(60);
        let mut wait_for = async |buttons: &Buttons, text: &str| {
            while buttons.rows().iter().filter(|row| row.now.text.starts_with(text)).count() < 11 {
                let next = tokio::time::timeout_at(until, running.next()).await;
                assert!(next.is_ok_and(|next| next.is_ok()), "{:?}", buttons.rows());
            }
        };
        wait_for(&buttons, "not delivered; the collector polls at ").await;
        assert!(buttons.rows().iter().all(|row| row.steps.len() == 4));
        buttons.press("mend").await.unwrap();
        wait_for(&buttons, "collected and published").await;
        assert!(running.stop().await.is_ok());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn two_presses_at_once_order_twice() {
        let running = Running::start(None, 1200).await.ok().unwrap();
        let buttons = Buttons::new(Arc::clone(&running.demo));
        let pressed = tokio::join!(buttons.press("order-ten"), buttons.press("order-ten"));
        assert_eq!(pressed, (Ok(()), Ok(())));
        let ended = running.stop().await.ok().unwrap();
        let jobs: std::collections::BTreeSet<_> =
            ended.iter().map(|ended| ended.order.job_id.as_str()).collect();
        assert_eq!((ended.len(), jobs.len()), (20, 20));
    }
}
