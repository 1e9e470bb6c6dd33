use std::{
    env::{self, consts::EXE_SUFFIX},
    io::{BufRead, BufReader, Lines, Read, Write},
    net::{SocketAddr, TcpStream},
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use article_webhook_axum::fixture::{self, DeliveryRequest};
#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A running example on a free port, whose output is read line by line. Killed when dropped.
pub(crate) struct Program {
    pub(crate) address: SocketAddr,
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
    /// Its working directory, and the default place of its files.
    _folder: TempDir,
}

impl Program {
    /// Starts an example and waits until it listens.
    pub(crate) fn start(example: &str) -> Self {
        Self::run(&mut command(example))
    }

    pub(crate) fn run(command: &mut Command) -> Self {
        let command = command
            .env("ARTICLE_WEBHOOK_TOKEN", fixture::TOKEN)
            .env("ARTICLE_WEBHOOK_ADDR", "127.0.0.1:0");
        let folder = tempfile::tempdir().unwrap();
        let command = command.current_dir(&folder);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = output.next().unwrap().unwrap();
        let address = line
            .strip_prefix("Listening on http://")
            .and_then(|line| line.strip_suffix("/webhooks/articles"))
            .unwrap();
        let address = address.parse().unwrap();
        Self { address, child, output, _folder: folder }
    }

    /// Sends it this signal. Returns its exit code and the rest of its output.
    #[cfg(unix)]
    pub(crate) fn end(mut self, signal: Signal) -> (Option<i32>, Vec<String>) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let printed = self.output.by_ref().map(Result::unwrap).collect();
        (self.child.wait().unwrap().code(), printed)
    }

    /// The next line it prints.
    pub(crate) fn line(&mut self) -> String {
        let line = self.output.next();
        line.expect("the program goes on printing").unwrap()
    }

    /// The next lines it prints, as one text.
    pub(crate) fn lines(&mut self, count: usize) -> String {
        let lines: Vec<_> = (0..count).map(|_| self.line()).collect();
        lines.join("\n")
    }

    pub(crate) fn deliver(&self, post: &DeliveryRequest) -> Response {
        self.request("POST /webhooks/articles", post.headers(), post.bytes())
    }

    pub(crate) fn request(
        &self,
        line: &str,
        headers: &[(String, Vec<u8>)],
        body: &[u8],
    ) -> Response {
        let host = self.address;
        let mut request =
            format!("{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n").into_bytes();
        for (name, value) in headers {
            request.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        request.extend([b"\r\n", body].concat());

        let mut stream = TcpStream::connect(self.address).unwrap();
        // Only a broken example takes this long; then the test fails instead of hanging.
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(&request).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        Response { status: head[9..12].parse().unwrap(), body: body.to_owned() }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Either may fail only if the program has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// An example that was built beside this test, with an empty environment.
pub(crate) fn command(example: &str) -> Command {
    let test = env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let path = profile.join("examples").join(format!("{example}{EXE_SUFFIX}"));
    assert!(
        path.exists(),
        "not built: run `cargo build -p article-webhook-examples --examples` first",
    );
    let mut command = Command::new(path);
    command
        .env_remove("ARTICLE_WEBHOOK_TOKEN")
        .env_remove("ARTICLE_WEBHOOK_ADDR")
        .env_remove("ARTICLE_INBOX_DB");
    command
}
