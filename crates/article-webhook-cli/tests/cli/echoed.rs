//! A peer that echoes what it was sent: no secret that the tool has loaded leaves it.

use std::fs;

use crate::{
    server::{answer, serve},
    tool::{has, seen, text, tool},
};

const KEY: &str = "sk-canary-\"0123456789";
const TOKEN: &str = "Bearer canary-token-0123456789";

/// Answers each request with its head and its body in every field that the tool shows.
fn echo(status: u16) -> String {
    serve(move |request| {
        let echo = format!("{}{}", request.head, String::from_utf8_lossy(&request.body));
        let fields = serde_json::json!({
            "job_id": "job_1", "brand_id": "brand_1", "status": "done", "error": echo, "message": echo,
            "article": { "title": echo, "html": echo, "meta_description": echo },
            "brands": [{ "brand_id": echo, "name": echo }], "publish_targets": [{ "url": echo, "auth_token": echo }],
            "details": { "message": echo }, "topic": echo, "upgrade_url": echo,
        });
        answer(&format!("{status} X"), "", &fields.to_string())
    })
}

#[test]
fn what_a_peer_echoes_is_shown_without_secrets_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let [token, inbox] = ["token", "inbox.db"].map(|name| folder.path().join(name));
    fs::write(&token, TOKEN).unwrap();
    let mut has_echoed = false;
    for status in [200, 202, 400, 401, 404, 500] {
        let url = echo(status);
        let commands: [&[&str]; 7] = [
            &["get", "job_1", "--api-url", &url],
            &["get", "job_1", "--html", "--api-url", &url],
            &["order", "--topic", "Running", "--api-url", &url],
            &["targets", "brand_1", "--api-url", &url],
            &[
                "targets",
                "brand_1",
                "--webhook-url",
                "https://blog.example/",
                "--token-file",
                text(&token),
                "--yes",
                "--api-url",
                &url,
            ],
            &["doctor", "--service", "--api-url", &url],
            &["send", &url, "--token-file", text(&token)],
        ];
        for command in commands {
            for format in [&[][..], &["--json"]] {
                let mut run = tool([]);
                run.args(command)
                    .args(format)
                    .env("ARTICLE_API_KEY", KEY)
                    .env("ARTICLE_WEBHOOK_TOKEN", TOKEN);
                let (_, out, error) = seen(&run.current_dir(folder.path()).output().unwrap());
                has_echoed |= out.contains("[secret]");
                // An exact copy goes into a pipe as it is.
                let is_exact = command.contains(&"--html") && format.is_empty();
                for shown in [&out, &error] {
                    assert!(
                        is_exact || !shown.contains("canary-"),
                        "{command:?} {format:?} {status}: {shown}"
                    );
                }
            }
        }
    }
    assert!(has_echoed, "something was echoed");

    let (mut get, job) =
        (tool(["get", "job_1", "--api-url", &echo(200), "--output"]), folder.path().join("job"));
    let (exit, _, error) = seen(&get.arg(&job).env("ARTICLE_API_KEY", KEY).output().unwrap());
    assert_eq!(exit, Some(0), "{error}");
    let exact: serde_json::Value = serde_json::from_slice(&fs::read(&job).unwrap()).unwrap();
    has(exact["article"]["html"].as_str().unwrap(), &[&format!("authorization: Bearer {KEY}\r\n")]);
    assert!(!inbox.exists());
}
