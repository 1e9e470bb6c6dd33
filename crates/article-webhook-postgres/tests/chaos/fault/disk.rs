use std::{
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use article_webhook_inbox::{Error, Inbox};

use super::standby;
use crate::{
    database::{Database, rows},
    form::Form,
    scene::wait,
    server::Server,
    trial,
};

/// Puts a small file system under a folder of the server, in a mount namespace that ends with it.
const SMALL: &str = "mkdir small && mount -t tmpfs -o size=96m,mode=1777 tmpfs small";

/// The disk of the tables is full.
pub(crate) fn full(form: Form) -> Option<()> {
    let namespace = Command::new("unshare")
        .args(["--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt"])
        .stderr(Stdio::null())
        .status();
    if !namespace.is_ok_and(|status| status.success()) {
        println!("postgres: full: skipped: no file system may be mounted here, which takes root");
        return None;
    }
    let by = format!("{SMALL} && exec \"$@\"");
    let mut server = Server::start_by(&["unshare", "--mount", "sh", "-c", &by, "sh"], &[])?;
    let small = server.folder().join("small").display().to_string();
    let database = Database::fresh_in(&[server.port], |client| {
        // It reads what it is sent, or the server says that the pipe is broken.
        let program = format!("COPY (SELECT 1) TO PROGRAM 'cat && mkdir {small}/space'");
        rows(client, &program).unwrap();
        rows(client, &format!("CREATE TABLESPACE small LOCATION '{small}/space'")).unwrap();
        rows(client, "ALTER ROLE inbox SET default_tablespace = small; GRANT CREATE ON TABLESPACE small TO inbox").unwrap();
    });
    trial::run("full", database, |trial| {
        let rounds = form.choose(1, 10);
        let inbox = Inbox::new(standby::connect(&trial.database));
        for _ in 0..rounds {
            fill(trial, &small);
            let error = ready(&inbox, Result::is_err).unwrap_err().to_string();
            let (begin, end) = ("the disk of PostgreSQL is full: ", "make room (SQLSTATE 53100)");
            assert!(error.starts_with(begin) && error.ends_with(end), "{error}");
            let failed = trial.refuses_within(Duration::from_secs(20));
            assert!(failed, "a full disk refuses nothing");
            server.guard("room");
            trial.goes_on("after there was room");
            ready(&inbox, Result::is_ok).unwrap();
        }
        format!("{rounds} times no room")
    });
    Some(())
}

/// Whether the inbox is ready, once that is so: it says it within ten seconds.
fn ready(inbox: &Inbox, is_so: impl Fn(&Result<(), Error>) -> bool) -> Result<(), Error> {
    let start = Instant::now();
    loop {
        let ready = wait(inbox.ready());
        if is_so(&ready) {
            return ready;
        }
        assert!(start.elapsed() < Duration::from_secs(11), "{ready:?} after ten seconds");
        thread::sleep(Duration::from_millis(100));
    }
}

/// Leaves no room. The program fails, because it finds none.
fn fill(trial: &trial::Trial, small: &str) {
    let fill = format!("COPY (SELECT 1) TO PROGRAM 'cat /dev/zero >{small}/filler'");
    assert!(rows(&trial.database.connect(), &fill).is_err(), "the disk does not fill");
}
