use std::{net::IpAddr, time::Duration};

use reqwest::{StatusCode, Url};
use tokio::net::lookup_host;

use super::{
    clock::Reading,
    connection,
    finding::Finding,
    probe::{Answer, Prober},
    verdict::{
        Step, accepted_token, body_limit, no_codes, refusal_of_wrong_token, speed, stripped,
    },
};

/// What was found, and what the answers say about clocks.
#[derive(Default)]
struct Examined {
    findings: Vec<Finding>,
    longest: Duration,
    clock: Option<Reading>,
}

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
        let answer = self.answer(prober.wrong_token().await.map_err(connection::finding)?);
        let of_wrong_token = answer.status;
        self.findings.extend(refusal_of_wrong_token(&answer)?);
        if prober.url.scheme() == "https" {
            self.findings.push(Finding::ok("receiver.tls", "the certificate is valid"));
        }
        let Some(token) = token else {
            return Err(Finding::not_checked("receiver.headers", "what needs the right token")
                .fix("set ARTICLE_WEBHOOK_TOKEN to a token that can be used, or give --token-file PATH"));
        };
        if !is_private {
            return Err(Finding::not_checked(
                "receiver.headers",
                "what needs the right token, which is not sent without TLS",
            ));
        }
        self.headers(prober, token, of_wrong_token).await?;
        let answer = prober.largest_body(token).await;
        self.findings.push(match answer {
            Ok(answer) => body_limit(&answer),
            Err(why) => {
                let why = connection::finding(why);
                Finding::warn(
                    "receiver.body_cut",
                    "the connection ended while a body of 8 MiB was sent",
                )
                .because(why.cause.unwrap_or(why.found))
                .fix("raise the limits of bodies and their times in the proxy before the receiver")
            }
        });
        Ok(())
    }

    /// Whether what is sent on the way to the receiver stays private.
    async fn way(&mut self, url: &Url) -> Result<bool, Finding> {
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        let is_private = match url.scheme() {
            "https" => true,
            _ if is_loopback(url) => {
                let found =
                    "plain HTTP stays on this machine; from outside, the service needs https";
                self.findings.push(Finding::ok("receiver.loopback", found));
                true
            }
            _ => {
                let finding = Finding::fail(
                    "receiver.no_tls",
                    "the URL is http, and the host is another machine",
                )
                .because("nothing is signed: who reads the token on the way can deliver articles")
                .fix("serve the receiver with TLS, and give the service the https URL");
                self.findings.push(finding);
                false
            }
        };
        let host = bare_host(host);
        match lookup_host((host, port)).await.map(|mut found| found.next()) {
            Ok(Some(_)) => Ok(is_private),
            Ok(None) => Err(unknown_host(host, None)),
            Err(error) => Err(unknown_host(host, Some(error.to_string()))),
        }
    }

    async fn headers(
        &mut self,
        prober: &Prober<'_>,
        token: &str,
        of_wrong_token: StatusCode,
    ) -> Step {
        let answer = prober.invalid_job_id(token).await.map_err(connection::finding)?;
        let answer = self.answer(answer);
        accepted_token(&answer)?;
        self.findings.push(match answer.status == of_wrong_token {
            true => Finding::not_checked(
                "receiver.token_arrives",
                "whether the receiver accepts the token, because it answers a wrong one alike",
            ),
            false => Finding::ok("receiver.token_arrives", "the receiver accepts the token"),
        });
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
        let answer = prober.invalid_event(token).await.map_err(connection::finding)?;
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
        .fix("check the host of the URL, and the DNS entry for it");
    match cause {
        Some(cause) => finding.because(cause),
        None => finding,
    }
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
