//! The proxies: programs of the distribution, each in a private folder.

use std::{
    env, fs,
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::run;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Nginx,
    Haproxy,
    Caddy,
}

/// Ends the proxy when its own input ends, which is when the test ends, in whatever way.
const GUARD: &str = r#""$@" </dev/null & cat >/dev/null; kill -9 $!; wait $!"#;

/// A shell, because not every user has the folder of nginx and HAProxy on the path.
fn shell(script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("PATH=$PATH:/usr/sbin:/usr/local/sbin; {script}"), "sh"]);
    shell
}

impl Program {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
            Self::Caddy => "caddy",
        }
    }

    /// Says so if the program is missing.
    pub(crate) fn is_installed(self) -> bool {
        let name = self.name();
        let found = shell("command -v \"$1\"").arg(name).stdout(Stdio::null()).status();
        let is_installed = found.expect("there is a shell").success();
        if !is_installed {
            assert!(
                env::var_os("CI").is_none(),
                "{name} is not installed: install the package {name}"
            );
            run::say(&format!("{name}: skipped: it is not installed"));
        }
        is_installed
    }
}

/// A proxy that runs, until this value is dropped.
pub(crate) struct Proxy {
    process: Child,
    folder: TempDir,
}

impl Proxy {
    /// Starts it in its folder, where it writes everything that it writes.
    pub(crate) fn start(program: Program, folder: TempDir, configuration: &str) -> Self {
        let file = folder.path().join("configuration");
        fs::write(&file, configuration).expect("the folder is writable");
        let log = fs::File::create(folder.path().join("log")).expect("the folder is writable");
        let errors = log.try_clone().expect("a file has two handles");
        let mut command = shell(GUARD);
        command.arg(program.name());
        match program {
            Program::Nginx => command.args(["-e", "stderr", "-p"]).arg(folder.path()).arg("-c"),
            Program::Haproxy => command.args(["-db", "-f"]),
            Program::Caddy => command.args(["run", "--adapter", "caddyfile", "--config"]),
        };
        let process = command
            .arg(file)
            .current_dir(&folder)
            // Where Caddy keeps its state.
            .env("HOME", folder.path())
            .env("XDG_CONFIG_HOME", folder.path())
            .env("XDG_DATA_HOME", folder.path())
            .stdin(Stdio::piped())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .expect("there is a shell");
        Self { process, folder }
    }

    pub(crate) fn wait_for(&self, address: SocketAddr) {
        let end = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < end, "the proxy does not listen:\n{}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        _ = self.process.wait();
    }
}
