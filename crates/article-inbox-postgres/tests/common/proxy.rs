//! A TCP proxy before a PostgreSQL server, which fails as networks do. A transaction's COMMIT is a request of its own, and so is
//! a statement that commits by itself.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// What becomes of a request that commits.
#[allow(dead_code, reason = "not every test needs every part")]
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

#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    server: u16,
    /// Decides about the next commit.
    fate: Mutex<Box<dyn FnMut() -> Fate + Send>>,
    /// What the server says, and what it is replaced by.
    lie: Mutex<Option<Lie>>,
    /// Whether nothing is passed on.
    is_mute: AtomicBool,
}

/// Parts of the requests that commit.
const COMMITS: [&[u8]; 3] = [b"COMMIT\0", b".article_inbox_record(", b".article_inbox_complete("];

/// Bytes, and as many others.
type Lie = Vec<(Vec<u8>, Vec<u8>)>;

/// The two directions of a connection.
struct Link {
    client: TcpStream,
    server: TcpStream,
    /// How many more bytes the server's answer may have. `None`: any number.
    answer: Mutex<Option<usize>>,
    shared: Arc<Shared>,
}

#[allow(dead_code, reason = "not every test needs every part")]
impl Proxy {
    pub(crate) fn before(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let fate = Mutex::new(Box::new(|| Fate::Passed) as _);
        let shared =
            Shared { server, fate, lie: Mutex::default(), is_mute: AtomicBool::new(false) };
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

    pub(crate) fn fate(&self, fate: impl FnMut() -> Fate + Send + 'static) {
        *lock(&self.shared.fate) = Box::new(fate);
    }

    /// The next commit has this fate, and those after it are passed on.
    pub(crate) fn once(&self, fate: Fate) {
        let mut fate = Some(fate);
        self.fate(move || fate.take().unwrap_or(Fate::Passed));
    }

    pub(crate) fn lie(&self, lie: &[(&[u8], &[u8])]) {
        let lie = lie.iter().map(|(truth, lie)| (truth.to_vec(), lie.to_vec())).collect();
        *lock(&self.shared.lie) = Some(lie);
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
    let answer = Mutex::new(None);
    let link = Arc::new(Link { client, server, answer, shared: Arc::clone(shared) });
    let requests = Arc::clone(&link);
    thread::spawn(move || requests.pass_requests());
    thread::spawn(move || link.pass_answers());
}

impl Link {
    fn pass_requests(&self) {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = (&self.client).read(&mut bytes) {
            if self.shared.is_mute.load(Ordering::SeqCst) {
                continue;
            }
            let mut request = &bytes[..length];
            // A client sends it alone, because it waits for all answers before.
            let commits = COMMITS
                .iter()
                .any(|part| request.windows(part.len()).any(|window| window == *part));
            let fate = if commits { lock(&self.shared.fate)() } else { Fate::Passed };
            let mut is_cut = false;
            match fate {
                Fate::Passed => {}
                Fate::CutRequest(at) => {
                    request = &request[..at.min(length)];
                    is_cut = true;
                }
                Fate::CutAnswer(at) => *lock(&self.answer) = Some(at),
                Fate::Unanswered => *lock(&self.answer) = Some(usize::MAX),
            }
            if (&self.server).write_all(request).is_err() || is_cut {
                break;
            }
        }
        self.cut();
    }

    fn pass_answers(&self) {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = (&self.server).read(&mut bytes) {
            let rest = match &mut *lock(&self.answer) {
                None => usize::MAX,
                Some(usize::MAX) => continue,
                Some(rest) => {
                    let passed = *rest;
                    *rest = rest.saturating_sub(length);
                    passed
                }
            };
            let answer = &mut bytes[..length.min(rest)];
            for (truth, lie) in lock(&self.shared.lie).iter().flatten() {
                let found = answer.windows(truth.len()).position(|window| window == truth);
                if let Some(at) = found {
                    answer[at..at + lie.len()].copy_from_slice(lie);
                }
            }
            if (&self.client).write_all(answer).is_err() || rest <= length {
                break;
            }
        }
        self.cut();
    }

    fn cut(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
