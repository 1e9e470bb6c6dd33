//! A PostgreSQL server for the tests: the one that `ARTICLE_TEST_POSTGRES_URL` names, or a private one, from the
//! distribution's programs.

mod free_port;
mod shared;
pub(crate) mod skipped;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{Ipv4Addr, TcpStream},
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::Once,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

pub(crate) use self::free_port::free_port;
#[allow(unused_imports, reason = "a test may need a server of its own alone")]
pub(crate) use self::shared::shared_url;
use self::{shared::URL, skipped::skip};

/// How long a server may take to start on a busy machine.
const START: Duration = Duration::from_secs(60);

/// Keeps the server of a folder. It does what each line of its input says, and ends the server when its input ends, which
/// comes with the end of this process, even by SIGKILL.
const GUARD: &str = r#"
    folder=$1; shift
    start() { "$@" >>"$folder/log" 2>&1 & server=$!; }
    crash() { [ -z "$server" ] || { kill -QUIT "$server"; wait "$server"; server=; }; }
    room() { rm -f "$folder"/small/filler; }
    start "$@"
    while read -r word; do "$word" "$@"; echo "$word"; done
    crash; rm -rf "$folder" 2>/dev/null
"#;

/// A private server. It ends with this value, and with the process of the tests, however that ends.
pub(crate) struct Server {
    pub(crate) port: u16,
    folder: TempDir,
    user: User,
    programs: PathBuf,
    guard: Child,
    output: BufReader<ChildStdout>,
}

#[allow(dead_code, reason = "not every test needs every part")]
impl Server {
    /// Starts a server with these lines added to its `postgresql.conf`.
    pub(crate) fn start(settings: &[&str]) -> Option<Self> {
        Self::start_by(&[], settings)
    }

    /// Starts a server whose files are in a new folder of this one.
    pub(crate) fn start_in(parent: &Path, settings: &[&str]) -> Option<Self> {
        Self::made(&[], folder_in(parent), settings)
    }

    /// The same, with its guard run by another program.
    pub(crate) fn start_by(by: &[&str], settings: &[&str]) -> Option<Self> {
        Self::made(by, folder(), settings)
    }

    fn made(by: &[&str], folder: TempDir, settings: &[&str]) -> Option<Self> {
        let Some(programs) = programs() else {
            static REPORTED: Once = Once::new();
            let why = "no PostgreSQL programs in /usr/lib/postgresql/*/bin or on the PATH: install the package postgresql";
            skip(&REPORTED, &format!("{why}, or name a server in {URL}"));
            return None;
        };
        let user = User::unprivileged();
        user.own(folder.path());
        let data = folder.path().join("data");
        let mut initdb = user.command(&programs.join("initdb"), folder.path());
        initdb.args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"]);
        succeed(initdb.args(["--no-sync", "--pgdata"]).arg(&data));

        let port = free_port();
        let socket = folder.path().display();
        let mut lines = vec![
            format!("port = {port}"),
            "listen_addresses = '127.0.0.1'".into(),
            format!("unix_socket_directories = '{socket}'"),
            "shared_buffers = 64MB".into(),
            "max_wal_size = 128MB".into(),
            "max_connections = 200".into(),
            "log_min_messages = fatal".into(),
        ];
        lines.extend(settings.iter().map(ToString::to_string));
        add(&data.join("postgresql.conf"), &lines);
        Some(Self::guarded(by, port, folder, user, programs))
    }

    /// Starts a standby that follows this server under the name `standby`, on a port that is free.
    pub(crate) fn standby(&self, port: u16) -> Self {
        let (user, folder) = (User::unprivileged(), folder());
        user.own(folder.path());
        let data = folder.path().join("data");
        let mut copy = user.command(&self.programs.join("pg_basebackup"), folder.path());
        copy.args(["--host=127.0.0.1", "--username=postgres", "--checkpoint=fast", "--no-sync"]);
        copy.arg(format!("--port={}", self.port)).arg("--pgdata").arg(&data);
        succeed(&mut copy);
        let lines = [
            format!("port = {port}"),
            format!("unix_socket_directories = '{}'", folder.path().display()),
            format!(
                "primary_conninfo = 'host=127.0.0.1 port={} user=postgres application_name=standby'",
                self.port
            ),
            "synchronous_standby_names = ''".into(),
        ];
        // This file counts before the other, and the last line of a setting in it.
        add(&data.join("postgresql.auto.conf"), &lines);
        add(&data.join("standby.signal"), &[]);
        Self::guarded(&[], port, folder, user, self.programs.clone())
    }

    fn guarded(by: &[&str], port: u16, folder: TempDir, user: User, programs: PathBuf) -> Self {
        let mut guard = match by {
            [] => user.command(Path::new("sh"), folder.path()),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).args(&user.by).arg("sh").current_dir(folder.path());
                command
            }
        };
        let mut guard = guard
            .args(["-c", GUARD, "sh"])
            .arg(folder.path())
            .arg(programs.join("postgres"))
            .arg("-D")
            .arg(folder.path().join("data"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(guard.stdout.take().unwrap());
        let mut server = Self { port, folder, user, programs, guard, output };
        server.wait_until_ready();
        server
    }

    /// The URL of its superuser.
    pub(crate) fn url(&self) -> String {
        format!("postgresql://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// A folder that belongs to the server's user, with the server's data in it.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends it as `pg_ctl stop -m immediate` does.
    pub(crate) fn crash(&mut self) {
        self.guard("crash");
    }

    /// Starts it after a crash.
    pub(crate) fn start_again(&mut self) {
        self.guard("start");
        self.wait_until_ready();
    }

    /// Has the guard do something, and waits until it is done.
    pub(crate) fn guard(&mut self, word: &str) {
        writeln!(self.guard.stdin.as_mut().unwrap(), "{word}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), word, "{}", self.log());
    }

    fn wait_until_ready(&mut self) {
        let end = Instant::now() + START;
        loop {
            let port = self.port.to_string();
            let program = self.programs.join("pg_isready");
            let mut ready = self.user.command(&program, self.folder.path());
            ready.args(["--quiet", "--host=127.0.0.1", "--port", &port]);
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok()
                && ready.status().unwrap().success()
            {
                return;
            }
            let has_ended = self.guard.try_wait().unwrap().is_some();
            assert!(
                !has_ended && Instant::now() < end,
                "the server does not start: {}",
                self.log()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// Who runs the programs. PostgreSQL, like PgBouncer, refuses to run as root.
#[derive(Clone)]
pub(crate) struct User {
    /// The program that runs others as this user.
    pub(crate) by: Vec<String>,
    ids: Option<(u32, u32)>,
}

#[allow(dead_code, reason = "not every test needs every part")]
impl User {
    pub(crate) fn unprivileged() -> Self {
        if id(&["-u"]) != 0 {
            return Self { by: Vec::new(), ids: None };
        }
        let (user, group) = (id(&["-u", "nobody"]), id(&["-g", "nobody"]));
        let by =
            ["setpriv", &format!("--reuid={user}"), &format!("--regid={group}"), "--clear-groups"];
        Self { by: by.map(Into::into).to_vec(), ids: Some((user, group)) }
    }

    pub(crate) fn own(&self, path: &Path) {
        if let Some((user, group)) = self.ids {
            chown(path, Some(user), Some(group)).unwrap();
        }
    }

    pub(crate) fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = match &self.by[..] {
            [] => Command::new(program),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        };
        command.current_dir(folder);
        command
    }
}

/// In memory where that can be: a server that syncs each commit waits for no disk there.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    folder_in(&parent)
}

fn folder_in(parent: &Path) -> TempDir {
    tempfile::Builder::new().prefix("article-pg-").tempdir_in(parent).unwrap()
}

fn add(file: &Path, lines: &[String]) {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
    file.write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The newest of the distribution's programs.
pub(crate) fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok();
    let mut found: Vec<_> = versions
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin"))
        .collect();
    found.sort_by_key(|folder| {
        let version = folder.parent().and_then(Path::file_name);
        version.and_then(|version| version.to_str()?.parse::<u32>().ok())
    });
    found.reverse();
    let path = std::env::var_os("PATH").unwrap_or_default();
    found.extend(std::env::split_paths(&path));
    found.into_iter().find(|folder| folder.join("initdb").exists())
}

/// A number of a user or a group, as the program `id` says it.
fn id(arguments: &[&str]) -> u32 {
    let output = Command::new("id").args(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}
