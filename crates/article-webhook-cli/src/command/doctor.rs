mod finding;

mod clock;
mod disk;
mod token;

mod probe;

mod verdict;

mod inbox;
mod receiver;
mod service;

use std::path::PathBuf;

use clap::Args;

use self::{finding::Finding, probe::Prober};
use crate::{
    calls::WebUrl,
    context::Context,
    failure::{Exit, Failure},
    store::InboxArgument,
};

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct DoctorArguments {
    /// The URL of the receiver, as configured at the service
    #[arg(long, value_name = "URL")]
    url: Option<WebUrl>,
    /// The inbox: a file, a PostgreSQL URL, or env:NAME [default: the inbox in ARTICLE_INBOX]
    #[arg(long, value_name = "INBOX")]
    inbox: Option<InboxArgument>,
    /// The part of the service's URLs before /v1 [default: the value of ARTICLE_API_URL]
    #[arg(long, value_name = "URL")]
    api_url: Option<WebUrl>,
    /// A file with the API key [default: the key in ARTICLE_API_KEY]
    #[arg(long, value_name = "PATH")]
    api_key_file: Option<PathBuf>,
    /// A file with the token of deliveries [default: the token in ARTICLE_WEBHOOK_TOKEN]
    #[arg(long, value_name = "PATH")]
    token_file: Option<PathBuf>,
    /// The header with the event
    #[arg(long, value_name = "NAME", default_value = "X-Service-Event", value_parser = header_name)]
    event_header: String,
    /// The header with the job id
    #[arg(long, value_name = "NAME", default_value = "X-Service-Job-Id", value_parser = header_name)]
    job_id_header: String,
}

const AFTER: &str = "\
Only what you name is checked. The receiver gets deliveries that it must refuse, and none that it could take for an \
article. The right token is sent only with TLS or on this machine. The service is polled for a job that does not exist. A \
file is created next to the inbox, to time the disk, and removed again. A small change is committed to the inbox, unless \
ARTICLE_INBOX_READ_ONLY is set.";

pub(crate) async fn run(arguments: DoctorArguments, context: &Context) -> Result<Exit, Failure> {
    let output = &context.output;
    let (token, mut findings) =
        token::examine(arguments.token_file.as_deref(), &context.environment);
    let mut clocks = Vec::new();
    #[cfg(unix)]
    for (code, what, path) in [
        ("token.open_to_others", "the file of the token", arguments.token_file.as_deref()),
        ("service.key_open_to_others", "the file of the key", arguments.api_key_file.as_deref()),
        ("env_file.open_to_others", "the file of variables", context.environment.file()),
    ] {
        findings.extend(path.and_then(|path| disk::open_to_others(code, what, path)));
    }

    output.progress("checking the service …");
    let (clock, found) = service::examine(
        arguments.api_url.as_ref().map(WebUrl::as_str),
        arguments.api_key_file.as_deref(),
        &context.environment,
    )
    .await;
    clocks.extend(clock);
    findings.push(found);

    output.progress("checking the receiver …");
    if let Some(url) = &arguments.url {
        let prober = Prober {
            url: url.as_url(),
            event_header: &arguments.event_header,
            job_id_header: &arguments.job_id_header,
        };
        let token = token.as_ref().map(|token| token.as_str());
        let (clock, found) = receiver::examine(&prober, token).await;
        clocks.extend(clock);
        findings.extend(found);
    } else {
        let found = "the receiver, because it is not named";
        findings.push(Finding::not_checked("receiver.not_named", found).fix("give --url URL"));
    }
    findings.extend(clock::findings(&clocks));

    output.progress("checking the inbox …");
    match arguments.inbox.or_else(|| InboxArgument::of_environment(&context.environment)) {
        Some(inbox) => findings.extend(inbox::examine(&inbox, context).await?),
        None => {
            let found = "the inbox and its disk, because none is named";
            findings.push(Finding::not_checked("inbox.not_named", found).fix("give --inbox INBOX"));
        }
    }
    output.progress("");
    finding::show(&findings, output)
}

fn header_name(name: &str) -> Result<String, String> {
    match reqwest::header::HeaderName::try_from(name) {
        Ok(_) => Ok(name.to_owned()),
        Err(_) => Err("expected the name of a header".to_owned()),
    }
}
