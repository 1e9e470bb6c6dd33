//! Settings and arguments that are refused before anything is done.

use crate::tool::{seen, text, tool};

/// The commands that deliver to a URL, or have the service deliver to it.
fn delivering<'a>(url: &'a str, inbox: &'a str) -> [Vec<&'a str>; 5] {
    [
        vec!["send", url],
        vec!["check", url],
        vec!["simulate", "--deliver-to", url],
        vec!["targets", "brand_1", "--webhook-url", url],
        vec!["listen", "--port", "0", "--inbox", inbox, "--forward-to", url],
    ]
}

#[test]
fn a_token_that_no_receiver_can_have_is_refused_with_its_setting() {
    let folder = tempfile::tempdir().unwrap();
    let [file, inbox] = ["token", "inbox.db"].map(|name| folder.path().join(name));
    for token in ["", "Bearer", "Bearer Bearer canary-1234567890", "Bearer canary\u{e9}-12345678"] {
        std::fs::write(&file, token).unwrap();
        for command in delivering("http://127.0.0.1:9/", text(&inbox)) {
            let mut of_file = tool([]);
            of_file.args(&command).args(["--token-file", text(&file)]);
            let (exit, out, error) = seen(&of_file.output().unwrap());
            assert_eq!((exit, &*out), (Some(2), ""), "{command:?}: {error}");
            assert!(error.starts_with("error: --token-file: the token "), "{command:?}: {error}");
            assert!(!error.contains("canary"), "{command:?}: {error}");
        }
    }
    let mut of_variable = tool(["send", "http://127.0.0.1:9/"]);
    let refused = of_variable.env("ARTICLE_WEBHOOK_TOKEN", "Bearer").output().unwrap();
    let (exit, _, error) = seen(&refused);
    assert_eq!(exit, Some(2), "{error}");
    assert!(error.starts_with("error: ARTICLE_WEBHOOK_TOKEN: the token is the scheme"), "{error}");
    assert!(!inbox.exists());
}

#[test]
fn a_url_with_a_password_or_that_is_none_is_refused_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = folder.path().join("inbox.db");
    let inbox = text(&inbox);
    for (url, why) in [
        ("http://shop:canary@127.0.0.1:9/", "a user or a password in a URL can be read"),
        ("https://canary@shop.example/hooks", "a user or a password in a URL can be read"),
        ("http://shop:canary@127.0.0.1:port/", "expected a URL such as http://"),
        ("http://shop:canary@", "expected a URL such as http://"),
        ("ftp://shop:canary@127.0.0.1/", "expected a URL such as http://"),
        ("shop:canary@127.0.0.1:9", "expected a URL such as http://"),
        ("canary.example/hooks", "expected a URL such as http://"),
    ] {
        let more = [
            vec!["order", "Shoes", "--webhook-url", url],
            vec!["order", "Shoes", "--api-url", url],
            vec!["get", "job_1", "--api-url", url],
            vec!["collect", "--inbox", inbox, "--api-url", url],
            vec!["doctor", "--url", url],
            vec!["doctor", "--api-url", url],
        ];
        for command in delivering(url, inbox).into_iter().chain(more) {
            for json in [&[][..], &["--json"]] {
                let mut tool = tool([]);
                tool.env("ARTICLE_WEBHOOK_TOKEN", "Bearer 5f2b9c0e7a1d4e38");
                tool.env("ARTICLE_API_KEY", "sk-1");
                let (exit, out, error) = seen(&tool.args(&command).args(json).output().unwrap());
                assert_eq!((exit, &*out), (Some(2), ""), "{command:?}: {error}");
                assert!(error.contains("invalid value for '"), "{command:?}: {error}");
                assert!(error.contains(why), "{command:?}: {error}");
                assert!(!error.contains("canary"), "{command:?}: {error}");
            }
        }
    }
    assert!(!folder.path().join("inbox.db").exists());
}

/// No command repeats what may be a password. Where a password stands in the URL of an inbox that could be meant, the command says
/// where that belongs.
#[test]
fn a_secret_in_the_wrong_place_is_not_repeated() {
    let url = "postgresql://blog:canary@db.example/blog";
    let a_url_is = "env:DATABASE_URL";
    for (command, says) in [
        (&[url][..], ""),
        (&["inbox", url], ""),
        (&["inbox", "list", "inbox.db", url], ""),
        (&["inbox", "list", url], a_url_is),
        (&["inbox", "show", "inbox.db", url], ""),
        (&["inbox", "copy", url, url], a_url_is),
        (&["doctor", "--inbox", url], a_url_is),
        (&["inbox", "requeue", url, "--all"], a_url_is),
        (&["listen", "--port", "0", "--inbox", url], a_url_is),
        (&["collect", "--inbox", url], a_url_is),
        (&["inbox", "list", "postgresql://blog:canary@db.example,db2.example:5433/b"], a_url_is),
        (&["inbox", "list", "postgresql://blog@db.example/blog?password=canary"], a_url_is),
        (&["inbox", "list", "postgresql://db.example/?user=blog&p%61ssword=canary"], a_url_is),
        (&["inbox", "list", "POSTGRESQL://blog:canary@db.example/blog"], ""),
        (&["inbox", "list", "postgre://blog:canary@db.example/blog"], ""),
        (&["inbox", "list", "env:postgresql://blog:canary@db.example/blog"], ""),
        (&["inbox", "list", "mysql://blog:canary@db.example/blog"], ""),
        (&["inbox", "list", "host=db.example password=canary"], ""),
        (&["get", url], ""),
        (&["get", "job_1", "--wait", "--timeout", url], ""),
        (&["send", "http://127.0.0.1:9/", "--token-file", "Bearer canary-1234567890"], ""),
        (&["get", "job_1", "--api-url", "http://127.0.0.1:9", "--api-key-file", "sk-canary"], ""),
        (&["doctor", "--env-file", "ARTICLE_WEBHOOK_TOKEN=canary"], ""),
    ] {
        for json in [&[][..], &["--json"]] {
            let mut tool = tool([]);
            tool.args(command).args(json).env("ARTICLE_API_KEY", "sk-1");
            let (exit, out, error) = seen(&tool.output().unwrap());
            // `doctor` reports what it finds, and a job may have any name.
            let (code, is_report) = match command {
                ["doctor", "--inbox", ..] => (1, true),
                ["inbox", "show", ..] => (5, false),
                _ => (2, false),
            };
            assert_eq!((exit, !out.is_empty()), (Some(code), is_report), "{command:?}: {error}");
            let printed = format!("{out}{error}");
            assert!(
                !printed.contains("canary") && printed.contains(says),
                "{command:?}: {printed}"
            );
        }
    }
}
