use std::{pin::pin, time::Duration};

use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    select,
    time::{Instant, sleep, timeout},
};

use super::{heard::Heard, request::Request, response::Responses, site::Site};

/// The service's side of a connection, which writes whatever bytes it is given.
pub(super) struct Connection {
    stream: TcpStream,
    responses: Responses,
    patience: Duration,
}

/// One request on a connection of its own.
pub(super) async fn exchange(site: &Site, request: &Request) -> Heard {
    match Connection::open(site).await {
        Ok(mut connection) => connection.exchange(request).await,
        Err(heard) => heard,
    }
}

impl Connection {
    pub(super) async fn open(site: &Site) -> Result<Self, Heard> {
        match timeout(site.patience, TcpStream::connect(site.address)).await {
            Ok(Ok(stream)) => {
                let _ = stream.set_nodelay(true);
                Ok(Self { stream, responses: Responses::new(), patience: site.patience })
            }
            Ok(Err(_)) => Err(Heard::Unreachable),
            Err(_) => Err(Heard::Late),
        }
    }

    /// Reads while it writes: a receiver may answer before it has the whole body, and close then.
    pub(super) async fn exchange(&mut self, request: &Request) -> Heard {
        let limit = self.patience + request.duration();
        let Self { stream, responses, .. } = self;
        let (mut from, mut to) = stream.split();
        let sending = async {
            for piece in request.pieces() {
                if to.write_all(&piece.bytes).await.is_err() {
                    break; // what the receiver has to say to that, it says in its answer
                }
                sleep(piece.pause).await;
            }
            Instant::now()
        };
        let exchange = async {
            let mut answering = pin!(responses.answer(&mut from, request.method));
            select! {
                heard = &mut answering => heard,
                sent = sending => answered_after(answering.await, sent),
            }
        };
        timeout(limit, exchange).await.unwrap_or(Heard::Late)
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) {
        let _ = timeout(self.patience, self.stream.write_all(bytes)).await;
    }

    /// The next answer.
    pub(super) async fn answer(&mut self, method: &str) -> Heard {
        let sent = Instant::now();
        let answer = self.responses.answer(&mut self.stream, method);
        let heard = timeout(self.patience, answer).await;
        answered_after(heard.unwrap_or(Heard::Late), sent)
    }

    /// Waits for an answer to begin, an interim one included, for no longer than this.
    pub(super) async fn wait(&mut self, limit: Duration) {
        let _ = timeout(limit, self.responses.begins(&mut self.stream)).await;
    }

    /// Ends the sender's side.
    pub(super) async fn finish(&mut self) {
        let _ = self.stream.shutdown().await;
    }
}

fn answered_after(heard: Heard, sent: Instant) -> Heard {
    match heard {
        Heard::Answer(mut answer) => {
            answer.after = sent.elapsed();
            Heard::Answer(answer)
        }
        other => other,
    }
}
