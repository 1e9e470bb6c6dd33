use std::{
    hash::{BuildHasher as _, RandomState},
    iter,
    net::{SocketAddr, TcpListener},
};

/// A port that nothing listens on. It is below those that the system chooses from (32768 and up, unless set otherwise), so
/// that no other test gets it meanwhile.
pub(crate) fn free_port() -> SocketAddr {
    let ports = iter::repeat_with(|| 20_000 + (RandomState::new().hash_one(()) % 12_000) as u16);
    let addresses = ports.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    addresses.take(1_000).find(|it| TcpListener::bind(it).is_ok()).expect("a port is free")
}
