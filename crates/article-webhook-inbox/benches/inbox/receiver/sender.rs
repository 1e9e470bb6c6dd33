use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use article_webhook::fixture::{self, DeliveryRequest};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{Mutex, mpsc},
    task::JoinSet,
    time::sleep_until,
};

use crate::{bodies::job_id, load::Lap};

const PLACE: &str = "job_0123456789abcde";

/// Requests as bytes, each for another job.
#[derive(Clone)]
struct Requests(Vec<(Vec<u8>, [usize; 2])>);

impl Requests {
    fn new() -> Self {
        Self(
            (0..64)
                .map(|seed| request(&fixture::generated(seed, 16 * 1024).job_id(PLACE)))
                .collect(),
        )
    }

    /// The bytes of the next request.
    fn next(&mut self, random: &mut fastrand::Rng) -> &[u8] {
        let index = random.usize(..self.0.len());
        let job = job_id(random);
        let (bytes, places) = &mut self.0[index];
        for place in *places {
            bytes[place..place + PLACE.len()].copy_from_slice(job.as_str().as_bytes());
        }
        bytes
    }
}

/// A request, and the positions of the job id in its head and its body.
fn request(post: &DeliveryRequest) -> (Vec<u8>, [usize; 2]) {
    let mut request = b"POST / HTTP/1.1\r\nHost: localhost\r\n".to_vec();
    for (name, value) in post.headers() {
        request.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    request.extend_from_slice(b"\r\n");
    request.extend_from_slice(post.bytes());
    let windows = request.windows(PLACE.len()).enumerate();
    let places = windows.filter(|(_, window)| *window == PLACE.as_bytes()).map(|(place, _)| place);
    let places: Vec<usize> = places.collect();
    (request, places.try_into().expect("the id stands in head and body"))
}

/// A connection that stays open.
struct Connection(TcpStream);

impl Connection {
    async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self(stream)
    }

    /// Returns when the answer was read. It must be 200.
    async fn send(&mut self, request: &[u8]) {
        self.0.write_all(request).await.unwrap();
        let mut answer = Vec::with_capacity(512);
        loop {
            let read = self.0.read_buf(&mut answer).await.unwrap();
            assert_ne!(read, 0, "the receiver keeps its connections");
            let text = String::from_utf8_lossy(&answer);
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                assert!(head.starts_with("HTTP/1.1 200"), "{head}");
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                if body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0) {
                    return;
                }
            }
        }
    }
}

/// Sends as fast as the receiver answers, over that many connections, for that long.
pub(crate) async fn flood(address: SocketAddr, connections: usize, turn: Duration) -> Lap {
    let mut tasks = JoinSet::new();
    let requests = Requests::new();
    let start = Instant::now();
    for _ in 0..connections {
        let mut requests = requests.clone();
        tasks.spawn(async move {
            let mut connection = Connection::open(address).await;
            let mut random = fastrand::Rng::new();
            let mut waits = Vec::new();
            while start.elapsed() < turn {
                let sent = Instant::now();
                connection.send(requests.next(&mut random)).await;
                waits.push(sent.elapsed());
            }
            waits
        });
    }
    let waits: Vec<Duration> = tasks.join_all().await.into_iter().flatten().collect();
    Lap { rate: waits.len() as f64 / start.elapsed().as_secs_f64(), waits }
}

/// Sends at a fixed rate over that many connections, whether or not earlier requests were answered. Each is timed from
/// the moment at which it was due.
pub(crate) async fn pace(
    address: SocketAddr,
    connections: usize,
    rate: u32,
    turn: Duration,
) -> Lap {
    let (sender, times) = mpsc::unbounded_channel::<Instant>();
    let times = Arc::new(Mutex::new(times));
    let mut tasks = JoinSet::new();
    let requests = Requests::new();
    for _ in 0..connections {
        let (times, mut requests) = (Arc::clone(&times), requests.clone());
        tasks.spawn(async move {
            let mut connection = Connection::open(address).await;
            let mut random = fastrand::Rng::new();
            let mut waits = Vec::new();
            loop {
                let time = times.lock().await.recv().await;
                let Some(time) = time else { return waits };
                connection.send(requests.next(&mut random)).await;
                waits.push(time.elapsed());
            }
        });
    }
    let start = Instant::now();
    let between = Duration::from_secs(1) / rate;
    for time in (0..).map(|index| start + between * index).take_while(|time| *time < start + turn) {
        sleep_until(time.into()).await;
        sender.send(time).unwrap();
    }
    drop(sender);
    let waits: Vec<Duration> = tasks.join_all().await.into_iter().flatten().collect();
    Lap { rate: waits.len() as f64 / start.elapsed().as_secs_f64(), waits }
}
