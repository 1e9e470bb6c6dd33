use article_webhook_client::{JobId, NewArticle};
use article_webhook_collector::{Collector, OrderOutcome};
use clap::{Args, builder::NonEmptyStringValueParser};
use serde_json::json;

use crate::{
    calls::{ServiceArguments, WebUrl},
    command::collect::pause_text,
    context::Context,
    failure::{Exit, Failure},
    output::{Output, Tone},
    store::InboxOption,
    text::command::get,
    text::escape,
    text::moment::shown,
};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct OrderArguments {
    /// What the article is about
    #[arg(value_name = "TOPIC", value_parser = NonEmptyStringValueParser::new())]
    topic: String,
    /// A webhook URL for this article only; whether publish targets get it too is not documented
    #[arg(long, value_name = "URL")]
    webhook_url: Option<WebUrl>,
    /// Your own key for the order, of up to 64 letters, digits, - and _: the same key never orders twice
    #[arg(long, value_name = "NAME")]
    intent: Option<String>,
    #[command(flatten)]
    inbox: InboxOption,
    /// Order again, even if an earlier order of the intent may have been taken
    #[arg(long, requires = "intent")]
    again: bool,
    #[command(flatten)]
    service: ServiceArguments,
}

const HELP: &str = "\
With --intent, the ledger of the inbox records the order before it is sent. The inbox is created if it does not exist.";

pub(crate) async fn run(arguments: OrderArguments, context: &Context) -> Result<Exit, Failure> {
    let client = arguments.service.client(&context.environment)?;
    let article = NewArticle::new(&arguments.topic);
    let article = match &arguments.webhook_url {
        Some(url) => article.webhook_url(url.as_str()),
        None => article,
    };
    let Some(intent) = &arguments.intent else {
        context.interruption.means(
            "it is not known whether the service took the order",
            "look at the service before you order it again; an order with --intent is remembered",
        );
        let created = client.create_article(&article).await;
        context.interruption.means_nothing_more();
        let created = created.map_err(|error| Failure::of_service(&error))?;
        return report("ordered", &created.job_id, &context.output);
    };
    context.environment.may_change_inbox()?;
    let place = arguments.inbox.place(&context.environment)?;
    place.make_if_missing(&context.output).await?;
    let collector = Collector::new(&place.shared().await?, client);
    context.interruption.means(
        "it is not known whether the service took the order",
        "repeat the command: the inbox remembers the intent, so that nothing is ordered twice, and says what is known",
    );
    let outcome = match arguments.again {
        true => collector.order_again(intent, &article).await,
        false => collector.order(intent, &article).await,
    };
    let outcome = outcome.map_err(|error| match error.is_invalid() {
        true => Failure::usage(error.to_string()).fix("give --intent such a name"),
        false => error.into(),
    })?;
    context.interruption.means_nothing_more();
    let again = "look at the service; then repeat the command with --again to order all the same";
    let failed = |what: String| Failure::failed(what);
    Err(match outcome {
        OrderOutcome::Ordered(job_id) => return report("ordered", &job_id, &context.output),
        OrderOutcome::OrderedBefore(Some(job_id)) => {
            return report("ordered before", &job_id, &context.output);
        }
        OrderOutcome::OrderedBefore(None) => {
            failed("the intent was ordered before, and its job was erased".to_owned())
                .fix("choose another --intent for a new article")
        }
        OrderOutcome::InProgress { until, .. } => {
            failed(format!("another process orders this intent, until {}", shown(until)))
                .fix("try again after that")
        }
        OrderOutcome::Unknown { since, cause, .. } => {
            let what =
                format!("it is not known whether the service took the order of {}", shown(since));
            match cause {
                Some(cause) => failed(what).because(&cause).fix(again),
                None => failed(what).fix(again),
            }
        }
        OrderOutcome::Abandoned { since, .. } => {
            failed(format!("the intent was abandoned {}", shown(since))).fix(again)
        }
        OrderOutcome::Refused(error) => Failure::of_service(&error),
        OrderOutcome::Paused(pause) => {
            failed(pause_text(&pause)).fix(
                "try again after that; `article-webhook collect --inbox INBOX --resume` lifts the pause",
            )
        }
        _ => failed("this version of the tool does not know what became of the order".to_owned())
            .fix("update the tool; then repeat the command"),
    })
}

fn report(outcome: &str, job_id: &JobId, output: &Output) -> Result<Exit, Failure> {
    let job = escape::line(job_id.as_str());
    let value = json!({ "outcome": outcome, "job_id": job_id.as_str() });
    output.either("order", &value, &format!("{}  {job}", output.paint(Tone::Good, outcome)))?;
    if !output.is_json() {
        output.note(&format!("\nRead it with: {}", escape::line(&get(job_id.as_str()))));
    }
    Ok(Exit::Done)
}
