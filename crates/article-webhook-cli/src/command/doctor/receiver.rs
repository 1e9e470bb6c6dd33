use std::time::Duration;

use article_webhook::fixture::DeliveryRequest;
use reqwest::StatusCode;
use tokio::net::lookup_host;

use super::{
    clock::Reading,
    finding::Finding,
    probe::{Answer, Prober},
    verdict::{
        REFUSAL_TIMEOUT, Step, accepted_token, body_limit, no_answer, no_codes,
        refusal_of_wrong_token, speed, stripped,
    },
};
use crate::calls::{bare_host, is_loopback};

/// How long the largest body may take.
const LARGEST_BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// What was found, and what the answers say about clocks.
struct Examined<'a> {
    prober: &'a Prober<'a>,
    findings: Vec<Finding>,
    longest: Duration,
    clock: Option<Reading>,
}

pub(super) async fn examine(
    prober: &Prober<'_>,
    token: Option<&str>,
) -> (Option<Reading>, Vec<Finding>) {
    let mut examined =
        Examined { prober, findings: Vec::new(), longest: Duration::ZERO, clock: None };
    if let Err(last) = examined.all(token).await {
        examined.findings.push(last);
    }
    if !examined.longest.is_zero() {
        examined.findings.push(speed(examined.longest));
    }
    (examined.clock, examined.findings)
}

impl Examined<'_> {
    async fn all(&mut self, token: Option<&str>) -> Step {
        let is_private = self.way().await?;
        let answer = self.answer(Prober::wrong_token()).await?;
        self.findings.push(refusal_of_wrong_token(&answer)?);
        if self.prober.url.scheme() == "https" {
            self.findings.push(Finding::ok("receiver.tls", "the certificate is valid"));
        }
        let not_checked = |found| Finding::not_checked("receiver.headers", found);
        let token = token.ok_or_else(|| {
            not_checked("what needs the right token").fix(
                "set ARTICLE_WEBHOOK_TOKEN to a token that can be used, or give --token-file PATH",
            )
        })?;
        if !is_private {
            return Err(not_checked("what needs the right token, which is not sent without TLS"));
        }
        self.headers(token, answer.status).await?;
        let answer = self.prober.send(&self.prober.largest_body(token), LARGEST_BODY_TIMEOUT).await;
        self.findings.push(match answer.map_err(no_answer) {
            Ok(answer) => body_limit(&answer),
            Err(why) => {
                let found = "the connection ended while a body of 8 MiB was sent";
                Finding::warn("receiver.body_cut", found).because(why.cause.unwrap_or(why.found)).fix(
                    "raise the limits of bodies and their times in the proxy before the receiver",
                )
            }
        });
        Ok(())
    }

    /// Whether what is sent on the way to the receiver stays private.
    async fn way(&mut self) -> Result<bool, Finding> {
        let url = self.prober.url;
        let is_private = url.scheme() == "https" || is_loopback(url);
        if url.scheme() != "https" {
            self.findings.push(match is_private {
                true => Finding::ok(
                    "receiver.loopback",
                    "plain HTTP stays on this machine; from outside, the service needs https",
                ),
                false => Finding::fail(
                    "receiver.no_tls",
                    "the URL is http, and the host is another machine",
                )
                .because("nothing is signed: who reads the token on the way can deliver articles")
                .fix("serve the receiver with TLS, and give the service the https URL"),
            });
        }
        let (host, port) = (bare_host(url), url.port_or_known_default().unwrap_or_default());
        let cause = match lookup_host((host, port)).await.map(|mut found| found.next()) {
            Ok(Some(_)) => return Ok(is_private),
            Ok(None) => None,
            Err(error) => Some(error.to_string()),
        };
        let found = format!("the host {host} has no address");
        let finding = Finding::fail("receiver.unknown_host", found)
            .fix("check the host of the URL, and the DNS entry for it");
        Err(Finding { cause, ..finding })
    }

    async fn headers(&mut self, token: &str, of_wrong_token: StatusCode) -> Step {
        let prober = self.prober;
        let answer = self.answer(prober.invalid_job_id(token)).await?;
        accepted_token(&answer)?;
        self.findings.push(match answer.status == of_wrong_token {
            true => Finding::not_checked(
                "receiver.token_arrives",
                "whether the receiver accepts the token, because it answers a wrong one alike",
            ),
            false => Finding::ok("receiver.token_arrives", "the receiver accepts the token"),
        });
        let name = prober.job_id_header;
        let has_job_id = answer.code.as_deref() == Some("invalid_job_id");
        self.findings.push(match answer.code.as_deref() {
            _ if has_job_id => Finding::ok("receiver.job_id_arrives", format!("{name} arrives")),
            Some(code @ ("malformed_json" | "bad_request")) => {
                stripped("receiver.job_id_stripped", name, "--job-id-header", code)
            }
            _ => return Err(no_codes()),
        });
        let answer = self.answer(prober.invalid_event(token)).await?;
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

    /// The answer to a delivery that is refused at once.
    async fn answer(&mut self, request: DeliveryRequest) -> Result<Answer, Finding> {
        let answer = self.prober.send(&request, REFUSAL_TIMEOUT).await.map_err(no_answer)?;
        self.longest = self.longest.max(answer.took);
        self.clock = answer.clock.or(self.clock);
        Ok(answer)
    }
}
