//! The files on the guide's page `deploy`, and Litestream's on the page `damage`: each is read as its program reads it, and
//! they agree with each other.

mod container;
mod kubernetes;
mod systemd;

const DEPLOY: &str = include_str!("../../crates/article-webhook/src/guide/deploy.md");
const DAMAGE: &str = include_str!("../../crates/article-webhook/src/guide/damage.md");

/// The file whose first line is its name, as a comment.
fn file<'a>(page: &'a str, name: &str) -> &'a str {
    let first = format!("# {name}\n");
    let mut blocks = page.split("\n```").filter_map(|block| block.split_once('\n'));
    let found = blocks.find(|(_, text)| text.starts_with(&first));
    found.unwrap_or_else(|| panic!("the page has no {name}")).1
}

/// What follows `before`, up to white space, a quote or a bracket.
fn after<'a>(text: &'a str, before: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("there is no {before}"));
    let end = rest.find(|c: char| c.is_whitespace() || "\"')}]".contains(c));
    &rest[..end.unwrap_or(rest.len())]
}

/// The seconds that a manager must wait: the program's delay, and 30 for the server and the inbox in a file.
fn stop_seconds() -> u64 {
    let delay: u64 = after(DEPLOY, "shutdown_delay(Duration::from_secs(").parse().expect("seconds");
    delay + 30
}

/// Whether the manager waits long enough. `time` may end with `s`.
fn waits(time: &str) -> bool {
    time.trim_end_matches('s').parse::<u64>().expect("seconds") >= stop_seconds()
}

#[test]
fn all_files_have_the_names_of_the_program() {
    let program = DEPLOY.split("```rust").nth(1).expect("there is a program");
    for name in ["ARTICLE_WEBHOOK_TOKEN_FILE", "ARTICLE_INBOX_DB"] {
        assert!(program.contains(&format!("env::var(\"{name}\")")), "{name}");
        assert!(file(DEPLOY, "/etc/systemd/system/blog.service").contains(name), "{name}");
    }
    let dockerfile = file(DEPLOY, "Dockerfile");
    assert_eq!(after(dockerfile, "ENV ARTICLE_INBOX_DB="), "/data/inbox.db");
    for (file, name) in [("compose.yaml", "/run/secrets/"), ("blog.yaml", "/secrets/")] {
        let token = self::file(DEPLOY, file);
        assert!(token.contains("ARTICLE_WEBHOOK_TOKEN_FILE") && token.contains(name), "{file}");
    }
    let port = after(dockerfile, "EXPOSE ");
    assert_eq!(after(program, "bind(\"0.0.0.0:"), port);
    assert!(file(DEPLOY, "compose.yaml").contains(&format!(":{port}\"")));
    assert!(file(DEPLOY, "blog.yaml").contains(&format!("containerPort: {port} ")));
    assert!(
        program
            .contains(&format!("route(\"{}\", get(ready))", after(program, "from_secs(10), \"")))
    );
}

#[test]
fn a_manager_with_a_short_timeout_is_found() {
    assert!(waits("40s") && waits("45") && !waits("30s"));
}
