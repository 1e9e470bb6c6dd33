use std::{net::IpAddr, time::Duration};

use reqwest::{StatusCode, Url};
use tokio::net::lookup_host;

use super::{
    clock::Reading,
    connection,
    finding::Finding,
    probe::{Answer, LARGEST, Prober},
};

/// A refusal needs no disk, so that it takes less.
const SLOW: Duration = Duration::from_secs(1);

/// Longer than any answer of a receiver of this project. The service's own limit is not documented.
const TOO_SLOW: Duration = Duration::from_secs(5);

/// What was found, and what the answers say about clocks.
#[derive(Default)]
struct Examined {
    findings: Vec<Finding>,
    longest: Duration,
    clock: Option<Reading>,
}

/// Stops at a finding that explains all that would follow.
type Step = Result<(), Finding>;

pub(super) async fn examine(
    prober: &Prober<'_>,
    token: Option<&str>,
) -> (Option<Reading>, Vec<Finding>) {
    let mut examined = Examined::default();
    if let Err(last) = examined.all(prober, token).await {
        examined.findings.push(last);
    }
    if !examined.longest.is_zero() {
        examined.findings.push(speed(examined.longest));
    }
    (examined.clock, examined.findings)
}

impl Examined {
    async fn all(&mut self, prober: &Prober<'_>, token: Option<&str>) -> Step {
        let is_private = self.way(prober.url).await?;
        let answer = self.answer(prober.wrong_token().await.map_err(connection::judge)?);
        self.findings.extend(refusal_of_wrong_token(&answer)?);
        if prober.url.scheme() == "https" {
            self.findings.push(Finding::ok("receiver.tls", "the certificate is valid"));
        }
        let Some(token) = token else {
            return Err(Finding::not_checked("receiver.headers", "what needs the right token")
                .mend("set ARTICLE_WEBHOOK_TOKEN to a token that can be used, or give --token-file PATH"));
        };
        if !is_private {
            return Err(Finding::not_checked(
                "receiver.headers",
                "what needs the right token, which is not sent without TLS",
            ));
        }
        self.headers(prober, token).await?;
        let answer = prober.largest_body(token).await;
        self.findings.push(match answer {
            Ok(answer) => body_limit(&answer),
            Err(why) => {
                let why = connection::judge(why);
                Finding::warn(
                    "receiver.body_cut",
                    "the connection ended while a body of 8 MiB was sent",
                )
                .because(why.cause.unwrap_or(why.found))
                .mend("raise the limits of bodies and their times in the proxy before the receiver")
            }
        });
        Ok(())
    }

    /// Whether what is sent on the way to the receiver stays private.
    async fn way(&mut self, url: &Url) -> Result<bool, Finding> {
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(Finding::fail("receiver.url", "the URL has no host")
                .mend("give the whole URL, such as https://shop.example/webhooks/articles"));
        };
        let is_private = match url.scheme() {
            "https" => true,
            "http" if is_loopback(url) => {
                let found =
                    "plain HTTP stays on this machine; from outside, the service needs https";
                self.findings.push(Finding::ok("receiver.loopback", found));
                true
            }
            "http" => {
                let finding = Finding::fail(
                    "receiver.no_tls",
                    "the URL is http, and the host is another machine",
                )
                .because("nothing is signed: who reads the token on the way can deliver articles")
                .mend("serve the receiver with TLS, and give the service the https URL");
                self.findings.push(finding);
                false
            }
            _ => {
                return Err(Finding::fail("receiver.url", "the URL is neither https nor http")
                    .mend("give the URL that the service delivers to"));
            }
        };
        let host = bare_host(host);
        match lookup_host((host, port)).await.map(|mut found| found.next()) {
            Ok(Some(_)) => Ok(is_private),
            Ok(None) => Err(unknown_host(host, None)),
            Err(error) => Err(unknown_host(host, Some(error.to_string()))),
        }
    }

    async fn headers(&mut self, prober: &Prober<'_>, token: &str) -> Step {
        let answer = prober.invalid_job_id(token).await.map_err(connection::judge)?;
        let answer = self.answer(answer);
        accepted_token(&answer)?;
        self.findings.push(Finding::ok("receiver.token_arrives", "the receiver accepts the token"));
        let name = prober.job_id_header;
        self.findings.push(match answer.code.as_deref() {
            Some("invalid_job_id") => {
                Finding::ok("receiver.job_id_arrives", format!("{name} arrives"))
            }
            Some(code @ ("malformed_json" | "bad_request")) => {
                stripped("receiver.job_id_stripped", name, "--job-id-header", code)
            }
            _ => return Err(no_codes()),
        });
        let has_job_id = answer.code.as_deref() == Some("invalid_job_id");
        let answer = prober.invalid_event(token).await.map_err(connection::judge)?;
        let answer = self.answer(answer);
        let name = prober.event_header;
        self.findings.push(match answer.code.as_deref() {
            Some("bad_request") if has_job_id => {
                Finding::ok("receiver.event_arrives", format!("{name} arrives"))
            }
            // Without a job id, a strict receiver gives this answer in both cases.
            Some("bad_request") => {
                Finding::not_checked("receiver.event_arrives", format!("whether {name} arrives"))
            }
            Some("invalid_job_id" | "malformed_json") => {
                stripped("receiver.event_stripped", name, "--event-header", "malformed_json")
            }
            _ => return Err(no_codes()),
        });
        Ok(())
    }

    fn answer(&mut self, answer: Answer) -> Answer {
        self.longest = self.longest.max(answer.took);
        self.clock = answer.clock.or(self.clock);
        answer
    }
}

fn unknown_host(host: &str, cause: Option<String>) -> Finding {
    let finding = Finding::fail("receiver.unknown_host", format!("the host {host} has no address"))
        .mend("check the host of the URL, and the DNS entry for it");
    match cause {
        Some(cause) => finding.because(cause),
        None => finding,
    }
}

fn refusal_of_wrong_token(answer: &Answer) -> Result<Option<Finding>, Finding> {
    let status = answer.status;
    if status.is_success() {
        return Err(Finding::fail(
            "receiver.accepts_wrong_token",
            format!("a delivery with a wrong token gets {status}"),
        )
        .because("either no receiver is at this URL, or it accepts what strangers deliver")
        .mend("check the URL; if it is right, give the receiver the token of the publish target"));
    }
    unfit(answer)?;
    Ok(Some(match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Finding::ok(
            "receiver.refuses_wrong_token",
            format!("a wrong token is refused with {status}"),
        ),
        _ if status.is_client_error() => {
            Finding::warn("receiver.token_checked_late", format!("a wrong token gets {status}"))
                .because("what a stranger sends is looked at before the token is")
                .mend("check the token before everything else, and answer 401")
        }
        _ => Finding::warn("receiver.unexpected", format!("a wrong token gets {status}"))
            .mend("answer 401 to a wrong token"),
    }))
}

/// Refuses an answer that no receiver gives.
fn unfit(answer: &Answer) -> Step {
    let Answer { status, code, .. } = answer;
    let code = code.as_deref().map(|code| format!(" with the code {code}")).unwrap_or_default();
    if status.is_redirection() {
        return Err(Finding::fail("receiver.redirects", format!("the receiver answers {status}"))
            .because("the service follows no redirect, and delivers again in vain")
            .mend("give the service the URL to which it redirects: often https, with or without a last slash"));
    }
    if *status == StatusCode::NOT_FOUND {
        return Err(Finding::fail("receiver.not_found", "no receiver is at this path")
            .because(format!("the answer is {status}"))
            .mend("check the path of the URL, and the routes of the proxy"));
    }
    if *status == StatusCode::METHOD_NOT_ALLOWED {
        return Err(Finding::fail("receiver.no_post", "what is at this path takes no POST")
            .because(format!("the answer is {status}"))
            .mend("check the path of the URL; mount the receiver for POST"));
    }
    if answer.is_page {
        return Err(Finding::fail(
            "receiver.page",
            format!("the answer is {status} with a page for people"),
        )
        .because("a proxy or another application answers in the receiver's place")
        .mend("start the receiver, and look into the log of the proxy before it"));
    }
    if status.is_server_error() {
        return Err(Finding::fail(
            "receiver.fails",
            format!("the receiver answers {status}{code}"),
        )
        .because("the service delivers again at most three times")
        .mend("look into the log of the receiver"));
    }
    Ok(())
}

/// Whether the right token was accepted, and the broken delivery refused.
fn accepted_token(answer: &Answer) -> Step {
    let status = answer.status;
    if status.is_success() {
        return Err(Finding::fail(
            "receiver.accepts_broken",
            format!("a delivery without a job and with half a body gets {status}"),
        )
        .because(
            "what is answered with 2xx is not delivered again: an article that is cut off is lost",
        )
        .mend("answer 400 to a body that is no JSON; `article-webhook check URL` has all cases"));
    }
    unfit(answer)?;
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Err(Finding::fail("receiver.token_refused", format!("the token is refused with {status}"))
                .because("the receiver has another token, or a proxy removes or uses up `Authorization`")
                .mend(
                    "compare the token with that of the receiver, whose log says whether `Authorization` was missing or \
                     wrong; let the proxy pass it on",
                ))
        }
        _ => Ok(()),
    }
}

fn stripped(code: &'static str, name: &str, option: &str, answered: &str) -> Finding {
    let found = format!("{name} does not arrive");
    let mend = format!(
        "let the proxy pass on all headers that begin with X-Service-; if the receiver has another name, give {option}"
    );
    // The code of a strict receiver.
    if answered == "bad_request" {
        return Finding::fail(code, found)
            .because("the receiver refuses deliveries without it")
            .mend(mend);
    }
    Finding::warn(code, found)
        .because(
            "without it, a delivery with a broken body cannot be told from others, nor asked for",
        )
        .mend(mend)
}

fn no_codes() -> Finding {
    let found = "whether headers and large bodies arrive, because the answers have no codes of this project";
    Finding::not_checked("receiver.headers", found).mend(
        "`article-webhook check URL` asks a receiver of any kind, and delivers articles to it",
    )
}

fn body_limit(answer: &Answer) -> Finding {
    let size = LARGEST >> 20;
    match (answer.status, answer.code.as_deref()) {
        (_, Some("malformed_json")) => {
            Finding::ok("receiver.body_limit", format!("a body of {size} MiB arrives"))
        }
        (StatusCode::PAYLOAD_TOO_LARGE, Some("payload_too_large")) => Finding::fail(
            "receiver.body_limit",
            format!("the receiver refuses a body of {size} MiB"),
        )
        .because("its own limit, or that of a layer of its framework, is lower")
        .mend("raise `body_limit` of the receiver, and the limit of the layer before it"),
        (StatusCode::PAYLOAD_TOO_LARGE, _) => {
            Finding::fail("receiver.body_limit", format!("a proxy refuses a body of {size} MiB"))
                .because("the answer is not that of the receiver")
                .mend("raise the limit of the proxy, such as `client_max_body_size 8m` of nginx")
        }
        (_, Some("bad_request")) => {
            let found = format!(
                "whether a body of {size} MiB arrives: a strict receiver refuses it by its headers"
            );
            Finding::not_checked("receiver.body_limit", found)
        }
        (status, _) => {
            Finding::warn("receiver.body_limit", format!("a body of {size} MiB gets {status}"))
                .because("the receiver would say that it is no JSON")
                .mend("look into the log of the receiver and of the proxy before it")
        }
    }
}

fn speed(longest: Duration) -> Finding {
    let took = longest.as_millis();
    let found = format!("the longest refusal took {took} ms");
    let finding = match longest {
        _ if longest < SLOW => return Finding::ok("receiver.quick", found),
        _ if longest < TOO_SLOW => Finding::warn("receiver.slow", found),
        _ => Finding::fail("receiver.slow", found),
    };
    finding
        .because("the service does not say how long it waits; an answer within 5 s is safe, and a refusal needs no disk")
        .mend("look at the load of the machine and the way to it; answer before the work, with an inbox")
}

fn is_loopback(url: &Url) -> bool {
    match url.domain() {
        Some(name) => name == "localhost",
        None => bare_host(url.host_str().unwrap_or_default())
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback()),
    }
}

/// The host without the brackets of an IPv6 address.
fn bare_host(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}
