//! Limits of the system that a start meets.

use std::{os::unix::process::CommandExt, path::Path, process::Command};

use crate::{
    copy_tool,
    owners::own,
    scene::{ENDINGS, JOBS, Scene, jobs, stored},
    tool::not_installed,
};

/// A user without another process, because the limit of threads is one of a user.
const USER: u32 = 65_533;

/// A program with this limit, for the arguments of a receiver.
fn limited(program: &Path, limit: &str, number: u32) -> Command {
    let mut shell = Command::new("bash");
    let run = format!("ulimit {limit} {number} && exec \"$0\" \"$@\"");
    shell.args(["-c", &run]).arg(program).env("TOKIO_WORKER_THREADS", "1");
    shell
}

/// No text leads to another file while the limit is the cause.
#[tokio::test]
async fn the_limit_of_open_files_is_named_raised_and_costs_nothing() {
    let scene = Scene::new().await;
    let tool = Path::new(env!("CARGO_BIN_EXE_article-webhook"));
    let refused = |number| scene.refused_by(&mut limited(tool, "-n", number));
    let texts: Vec<_> = (8..64).map_while(refused).collect();
    assert!(texts.len() < 56, "{texts:?}");
    assert!(
        texts[0].ends_with("fix:   raise the limits of threads and of open files\n"),
        "{}",
        texts[0]
    );
    for text in &texts {
        let names_it = text.contains("Too many open files")
            || text.contains(", and raise its limit of open files if that is reached");
        assert!(names_it, "{text}");
    }
    assert!(texts.iter().any(|text| text.contains("raise its limit of open files")), "{texts:?}");
    assert_eq!(stored(&scene.file).await, jobs(JOBS));
}

#[tokio::test]
async fn the_limit_of_threads_is_named_raised_and_costs_nothing() {
    if !rustix::process::geteuid().is_root() {
        not_installed("the limit of threads is not one of this user's tests: it needs root");
        return;
    }
    let scene = Scene::new().await;
    let tool = scene.path("tool");
    copy_tool(&tool);
    own(scene.root(), USER);
    ENDINGS.iter().for_each(|ending| own(&scene.beside(ending), USER));
    let refused = |number| {
        let mut limited = limited(&tool, "-u", number);
        scene.refused_by(limited.uid(USER).gid(USER).env("RUST_BACKTRACE", "0"))
    };
    let texts: Vec<_> = (1..64).map_while(refused).collect();
    assert!(texts.len() < 63, "{texts:?}");
    let store = "error: no thread can be started for the store: Resource temporarily unavailable (os error 11)\n\
        fix:   raise the limit of threads\n";
    assert!(texts.iter().any(|text| text == store), "{texts:?}");
    assert_eq!(stored(&scene.file).await, jobs(JOBS));
}
