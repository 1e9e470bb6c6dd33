//! Deliveries to a child on several connections at once.

use std::{net::SocketAddr, thread};

use crate::{
    recording::Answers,
    service::{Line, Parcel},
};

/// Delivers each row of parcels on a connection of its own, one after the other. Says which answers were given on which
/// connection, and with which status.
pub(crate) fn deliver(address: SocketAddr, rows: &[Vec<Parcel>]) -> (Answers, Vec<(String, u16)>) {
    let mut answers = Answers::new();
    let mut statuses = Vec::new();
    thread::scope(|scope| {
        let threads: Vec<_> =
            rows.iter().map(|row| scope.spawn(|| deliver_row(address, row))).collect();
        for thread in threads {
            let (port, row) = thread.join().expect("a sender does not panic");
            answers.entry(port).or_default().extend(row.iter().map(|(job_id, _)| job_id.clone()));
            statuses.extend(row);
        }
    });
    (answers, statuses)
}

fn deliver_row(address: SocketAddr, row: &[Parcel]) -> (u16, Vec<(String, u16)>) {
    let mut line = Line::open(address).expect("the receiver listens");
    let mut statuses = Vec::new();
    for parcel in row {
        // A process that dies meanwhile gives no answer.
        let Ok(status) = line.deliver(parcel) else { break };
        statuses.push((parcel.job_id.clone(), status));
    }
    (line.port(), statuses)
}

/// `count` parcels in `rows` rows, whose ids begin with this word.
pub(crate) fn parcels(word: &str, rows: usize, each: usize, bytes: usize) -> Vec<Vec<Parcel>> {
    let parcel = |row, nth| Parcel::new(&format!("{word}-{row}-{nth}"), bytes);
    (0..rows).map(|row| (0..each).map(|nth| parcel(row, nth)).collect()).collect()
}
