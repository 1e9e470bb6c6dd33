//! The page: a window on an inbox, in the browser of the person at this machine.
//!
//! It reads and shows what an inbox has, and lets entries be handled again. What erases is on the command line alone.
//! Other pages in the same browser, other programs on this machine and the articles themselves are not trusted:
//! `access` says how they are kept out.

mod access;
mod entry_path;
mod panel;
mod query;
mod watch;

mod shared;

mod view;

mod change;

mod route;

mod server;

pub(crate) use panel::{Action, Panel};
pub(crate) use server::{Listening, Page, PageArguments};
