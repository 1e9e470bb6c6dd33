//! Jobs that are named on the command line.

use crate::{
    sample,
    tool::{seen, text, tool},
};

#[tokio::test]
async fn a_job_that_is_named_twice_counts_once_and_an_unknown_one_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    sample::inbox(&file).await;
    let run = |command: &str, arguments: &[&str]| {
        seen(&tool(["inbox", command, text(&file)]).args(arguments).output().unwrap())
    };
    let known = "would requeue 1 entry; nothing was changed\n";
    let (exit, out, note) = run("requeue", &["job_dead", "job_dead", "--dry-run"]);
    assert_eq!((exit, out.matches("job_dead").count(), &*note), (Some(0), 1, known));
    let (exit, out, note) = run("requeue", &["job_dead", "nosuch", "job_dead", "nosuch"]);
    assert_eq!((exit, &*out), (Some(0), "requeued 1 entry\n"), "{note}");
    assert_eq!(note, "nothing is known of nosuch\n");

    for command in ["requeue", "bury", "forget"] {
        let (exit, _, error) = run(command, &["nosuch", "none\u{202e}"]);
        let unknown =
            "error: nothing is known of nosuch; nothing is known of none\\u{202e}\nfix:   ";
        assert_eq!((exit, error.starts_with(unknown)), (Some(3), true), "{command}: {error}");
    }
    let (exit, _, error) = run("forget", &["job_done", "--state", "dead"]);
    let says = "error: no entry of job_done passes the filters\nfix:   see what there is: ";
    assert_eq!((exit, error.starts_with(says)), (Some(3), true), "{error}");
}
