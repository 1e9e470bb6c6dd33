use std::{
    hash::{BuildHasher as _, RandomState},
    iter,
    net::{Ipv4Addr, TcpListener},
};

/// A port that nothing listens on. It is below those that the system chooses from (32768 and up, unless set otherwise), so
/// that no other test gets it before it is used, nor between two starts of a server, and no connection to it that comes too
/// early meets itself.
pub(crate) fn free_port() -> u16 {
    let free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let ports = iter::repeat_with(|| 20_000 + (RandomState::new().hash_one(()) % 12_000) as u16);
    ports.take(1_000).find(free).expect("a port is free")
}
