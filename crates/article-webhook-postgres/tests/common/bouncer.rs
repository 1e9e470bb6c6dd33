//! PgBouncer before a private server.

use std::{
    fs,
    net::{Ipv4Addr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::Once,
    thread,
    time::{Duration, Instant},
};

use crate::server::{Server, User, free_port, skipped::skip};

/// Ends PgBouncer when its input ends, which comes with the end of this process.
const GUARD: &str = r#"trap "" PIPE; "$@" 2>/dev/null & read -r _; kill $!; wait"#;

pub(crate) struct Bouncer {
    pub(crate) port: u16,
    program: PathBuf,
    /// That of the server, in which it has its files.
    folder: PathBuf,
    guard: Child,
}

#[allow(dead_code, reason = "not every test needs every part")]
impl Bouncer {
    /// Starts it. Its databases are `by_transaction` and `by_statement`, by their modes, and `postgres`, which is as the first.
    /// `None` if there is no PgBouncer, which is reported.
    pub(crate) fn before(server: &Server) -> Option<Self> {
        let Some(program) = program() else {
            static REPORTED: Once = Once::new();
            let why = "no pgbouncer in /usr/sbin or on the PATH: install the package pgbouncer";
            skip(&REPORTED, why);
            return None;
        };
        let (port, folder) = (free_port(), server.folder().to_owned());
        let database = format!("host=127.0.0.1 port={} dbname=postgres", server.port);
        let settings = format!(
            "[databases]\n\
             postgres = {database} pool_mode=transaction\n\
             by_transaction = {database} pool_mode=transaction\n\
             by_statement = {database} pool_mode=statement\n\
             [pgbouncer]\n\
             listen_addr = 127.0.0.1\n\
             listen_port = {port}\n\
             unix_socket_dir =\n\
             auth_type = trust\n\
             auth_file = {folder}/users\n\
             max_client_conn = 1000\n\
             default_pool_size = 20\n\
             server_login_retry = 1\n",
            folder = folder.display()
        );
        fs::write(folder.join("users"), "\"postgres\" \"\"\n\"inbox\" \"\"\n").unwrap();
        fs::write(folder.join("pgbouncer.ini"), settings).unwrap();
        let guard = start(&program, &folder, port);
        Some(Self { port, program, folder, guard })
    }

    /// Ends it, and starts it again.
    pub(crate) fn restart(&mut self) {
        self.end();
        self.guard = start(&self.program, &self.folder, self.port);
    }

    fn end(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        self.end();
    }
}

fn start(program: &Path, folder: &Path, port: u16) -> Child {
    let guard = User::unprivileged()
        .command(Path::new("sh"), folder)
        .args(["-c", GUARD, "sh"])
        .arg(program)
        .args(["--quiet", "pgbouncer.ini"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(start.elapsed() < Duration::from_secs(30), "PgBouncer does not start");
        thread::sleep(Duration::from_millis(20));
    }
    guard
}

fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders.map(|folder| folder.join("pgbouncer")).find(|program| program.exists())
}
