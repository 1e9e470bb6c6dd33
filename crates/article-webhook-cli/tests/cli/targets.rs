//! The publish targets of a brand, which one call replaces.

use std::{fs, path::Path};

use article_webhook_simulator::Simulator;

use crate::{
    terminal::answered,
    tool::{text, tool},
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
