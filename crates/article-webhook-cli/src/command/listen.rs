mod circuit_breaker;
mod job_order;

mod forward;

mod conflict;

mod exchange;

use std::{future::pending, path::PathBuf, time::Duration};

use article_webhook_collector::Collector;
use article_webhook_inbox::stop_signal;
use article_webhook_server::Server;
use axum::{Router, extract::Request, routing::get};
use clap::Args;
use http::StatusCode;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::{
    calls::ServiceArguments,
    context::Context,
    failure::{Exit, Failure},
    output::Output,
    output::log,
    page::{Page, PageArguments},
    settings,
    store::InboxOption,
    text::escape,
    text::moment,
};
use exchange::Exchange;
use forward::{ForwardArguments, HeaderArguments};

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ListenArguments {
    #[command(flatten)]
    inbox: InboxOption,
    /// While another process uses the file, answer 503 and wait until it has ended
    #[arg(long)]
    wait: bool,
    /// The port on 127.0.0.1; 0 is a free one
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// How long to keep receiving after SIGTERM or Ctrl-C, while GET /ready is answered with 503
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = moment::age)]
    shutdown_delay: Duration,
    #[command(flatten)]
    forward: ForwardArguments,
    /// A file with the token of deliveries [default: the token in ARTICLE_WEBHOOK_TOKEN]
    #[arg(long, value_name = "PATH")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    headers: HeaderArguments,
    #[command(flatten)]
    service: ServiceArguments,
    /// Show no page
    #[arg(long, conflicts_with_all = ["page", "page_allow_remote", "page_key_file"])]
    no_page: bool,
    #[command(flatten)]
    page: PageArguments,
}

/// The path for the health check of a load balancer.
const READY: &str = "/ready";

const AFTER: &str = "\
The inbox is created if it does not exist. Each delivery is stored before it is answered. GET /ready is answered with 200 while \
deliveries can be stored, and with 503 otherwise.

With --forward-to, the first body of each job and event is forwarded unchanged: eight jobs at a time, and in order of arrival within \
a job, including other events and bodies that are no article. The headers are Authorization, Content-Type, and those of the event and \
the job id, and no others. Repeats are not forwarded. Another body of a known job is not forwarded either, but is kept with the first. \
If the application refuses a delivery or does not answer in time, it is forwarded again after 10, 60 and 300 seconds. After \
that it is dead, until `inbox requeue` forwards it again. While the application cannot be reached, deliveries wait, and no attempt is \
counted. Without --forward-to, they wait in the inbox.

Bodies in quarantine, which are malformed or report a failure of a job, are forwarded as well: at once, each time that they are \
delivered. A failure is answered with 200 once the application has accepted it, and with 503 before; a malformed body is \
answered with 400, as the service sees it.

If the URL and the key of the service are set, a collector polls the expected jobs that do not arrive.

A worker takes the entries that it forwards. If an application works on the same inbox in PostgreSQL, the application would not get \
them. So an inbox that already exists in a database needs --take-over.";

pub(crate) async fn run(arguments: ListenArguments, context: &Context) -> Result<Exit, Failure> {
    // A delivery is answered whether its line is read or not.
    let output = context.output.queued()?;
    let ended = listen(arguments, context, &output).await;
    output.flush();
    ended
}

async fn listen(
    arguments: ListenArguments,
    context: &Context,
    output: &Output,
) -> Result<Exit, Failure> {
    context.environment.may_change_inbox()?;
    arguments.forward.check()?;
    let place = arguments.inbox.place(&context.environment)?;
    let token = settings::usable_token(arguments.token_file.as_deref(), &context.environment)?;
    let client = arguments.service.client_if_set(&context.environment)?;
    // The receiver is built again once its log is shown.
    let answer_deadline = arguments.forward.answer_deadline();
    arguments.headers.receiver(token.clone(), answer_deadline)?;
    let cannot_listen = |error: std::io::Error| {
        Failure::failed(format!("cannot listen on port {}", arguments.port))
            .because(&error)
            .fix("end the program that has the port, or choose another with --port")
    };
    let server = Server::builder()
        .shutdown_delay(arguments.shutdown_delay, READY)
        .bind(("127.0.0.1", arguments.port))
        .await
        .map_err(cannot_listen)?;
    let url = format!("http://{}/webhooks/articles", server.local_addr().map_err(cannot_listen)?);
    let page = match arguments.no_page {
        true => None,
        false => Some(arguments.page.bind(output).await?),
    };
    arguments.forward.check_inbox(&place).await?;
    let refusals = log::show_refusals(output);
    // An inbox is made once nothing else can be wrong.
    let wait = if arguments.wait { Duration::MAX } else { Duration::ZERO };
    let inbox = place.exclusive_after(wait).await?;
    let page = page.map(|listening| {
        Page::new(&inbox, place.shown(), listening).receiver(&url).refusals(refusals)
    });
    let page_url = page.as_ref().map(Page::url);

    let seen = page_url.as_ref().map(|url| format!("See them on {url}\n")).unwrap_or_default();
    let collects = match client {
        Some(_) => "A collector polls the service for jobs that are expected and do not come.\n",
        None => "",
    };
    let line = format!(
        "Listening on {url}. Ctrl-C ends it.\nDeliveries are stored in {}.\n{collects}{seen}",
        escape::line(place.shown())
    );
    let value = json!({
        "listening": url,
        "inbox": place.shown(),
        "page": page_url,
        "collector": client.is_some(),
    });
    // Not queued, so that it is the first.
    context.output.either("listening", &value, &line)?;

    if arguments.wait
        && let Err(error) = inbox.ready().await
    {
        output.note(&format!(
            "deliveries are answered 503 meanwhile: {}",
            escape::line(&error.to_string())
        ));
        let (output, inbox) = (output.clone(), inbox.clone());
        tokio::spawn(async move {
            if inbox.opened().await.is_ok() {
                output.note("that process has ended: deliveries are stored");
            }
        });
    }
    // The receiver warns of a token that can be guessed.
    let receiver = arguments.headers.receiver(token.clone(), answer_deadline)?;
    let stop = || {
        let (output, inbox) = (output.clone(), inbox.clone());
        let not_opened = async move {
            if inbox.opened().await.is_ok() {
                pending::<()>().await;
            }
        };
        async move {
            tokio::select! {
                () = stop_signal() => {}
                () = output.unread() => {}
                () = not_opened => {}
            }
        }
    };
    let forwarding = arguments.forward.forwarding(&inbox, token, &arguments.headers, output)?;
    let worker = forwarding.clone().map(|forwarding| {
        let worker = arguments.forward.worker(&inbox, forwarding);
        let fix = "deliveries are stored meanwhile; fix the cause and start `listen` again, which forwards them";
        let worker = worker.run(stop());
        let failed =
            move |error| Failure::from(error).after("nothing is forwarded any more").fix(fix);
        beside(worker, failed, output)
    });
    let collector = client.map(|client| {
        let (inbox, stopped, stop) = (inbox.clone(), stop(), stop());
        let collector = async move {
            tokio::select! {
                () = stopped => return Ok(()),
                opened = inbox.opened() => opened?,
            }
            Collector::new(&inbox, client).run(stop).await
        };
        let fix = "deliveries are stored meanwhile; fix the cause and start `listen` again";
        let failed =
            move |error| Failure::from(error).after("nothing is collected any more").fix(fix);
        beside(collector, failed, output)
    });
    let exchange = Exchange::new(&inbox, place.shown(), forwarding, output);
    let page = page.map(|page| {
        let fix = "deliveries are received meanwhile; start `listen` again to see the page";
        let page = page.serve(stop());
        let failed =
            move |error| Failure::failed("the page is not shown any more").because(&error).fix(fix);
        beside(page, failed, output)
    });
    let ready = {
        let inbox = inbox.clone();
        async move || match inbox.ready().await {
            Ok(()) => StatusCode::OK,
            Err(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    };
    let answer = move |request: Request| exchange.answer(receiver, request);
    let service = Router::new().route(READY, get(ready)).fallback(answer);
    let served = server.serve(service, stop()).await;
    if let Some(page) = page {
        // The page ends by the same signal. Its last answer is not worth a failure.
        let _ = page.await;
    }
    let mut worked = Ok(());
    for task in [worker, collector].into_iter().flatten() {
        worked = worked.and(task.await.unwrap_or(Err(Exit::Failed)));
    }
    inbox.close().await?;
    served.map_err(|error| Failure::failed("the receiver ended").because(&error))?;
    output.note("\nended");
    Ok(worked.err().unwrap_or(Exit::Done))
}

/// Runs what works beside the receiver. If it ends with an error, the error is reported at once, and the receiver goes on.
fn beside<E: Send + 'static>(
    task: impl Future<Output = Result<(), E>> + Send + 'static,
    failed: impl FnOnce(E) -> Failure + Send + 'static,
    output: &Output,
) -> JoinHandle<Result<(), Exit>> {
    let output = output.clone();
    let task = tokio::spawn(task);
    tokio::spawn(async move {
        let failure = match task.await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => failed(error),
            Err(error) => Failure::failed("a task beside the receiver ended").because(&error),
        };
        Err(output.failure(&failure))
    })
}
