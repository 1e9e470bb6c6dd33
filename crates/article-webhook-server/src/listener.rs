//! The listening socket: binding it, and accepting connections.

mod accept_error;
mod acceptor;
mod bind;

pub(crate) use acceptor::Acceptor;
pub(crate) use bind::bind;
