use std::{net::IpAddr, time::Duration};

use article_webhook::adapter::Causes;
use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use tokio::time::{Instant, timeout};

use super::{
    outcome::{DeliveryAnswer, DeliveryOutcome},
    push::Push,
    push_body::PushBody,
    send_half::send_half,
    send_mode::SendMode,
    sender::{Sender, Sending},
};

/// A connection that was idle for longer may be closed by the receiver at the moment of its reuse.
const MAX_IDLE: Duration = Duration::from_secs(2);

/// How many bytes of the body of an answer are kept.
const MAX_KEPT: usize = 256;

/// How many bytes of it are read, so that the connection can be reused.
const MAX_READ: usize = 64 << 10;

/// How long an attempt may take. The document does not define it.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);

/// Where deliveries may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    Loopback,
    Everywhere,
}

/// Sends over HTTP/1. Redirects are not followed: the document mentions none.
#[derive(Debug)]
pub(crate) struct SocketSender {
    client: Client<HttpConnector, PushBody>,
    timeout: Duration,
    network: Network,
}

impl SocketSender {
    pub(crate) fn new(network: Network) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .http1_title_case_headers(true) // as the document writes them
            .pool_idle_timeout(MAX_IDLE)
            .build(connector);
        Self { client, timeout: ATTEMPT_TIMEOUT, network }
    }

    async fn answer_in_time(
        &self,
        request: Request<Bytes>,
        mode: SendMode,
    ) -> Result<DeliveryAnswer, String> {
        let answer = timeout(self.timeout, self.attempt(request, mode)).await;
        answer.unwrap_or_else(|_| Err(format!("no answer within {:?}", self.timeout)))
    }

    async fn attempt(
        &self,
        request: Request<Bytes>,
        mode: SendMode,
    ) -> Result<DeliveryAnswer, String> {
        self.permit(request.uri())?;
        if mode == SendMode::Cut {
            send_half(&request).await.map_err(|error| Causes::of(&error).to_string())?;
            return Err("the connection was cut".into());
        }
        let request = request.map(|body| PushBody::new(body, mode));
        let response = self.client.request(request).await;
        let response = response.map_err(|error| Causes::of(&error).to_string())?;
        Ok(answer(response).await)
    }

    fn permit(&self, uri: &Uri) -> Result<(), String> {
        if uri.scheme_str() != Some("http") {
            return Err("the simulator speaks no TLS: give the target an http URL".into());
        }
        if self.network == Network::Everywhere || uri.host().is_some_and(is_loopback) {
            return Ok(());
        }
        Err("the simulator delivers to this machine only: allow_network lifts this".into())
    }
}

impl Sender for SocketSender {
    fn send<'a>(&'a self, push: &'a Push) -> Sending<'a> {
        Box::pin(async move {
            let start = Instant::now();
            let answer = self.answer_in_time(push.request(), push.send_mode()).await;
            DeliveryOutcome { answer, took: start.elapsed() }
        })
    }
}

async fn answer(response: Response<Incoming>) -> DeliveryAnswer {
    let status = response.status();
    let (mut body, mut start, mut read) = (response.into_body(), Vec::new(), 0);
    // The status counts, even if the body is incomplete.
    while let Some(Ok(frame)) = body.frame().await {
        let data = frame.into_data().unwrap_or_default();
        start.extend_from_slice(&data[..data.len().min(MAX_KEPT - start.len())]);
        read += data.len();
        if read > MAX_READ {
            break;
        }
    }
    DeliveryAnswer { status, start: String::from_utf8_lossy(&start).into_owned() }
}

/// Whether a host of a URL or of a `Host` header is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_receiver_that_does_not_answer_times_out() {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", silent.local_addr().unwrap());
        let timeout = Duration::from_millis(50);
        let sender = SocketSender { timeout, ..SocketSender::new(Network::Loopback) };
        let request = Request::post(url).body(Bytes::new()).unwrap();
        let answer = sender.answer_in_time(request, SendMode::Whole).await;
        assert_eq!(answer, Err("no answer within 50ms".to_owned()));
    }

    #[test]
    fn the_loopback_has_three_names() {
        for host in ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["", "localhost.test", "10.0.0.1", "[::2]", "127.0.0.1.test"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
