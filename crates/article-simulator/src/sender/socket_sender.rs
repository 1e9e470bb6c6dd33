use std::{error::Error, net::IpAddr, time::Duration};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use tokio::time::{Instant, timeout};

use crate::{
    Answer, Manner, Outcome, Push, Sender,
    sender::{Sending, body::PushBody, cut::send_half},
};

/// A connection that was idle for longer may be closed by the receiver just when it is used again.
const IDLE: Duration = Duration::from_secs(2);

/// How much of an answer's body is remembered, and how much is read so that the connection can be used again.
const REMEMBERED: usize = 256;
const READ: usize = 64 << 10;

/// Sends over HTTP/1. Redirects are not followed: the document knows none.
#[derive(Debug)]
pub(crate) struct SocketSender {
    client: Client<HttpConnector, PushBody>,
    timeout: Duration,
    reaches_everywhere: bool,
}

impl SocketSender {
    pub(crate) fn new(timeout: Duration, reaches_everywhere: bool) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .http1_title_case_headers(true) // as the document writes them
            .pool_idle_timeout(IDLE)
            .build(connector);
        Self { client, timeout, reaches_everywhere }
    }

    async fn attempt(&self, request: Request<Bytes>, manner: Manner) -> Result<Answer, String> {
        self.permit(request.uri())?;
        if manner == Manner::Cut {
            let sent = send_half(&request).await;
            return Err(
                sent.map_or_else(|error| told(&error), |()| "the connection was cut".into())
            );
        }
        let request = request.map(|body| PushBody::new(body, manner));
        let response = self.client.request(request).await.map_err(|error| told(&error))?;
        Ok(answer(response).await)
    }

    fn permit(&self, uri: &Uri) -> Result<(), String> {
        if uri.scheme_str() != Some("http") {
            return Err("the simulator speaks no TLS: give the target an http URL".into());
        }
        if self.reaches_everywhere || uri.host().is_some_and(is_loopback) {
            return Ok(());
        }
        Err("the simulator stays on this machine: allow_network lets it out".into())
    }
}

impl Sender for SocketSender {
    fn send<'a>(&'a self, push: &'a Push) -> Sending<'a> {
        Box::pin(async move {
            let (request, manner) = (push.request(), push.manner());
            let start = Instant::now();
            let answer = timeout(self.timeout, self.attempt(request, manner)).await;
            let answer =
                answer.unwrap_or_else(|_| Err(format!("no answer within {:?}", self.timeout)));
            Outcome { answer, took: start.elapsed() }
        })
    }
}

async fn answer(response: Response<Incoming>) -> Answer {
    let status = response.status().as_u16();
    let (mut body, mut start, mut read) = (response.into_body(), Vec::new(), 0);
    // The status counts, whatever becomes of the body.
    while let Some(Ok(frame)) = body.frame().await {
        let data = frame.into_data().unwrap_or_default();
        start.extend_from_slice(&data[..data.len().min(REMEMBERED - start.len())]);
        read += data.len();
        if read > READ {
            break;
        }
    }
    Answer { status, start: String::from_utf8_lossy(&start).into_owned() }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// An error with its causes.
fn told(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_has_three_names() {
        for host in ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["", "localhost.test", "10.0.0.1", "[::2]", "127.0.0.1.test"] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn it_stays_on_this_machine_and_without_tls() {
        let permit = |uri, everywhere| {
            SocketSender::new(Duration::ZERO, everywhere).permit(&Uri::from_static(uri))
        };
        assert_eq!(permit("http://127.0.0.1:1/a", false), Ok(()));
        assert_eq!(permit("http://receiver.test/", true), Ok(()));
        assert!(permit("http://receiver.test/", false).unwrap_err().contains("allow_network"));
        assert!(permit("https://localhost/", true).unwrap_err().contains("no TLS"));
    }
}
