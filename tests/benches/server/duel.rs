//! Two servers, by turns.

use article_webhook::fixture::DeliveryRequest;

use crate::{
    client::{Client, Road, request},
    common::median::median,
    role::Role,
};

/// What is sent to both servers, and how.
pub(crate) struct Duel<'a> {
    pub(crate) posts: &'a [DeliveryRequest],
    pub(crate) road: Road,
    /// The answer that both must give.
    pub(crate) status: u16,
    pub(crate) rounds: usize,
    /// How many requests one server gets before it is the other's turn.
    pub(crate) batch: usize,
}

impl Duel<'_> {
    /// What a request costs the first server, relative to the second: the median of all rounds.
    pub(crate) fn cost(&self, first: Role, second: Role) -> f64 {
        let requests: Vec<_> = self.posts.iter().map(request).collect();
        let servers = [first, second].map(Role::start);
        let mut clients = [0, 1].map(|index| Client::new(servers[index].address.port(), self.road));
        let mut turns = [requests.iter().cycle(), requests.iter().cycle()];
        let mut cost = |index: usize| {
            let before = servers[index].processor_time();
            for request in turns[index].by_ref().take(self.batch) {
                // A refusal may be lost: the server closes the connection of a peer that goes on sending.
                let status = clients[index].send(request).unwrap_or(401);
                assert_eq!(status, self.status, "one of the servers does not play its role");
            }
            (servers[index].processor_time() - before).as_secs_f64()
        };
        // The first round warms both up.
        _ = [cost(0), cost(1)];
        median((0..self.rounds).map(|round| {
            let (first, second) = if round % 2 == 0 {
                let first = cost(0);
                (first, cost(1))
            } else {
                let second = cost(1);
                (cost(0), second)
            };
            first / second
        }))
    }
}
