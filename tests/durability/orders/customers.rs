//! What customers want: each order until it is answered.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use crate::service::Line;

#[derive(Debug, Default)]
pub(crate) struct Customers {
    address: Mutex<Option<SocketAddr>>,
    /// The job that each order returned.
    ordered: Mutex<BTreeMap<String, String>>,
    pub(crate) are_done: AtomicBool,
}

impl Customers {
    pub(crate) fn move_to(&self, address: Option<SocketAddr>) {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner) = address;
    }

    pub(crate) fn ordered(&self) -> BTreeMap<String, String> {
        self.ordered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Wants one article after the other, until they are done. An order without an answer is repeated, as an application
    /// does after a crash.
    pub(crate) fn want(&self, line: usize) {
        for nth in 0.. {
            if self.are_done.load(Ordering::Relaxed) {
                return;
            }
            let intent = format!("post-{line}-{nth}");
            while !self.order(&intent) {
                thread::sleep(Duration::from_millis(10));
            }
            thread::sleep(Duration::from_millis(80));
        }
    }

    /// Whether it was answered.
    fn order(&self, intent: &str) -> bool {
        let address = *self.address.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(address) = address else { return false };
        let answer =
            Line::open(address).and_then(|mut line| line.get(&format!("/orders/{intent}")));
        match answer {
            Ok((200, job_id)) => {
                let mut ordered = self.ordered.lock().unwrap_or_else(PoisonError::into_inner);
                ordered.insert(intent.to_owned(), job_id);
                true
            }
            Ok((409, _)) => true,
            Ok(_) | Err(_) => false,
        }
    }
}
