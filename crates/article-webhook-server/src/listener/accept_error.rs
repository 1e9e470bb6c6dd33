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

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn an_accept_error_says_what_to_do() {
        use rustix::io::Errno;

        let error = |errno: Errno| AcceptError::from(io::Error::from(errno));
        assert_eq!(error(Errno::MFILE), AcceptError::NoDescriptor);
        assert_eq!(error(Errno::NFILE), AcceptError::NoDescriptor);
        assert_eq!(error(Errno::CONNABORTED), AcceptError::Closed);
        assert_eq!(error(Errno::NOBUFS), AcceptError::Other);
        assert_eq!(error(Errno::PERM), AcceptError::Other);
    }
}
