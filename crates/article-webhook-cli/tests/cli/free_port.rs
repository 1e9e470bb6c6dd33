use std::net::SocketAddr;

#[allow(
    clippy::duplicate_mod,
    reason = "the server of PostgreSQL, which is not always built, has it too"
)]
#[path = "../../../article-webhook-postgres/tests/common/free_port.rs"]
mod port;

/// An address of this machine that nothing listens on.
pub(crate) fn free_port() -> SocketAddr {
    ([127, 0, 0, 1], port::free_port()).into()
}
