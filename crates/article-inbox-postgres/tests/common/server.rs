//! A PostgreSQL server for the tests: the one that `ARTICLE_TEST_POSTGRES_URL` names, or a private one, from the
//! distribution's programs.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::fs::chown,
    panic::catch_unwind,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// Names a server that is there, by the URL of a role that may create schemas.
const URL: &str = "ARTICLE_TEST_POSTGRES_URL";

/// How long a server may take to start on a busy machine.
const START: Duration = Duration::from_secs(60);

/// A private server. It ends with this value, and with the process of the tests, however that ends.
pub(crate) struct Server {
    port: u16,
    folder: TempDir,
    /// Ends the server when its input ends.
    guard: Child,
}

/// The URL of the server that tests share, and the server if it is a private one; an error if that did not start.
type Shared = Result<Option<(String, Option<Server>)>, ()>;

/// The URL of the server that the tests of this process share. `None`, said aloud, if there are no programs to start one.
pub(crate) fn shared_url() -> Option<String> {
    static SHARED: OnceLock<Shared> = OnceLock::new();
    // A server that does not start is not tried again by each test.
    let shared = SHARED.get_or_init(|| {
        catch_unwind(|| {
            if let Ok(url) = std::env::var(URL) {
                return Some((url, None));
            }
            let server = Server::start(&[])?;
            Some((server.url(), Some(server)))
        })
        .map_err(drop)
    });
    let shared = shared.as_ref().expect("the server starts");
    shared.as_ref().map(|(url, _)| url.clone())
}

impl Server {
    /// Starts a server with these lines added to its `postgresql.conf`.
    pub(crate) fn start(settings: &[&str]) -> Option<Self> {
        let Some(programs) = programs() else {
            eprintln!(
                "skipped: no PostgreSQL programs in /usr/lib/postgresql/*/bin or on the PATH: install the package \
                 postgresql, or name a server in {URL}"
            );
            return None;
        };
        // In memory where that can be: a server that syncs each commit waits for no disk there.
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = tempfile::Builder::new().prefix("article-pg-").tempdir_in(parent).unwrap();
        // PostgreSQL refuses to run as root.
        let mut as_user = Vec::new();
        if id(&["-u"]) == 0 {
            let (user, group) = (id(&["-u", "nobody"]), id(&["-g", "nobody"]));
            chown(folder.path(), Some(user), Some(group)).unwrap();
            as_user = vec!["setpriv".to_owned(), format!("--reuid={user}")];
            as_user.extend([format!("--regid={group}"), "--clear-groups".to_owned()]);
        }
        let data = folder.path().join("data");
        let initdb = programs.join("initdb");
        let output = command(&as_user, &initdb)
            .args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"])
            .args(["--no-sync", "--pgdata"])
            .arg(&data)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "initdb: {}", String::from_utf8_lossy(&output.stderr));

        let port =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
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
        let mut file =
            fs::OpenOptions::new().append(true).open(data.join("postgresql.conf")).unwrap();
        file.write_all(lines.join("\n").as_bytes()).unwrap();

        // The shell waits for the end of its input, which comes with the end of this process, even by SIGKILL.
        let script = r#"folder=$1; shift; "$@" & server=$!; read -r _
            kill -QUIT "$server"; wait "$server"; rm -rf "$folder""#;
        let guard = command(&as_user, Path::new("sh"))
            .args(["-c", script, "sh"])
            .arg(folder.path())
            .arg(programs.join("postgres"))
            .arg("-D")
            .arg(&data)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut server = Self { port, folder, guard };
        server.wait_until_ready(&as_user, &programs);
        Some(server)
    }

    /// The URL of its superuser.
    pub(crate) fn url(&self) -> String {
        format!("postgresql://postgres@127.0.0.1:{}/postgres", self.port)
    }

    fn wait_until_ready(&mut self, as_user: &[String], programs: &Path) {
        let end = Instant::now() + START;
        loop {
            let port = self.port.to_string();
            let mut ready = command(as_user, &programs.join("pg_isready"));
            ready
                .args(["--quiet", "--host=127.0.0.1", "--port", &port])
                .current_dir(self.folder.path());
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok()
                && ready.status().unwrap().success()
            {
                return;
            }
            if Instant::now() > end || self.guard.try_wait().unwrap().is_some() {
                let mut said = String::new();
                drop(self.guard.stdin.take());
                let _ = self.guard.stderr.take().unwrap().read_to_string(&mut said);
                panic!("the server does not start: {said}");
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// A command as another user.
fn command(as_user: &[String], program: &Path) -> Command {
    match as_user {
        [] => Command::new(program),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    }
}

/// The newest of the distribution's programs.
fn programs() -> Option<PathBuf> {
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
