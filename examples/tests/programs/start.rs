use std::{net::TcpListener, process::Command};

use crate::program::command;

const PROGRAMS: [&str; 6] = ["axum", "actix_web", "hyper", "blog", "inbox_axum", "inbox_actix_web"];

const EXPORT: &str = r#"export ARTICLE_WEBHOOK_TOKEN="Bearer $(openssl rand -hex 24)""#;

/// Runs an example that cannot start, in a folder of its own. Returns its exit code and its message.
fn fails(command: &mut Command) -> (Option<i32>, String) {
    let directory = tempfile::tempdir().unwrap();
    let output = command.current_dir(&directory).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
    let error = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), error)
}

#[test]
fn without_a_token_the_command_to_run_is_shown() {
    for example in PROGRAMS {
        let expected = format!(
            "error: the environment variable ARTICLE_WEBHOOK_TOKEN is not set: \
             make a token with `{EXPORT}`, and give the service the same value, `Bearer ` included, as the publish \
             target's auth_token\n\n\
             To try it:\n\n  {EXPORT}\n  cargo run -q --example {example}\n\n"
        );
        assert_eq!(fails(&mut command(example)), (Some(2), expected));
    }
}

#[test]
fn a_bad_token_is_named_by_its_fault_and_never_shown() {
    for example in PROGRAMS {
        let token = "Bearer Bearer 5f2b9c0e7a1d4e38";
        let (code, error) = fails(command(example).env("ARTICLE_WEBHOOK_TOKEN", token));
        let expected = "error: the environment variable ARTICLE_WEBHOOK_TOKEN: the token says `Bearer` twice: give the scheme word once, as in `Bearer <token>`\n";
        assert_eq!((code, error.starts_with(expected)), (Some(2), true), "{error}");
        assert!(!error.contains("5f2b9c0e7a1d4e38"));
    }
}

#[test]
fn a_port_in_use_is_reported() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let error = TcpListener::bind(&address).unwrap_err();
    for example in PROGRAMS {
        let mut command = command(example);
        let command = command
            .env("ARTICLE_WEBHOOK_TOKEN", "Bearer my-secret-token-1234")
            .env("ARTICLE_WEBHOOK_ADDR", &address);
        let expected = format!(
            "error: cannot listen on {address}: {error}\n\n\
             To listen elsewhere, set ARTICLE_WEBHOOK_ADDR, as in ARTICLE_WEBHOOK_ADDR=127.0.0.1:3001\n\n"
        );
        assert_eq!(fails(command), (Some(2), expected));
    }
}

#[test]
fn a_folder_that_the_blog_cannot_use_is_reported() {
    let (code, error) = fails(
        command("blog")
            .env("ARTICLE_WEBHOOK_TOKEN", "Bearer my-secret-token-1234")
            .env("ARTICLE_BLOG_DIR", "no/such/parent"),
    );
    let expected = "error: cannot use the folder no/such/parent: ";
    assert_eq!((code, error.starts_with(expected)), (Some(2), true), "{error}");
}
