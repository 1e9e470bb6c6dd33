//! The listening socket: binding it, accepting connections, and what happens when there is no room for another.

mod accept_error;
mod acceptor;
mod bind;
mod shortage;

pub(crate) use acceptor::Acceptor;
pub(crate) use bind::bind;
