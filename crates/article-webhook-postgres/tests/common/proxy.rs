//! A TCP proxy before a PostgreSQL server, which fails as networks do.

#![allow(dead_code, reason = "not every test needs every part")]

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// What becomes of a request that commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is passed on, and so is its answer.
    Passed,
    /// The connection is cut after these bytes of it.
    CutRequest(usize),
    /// The connection is cut after these bytes of its answer, which the server has given.
    CutAnswer(usize),
    /// Its answer never comes, and the connection stays.
    Unanswered,
}

/// Parts of the transactions of calls. The COMMIT of each is a request of its own.
pub(crate) const RECORD: &[u8] = b"INSERT INTO article_inbox_bodies";
pub(crate) const DUPLICATE: &[u8] = b"pg_logical_emit_message";
pub(crate) const SETTLE: &[u8] = b"UPDATE article_inbox_entries";
pub(crate) const CLAIM: &[u8] = b"FOR UPDATE SKIP LOCKED";

const COMMIT: &[u8] = b"COMMIT\0";

#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    server: u16,
    /// Decides about the next request that commits, by all requests of its transaction.
    fate: Mutex<Decide>,
    /// The last request whose fate was decided.
    last: Mutex<Option<Arc<Mutex<Exchange>>>>,
    /// How many connections it has cut.
    cuts: AtomicUsize,
    /// What the server says, and what it is replaced by.
    lie: Mutex<Option<Lie>>,
    /// Whether nothing is passed on.
    is_mute: AtomicBool,
    /// How long a request is on its way, in milliseconds.
    delay: AtomicU64,
}

/// `None`: it is not one of those that are looked for, and is passed on.
type Decide = Box<dyn FnMut(&[u8]) -> Option<Fate> + Send>;

/// Bytes, and as many others.
type Lie = Vec<(Vec<u8>, Vec<u8>)>;

/// A request that commits, and its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange {
    fate: Fate,
    /// How many bytes of it were passed on, and of its answer.
    pub(crate) request: usize,
    pub(crate) answer: usize,
    pub(crate) is_cut: bool,
}

/// The two directions of a connection.
struct Link {
    client: TcpStream,
    server: TcpStream,
    /// What it carries since the last request that commits.
    exchange: Mutex<Option<Arc<Mutex<Exchange>>>>,
    /// The requests since the last one that commits.
    transaction: Mutex<Vec<u8>>,
    shared: Arc<Shared>,
}

impl Proxy {
    pub(crate) fn before(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Shared {
            server,
            fate: Mutex::new(Box::new(|_| None)),
            last: Mutex::default(),
            cuts: AtomicUsize::new(0),
            lie: Mutex::default(),
            is_mute: AtomicBool::new(false),
            delay: AtomicU64::new(0),
        };
        let proxy = Self { port, shared: Arc::new(shared) };
        let shared = Arc::clone(&proxy.shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A server that is down refuses, and so does the proxy.
                if let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, shared.server)) {
                    run(client, server, &shared);
                }
            }
        });
        proxy
    }

    pub(crate) fn fate(&self, mut fate: impl FnMut() -> Fate + Send + 'static) {
        *lock(&self.shared.fate) = Box::new(move |_| Some(fate()));
    }

    /// The next commit has this fate, and those after it are passed on.
    pub(crate) fn once(&self, fate: Fate) {
        let mut fate = Some(fate);
        self.fate(move || fate.take().unwrap_or(Fate::Passed));
    }

    /// The same, of the next one whose transaction has this part alone.
    pub(crate) fn once_of(&self, part: &'static [u8], fate: Fate) {
        let mut fate = Some(fate);
        *lock(&self.shared.last) = None;
        *lock(&self.shared.fate) = Box::new(move |request| match contains(request, part) {
            true => fate.take(),
            false => None,
        });
    }

    /// The request that [`once_of`](Self::once_of) was for, once it has come.
    pub(crate) fn last(&self) -> Option<Exchange> {
        lock(&self.shared.last).as_ref().map(|exchange| *lock(exchange))
    }

    /// How many connections it has cut.
    pub(crate) fn cuts(&self) -> usize {
        self.shared.cuts.load(Ordering::SeqCst)
    }

    pub(crate) fn lie(&self, lie: &[(&[u8], &[u8])]) {
        let lie = lie.iter().map(|(truth, lie)| (truth.to_vec(), lie.to_vec())).collect();
        *lock(&self.shared.lie) = Some(lie);
    }

    /// A request is so many milliseconds on its way from now on.
    pub(crate) fn slow(&self, by: u64) {
        self.shared.delay.store(by, Ordering::SeqCst);
    }

    /// The server says nothing from now on.
    pub(crate) fn mute(&self) {
        self.shared.is_mute.store(true, Ordering::SeqCst);
    }

    pub(crate) fn unmute(&self) {
        self.shared.is_mute.store(false, Ordering::SeqCst);
    }
}

fn run(client: TcpStream, server: TcpStream, shared: &Arc<Shared>) {
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
    }
    let (exchange, transaction) = (Mutex::default(), Mutex::default());
    let link = Link { client, server, exchange, transaction, shared: Arc::clone(shared) };
    let requests = Arc::new(link);
    let answers = Arc::clone(&requests);
    thread::spawn(move || requests.pass_requests());
    thread::spawn(move || answers.pass_answers());
}

impl Link {
    fn pass_requests(&self) {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = (&self.client).read(&mut bytes) {
            if self.shared.is_mute.load(Ordering::SeqCst) {
                continue;
            }
            thread::sleep(Duration::from_millis(self.shared.delay.load(Ordering::SeqCst)));
            let mut request = &bytes[..length];
            let mut is_cut = false;
            if let Some(exchange) = self.exchange_of(request) {
                let mut exchange = lock(&exchange);
                if let Fate::CutRequest(at) = exchange.fate {
                    request = &request[..length.min(at - exchange.request)];
                    is_cut = exchange.request + request.len() == at;
                }
                exchange.request += request.len();
            }
            if (&self.server).write_all(request).is_err() {
                break;
            }
            if is_cut {
                self.note_cut();
                break;
            }
        }
        self.cut();
    }

    /// What a request belongs to: a new one, if it commits.
    fn exchange_of(&self, request: &[u8]) -> Option<Arc<Mutex<Exchange>>> {
        let mut current = lock(&self.exchange);
        if current.as_ref().is_some_and(|exchange| lock(exchange).fate != Fate::Passed) {
            return current.clone();
        }
        let mut transaction = lock(&self.transaction);
        transaction.extend_from_slice(request);
        // A client sends it alone, because it waits for all answers before.
        if contains(request, COMMIT) {
            let fate = lock(&self.shared.fate)(&std::mem::take(&mut *transaction));
            let fate_or_passed = fate.unwrap_or(Fate::Passed);
            let exchange = Exchange { fate: fate_or_passed, request: 0, answer: 0, is_cut: false };
            *current = Some(Arc::new(Mutex::new(exchange)));
            if fate.is_some() {
                lock(&self.shared.last).clone_from(&current);
            }
        }
        current.clone()
    }

    fn pass_answers(&self) {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = (&self.server).read(&mut bytes) {
            let (mut passed, mut is_cut) = (length, false);
            if let Some(exchange) = &*lock(&self.exchange) {
                let mut exchange = lock(exchange);
                match exchange.fate {
                    Fate::Unanswered => continue,
                    Fate::CutAnswer(at) => {
                        passed = length.min(at - exchange.answer);
                        is_cut = exchange.answer + passed == at;
                    }
                    // The server may answer what it has whole before the connection is cut.
                    Fate::CutRequest(at) if exchange.request == at => continue,
                    Fate::Passed | Fate::CutRequest(_) => {}
                }
                exchange.answer += passed;
            }
            let answer = &mut bytes[..passed];
            for (truth, lie) in lock(&self.shared.lie).iter().flatten() {
                let found = answer.windows(truth.len()).position(|window| window == truth);
                if let Some(at) = found {
                    answer[at..at + lie.len()].copy_from_slice(lie);
                }
            }
            if (&self.client).write_all(answer).is_err() {
                break;
            }
            if is_cut {
                self.note_cut();
                break;
            }
        }
        self.cut();
    }

    fn note_cut(&self) {
        self.shared.cuts.fetch_add(1, Ordering::SeqCst);
        if let Some(exchange) = &*lock(&self.exchange) {
            lock(exchange).is_cut = true;
        }
    }

    fn cut(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
