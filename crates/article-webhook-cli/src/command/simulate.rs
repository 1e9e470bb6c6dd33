mod fault;

use std::{num::NonZeroU32, path::PathBuf, time::Duration};

use article_webhook_inbox::stop_signal;
use article_webhook_simulator::{Call, Rule, Simulator, SimulatorClock};
use clap::{Args, builder::NonEmptyStringValueParser};
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};

use crate::{
    calls::{RemoteArguments, WebUrl},
    command::attempt,
    context::Context,
    failure::{Exit, Failure},
    output::{Output, Tone},
    settings,
    text::escape,
    text::moment,
};

/// The key and the brand of the simulated service.
const API_KEY: &str = "sk-simulator";
const BRAND: &str = "brand_1";

/// How often attempts are shown.
const TICK: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
#[command(after_help = fault::HELP)]
pub(crate) struct SimulateArguments {
    /// The port on 127.0.0.1 [default: a free one]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// The speed, as a multiple of the service's
    #[arg(long, value_name = "TIMES", default_value = "1")]
    speed: NonZeroU32,
    /// The receiver of all articles, by plain http; its token is in ARTICLE_WEBHOOK_TOKEN or --token-file
    #[arg(long, value_name = "URL")]
    deliver_to: Option<WebUrl>,
    /// A file with the receiver's token
    #[arg(long, value_name = "PATH", requires = "deliver_to")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    remote: RemoteArguments,
    /// Order an article at the start; may be repeated
    #[arg(long, value_name = "TOPIC", value_parser = NonEmptyStringValueParser::new())]
    order: Vec<String>,
    /// A fault; may be repeated
    #[arg(long, value_name = "FAULT", value_parser = fault::rule)]
    fault: Vec<Rule>,
    /// How many articles can be ordered
    #[arg(long, value_name = "CREDITS", default_value_t = 1000)]
    credits: u64,
    /// The seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

pub(crate) async fn run(arguments: SimulateArguments, context: &Context) -> Result<Exit, Failure> {
    // Ctrl-C ends it whether its output is read or not.
    let output = context.output.queued()?;
    let ended = simulate(arguments, context, &output).await;
    output.flush();
    ended.and_then(|exit| output.written().map(|()| exit))
}

async fn simulate(
    arguments: SimulateArguments,
    context: &Context,
    output: &Output,
) -> Result<Exit, Failure> {
    let mut simulator = Simulator::builder()
        .port(arguments.port)
        .seed(arguments.seed)
        .clock(SimulatorClock::accelerated(arguments.speed.get()))
        .api_key(API_KEY)
        .credits(arguments.credits)
        .brand(BRAND);
    if let Some(url) = &arguments.deliver_to {
        let token = settings::usable_token(arguments.token_file.as_deref(), &context.environment)?;
        arguments.remote.allow(url.as_url())?;
        if url.as_url().scheme() != "http" {
            return Err(Failure::usage("the simulated service speaks no TLS").fix(
                "give --deliver-to an http URL, of the receiver itself or of a proxy before it",
            ));
        }
        simulator = simulator.publish_target(url.as_str(), token.expose_secret());
    }
    if arguments.remote.allow_remote {
        simulator = simulator.allow_network();
    }
    for rule in arguments.fault {
        simulator = simulator.fault(rule);
    }
    let wrong = |error| {
        Failure::usage("the simulator cannot start")
            .because(&error)
            .fix("choose another --port, or leave it out; correct --deliver-to and --fault")
    };
    let simulator = simulator.start().await.map_err(wrong)?;
    let url = simulator.base_url();
    let speed = arguments.speed;
    let line = format!(
        "The simulated service runs, {speed} times as fast. Ctrl-C ends it.\n\n  \
         export ARTICLE_API_URL={url}\n  export ARTICLE_API_KEY={API_KEY}\n",
    );
    let value = json!({ "url": url, "api_key": API_KEY, "brand": BRAND, "speed": speed });
    output.either("simulator", &value, &line)?;
    for topic in &arguments.order {
        let job = simulator.order(topic).await;
        let job = job.map_err(|error| {
            Failure::failed("the order failed")
                .because(&error)
                .fix("correct the topic of --order, or give more --credits")
        })?;
        let value = json!({ "ordered": job.job_id, "topic": topic });
        let line = format!("ordered  {}  {}", escape::line(&job.job_id), escape::line(topic));
        output.either("ordered", &value, &line)?;
    }
    let mut stop = std::pin::pin!(stop_signal());
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = &mut stop => break,
            () = output.unread() => return Err(Failure::of_closed_pipe()),
            _ = ticks.tick() => {}
        }
        simulator.drain_calls().iter().try_for_each(|call| show_call(call, output))?;
        simulator.drain_attempts().iter().try_for_each(|attempt| attempt::show(attempt, output))?;
    }
    output.note("\nended");
    Ok(Exit::Done)
}

fn show_call(call: &Call, output: &Output) -> Result<(), Failure> {
    let status = call.status.as_u16();
    let value = json!({
        "called": call.path,
        "method": call.method,
        "at_seconds": call.at.as_secs_f64(),
        "status": status,
    });
    let tone = if status < 400 { Tone::Good } else { Tone::Bad };
    let line = format!(
        "{}  {:<9}  {}  {}",
        output.paint(Tone::Quiet, &format!("{:>7}", moment::clock(call.at))),
        escape::line(&call.method),
        escape::line(&call.path),
        output.paint(tone, &status.to_string()),
    );
    output.either("call", &value, &line)
}
