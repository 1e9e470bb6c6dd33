use std::io;

/// Why a connection could not be accepted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AcceptError {
    /// The peer has closed the connection already.
    Closed,
    /// The process or the system has no file descriptor left. The connection stays in the backlog.
    NoDescriptor,
    /// Memory, firewall or network: it may pass with time.
    Other,
}

impl From<io::Error> for AcceptError {
    fn from(error: io::Error) -> Self {
        // The same numbers on every Unix. The standard library has no kind for them.
        const ENFILE: i32 = 23;
        const EMFILE: i32 = 24;
        match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset, _) => Self::Closed,
            (_, Some(ENFILE | EMFILE)) => Self::NoDescriptor,
            _ => Self::Other,
        }
    }
}
