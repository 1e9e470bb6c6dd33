//! The publish targets of a brand, which one call replaces.

use std::{fs, path::Path};

use article_webhook_simulator::Simulator;

use crate::{
    terminal::answered,
    tool::{seen, text, tool},
};

const RECEIVER: &str = "https://shop.example/hooks/canary-path";

fn targets(folder: &Path, service: &str) -> std::process::Command {
    let token = folder.join("token");
    fs::write(&token, "Bearer canary-1234567890").unwrap();
    let mut targets =
        tool(["targets", "brand_1", "--webhook-url", RECEIVER, "--token-file", text(&token)]);
    targets.env("ARTICLE_API_URL", service).env("ARTICLE_API_KEY", "sk-simulator");
    targets
}

#[tokio::test(flavor = "multi_thread")]
async fn targets_are_replaced_after_a_yes_alone_and_no_secret_is_shown() {
    let service = Simulator::builder().brand("brand_1").start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let url = service.base_url();
    let question = "replace all publish targets of brand_1 with this one? [y/N]";
    for answer in ["n\n", "\n"] {
        let (exit, shown, out) = answered(&mut targets(folder.path(), &url), answer);
        assert_eq!(exit, Some(1), "{shown}");
        assert!(shown.contains(question) && shown.contains("nothing was changed"), "{shown}");
        assert_eq!(out, "TARGET   AT\ndefault  https://shop.example\n");
    }
    let (exit, shown, out) = answered(&mut targets(folder.path(), &url), "y\n");
    assert_eq!(exit, Some(0), "{shown}");
    assert!(out.ends_with("{\"brand_id\":\"brand_1\",\"targets\":1}\n"), "{out}");
    assert!(shown.contains("replaced all publish targets of brand_1 with this one"), "{shown}");
    assert!(!format!("{shown}{out}").contains("canary"), "{shown}{out}");
}

/// The URL of the service leads nowhere: what is refused, or only shown, sends nothing.
#[test]
fn targets_are_not_sent_without_a_confirmation_and_not_by_a_dry_run() {
    let folder = tempfile::tempdir().unwrap();
    for (options, exit, says) in [
        (&[][..], 2, "needs a confirmation\nfix:   add --yes"),
        (&["--json"], 2, "needs a confirmation"),
        (&["--dry-run"], 0, "would replace all publish targets of brand_1"),
        (&["--dry-run", "--yes"], 0, "nothing was changed"),
        (&["--yes"], 1, "the service cannot be reached"),
    ] {
        let mut targets = targets(folder.path(), "http://127.0.0.1:9");
        let (code, out, error) = seen(&targets.args(options).output().unwrap());
        assert_eq!(code, Some(exit), "{options:?}: {error}");
        assert!(error.contains(says), "{options:?}: {error}");
        assert!(!format!("{out}{error}").contains("canary"), "{out}{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_targets_are_sent_in_one_call_and_a_token_without_a_url_is_refused() {
    let service = Simulator::builder().brand("brand_1").start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    fs::write(&other, "Bearer another-1234567890").unwrap();
    let url = service.base_url();
    let two = ["--name", "shop", "--webhook-url", "http://127.0.0.1:9/hooks", "--name", "blog"];
    let run =
        |more: &[&str]| seen(&targets(folder.path(), &url).args(two).args(more).output().unwrap());
    let (exit, out, error) = run(&["--token-file", text(&other), "--yes"]);
    assert_eq!((exit, &*out), (Some(0), "{\"brand_id\":\"brand_1\",\"targets\":2}\n"), "{error}");
    let three = ["--token-file", text(&other), "--token-file", text(&other), "--dry-run"];
    let (exit, _, error) = run(&three);
    assert_eq!(exit, Some(2));
    assert!(error.starts_with("error: 2 --webhook-url and 3 --token-file\nfix:   "), "{error}");
}
