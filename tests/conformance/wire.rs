//! What only bytes can say: how a request is framed, when its bytes are sent, and what becomes of
//! the connection.

mod abandoned;
mod budget;
mod draining;
mod expect;
mod forgotten;
pub(crate) mod hang_up;
mod keep_alive;
mod parser;
mod pipelined;
mod rotation;
mod runs;
mod unhurried;

/// The situations that the HTTP parser of any server refuses.
pub(crate) fn refused() -> Vec<&'static str> {
    let rows = parser::rows().into_iter().filter(parser::Row::is_refused);
    rows.map(|row| row.situation).collect()
}
