//! What `doctor` finds: once its fix is done, it finds that no more.

use serde_json::Value;

use crate::stage::Stage;

impl Stage {
    /// The fix of each finding that is no praise, by its code.
    fn fixes(&self, command: &str) -> Vec<(String, String)> {
        let findings = self.output(&format!("{command} --json"));
        let findings = findings.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let of = |finding: Value| {
            let fix = finding["fix"].as_str()?.to_owned();
            Some((finding["code"].as_str()?.to_owned(), fix))
        };
        findings.filter_map(of).collect()
    }

    #[track_caller]
    fn cure(&self, command: &str, code: &str, fix: &str, after: &str) {
        let found = self.fixes(command);
        let named = found.iter().find(|(found, _)| found == code);
        assert_eq!(named.map(|(_, fix)| &**fix), Some(fix), "{command}: {found:?}");
        let left = self.fixes(after);
        assert!(!left.iter().any(|(left, _)| left == code), "{after}: {left:?}");
    }
}

#[test]
fn secrets_and_the_service_are_set_as_the_fix_says() {
    let stage = Stage::new();
    let doctor = "article-webhook doctor";
    let secret = "set ARTICLE_WEBHOOK_TOKEN, name a file with --token-file PATH, or a .env file with --env-file PATH";
    let random = "take a random token, such as `Bearer $(openssl rand -hex 32)`, and give it to the service with `article-webhook \
        targets`, which replaces all publish targets of the brand";
    let issued = "give the key that the service issued for this URL";
    for (before, code, fix, after) in [
        (
            doctor,
            "token.not_set",
            secret,
            "ARTICLE_WEBHOOK_TOKEN=$(cat token) article-webhook doctor",
        ),
        (
            "article-webhook doctor --token-file nowhere",
            "token.unreadable",
            "name a file that has the secret: --token-file PATH",
            "article-webhook doctor $T",
        ),
        (
            "ARTICLE_WEBHOOK_TOKEN='Bearer aaaa' article-webhook doctor",
            "token.short",
            random,
            "ARTICLE_WEBHOOK_TOKEN=\"Bearer $(openssl rand -hex 32)\" article-webhook doctor",
        ),
        (
            "ARTICLE_WEBHOOK_TOKEN=0123456789abcdef0123 article-webhook doctor",
            "token.no_scheme",
            "give the whole auth_token of the publish target, as in `Bearer <token>`",
            "ARTICLE_WEBHOOK_TOKEN='Bearer 0123456789abcdef0123' article-webhook doctor",
        ),
        (
            "article-webhook doctor $T",
            "token.example",
            random,
            "ARTICLE_WEBHOOK_TOKEN=\"Bearer $(openssl rand -hex 32)\" article-webhook doctor",
        ),
        (
            "ARTICLE_WEBHOOK_TOKEN='Bearer changeme' article-webhook doctor",
            "token.placeholder",
            "give the publish target's auth_token",
            "article-webhook doctor $T",
        ),
        (
            "chmod o+x .; chmod o+r key; article-webhook doctor $K",
            "service.key_open_to_others",
            "chmod o= key",
            "chmod o= key; article-webhook doctor $K",
        ),
        (
            "unset ARTICLE_API_URL; article-webhook doctor $K",
            "service.url_not_set",
            "give --api-url URL, or set ARTICLE_API_URL",
            "article-webhook doctor $K",
        ),
        (
            "echo sk-other >other; article-webhook doctor --api-key-file other",
            "service.key_refused",
            issued,
            "article-webhook doctor $K",
        ),
        (
            "article-webhook doctor $K --api-url http://127.0.0.1:9",
            "service.unreachable",
            "check ARTICLE_API_URL, and whether this machine may connect to it",
            "article-webhook doctor $K",
        ),
    ] {
        stage.cure(before, code, fix, after);
    }
}

#[test]
fn an_inbox_is_looked_after_as_the_fix_says() {
    let stage = Stage::new();
    let doctor = "article-webhook doctor --inbox inbox.db";
    for (before, code, fix, after) in [
        (
            "",
            "inbox.dead",
            "article-webhook inbox list INBOX --state dead; then fix the cause, and: article-webhook inbox requeue INBOX --state dead",
            "article-webhook inbox list inbox.db --state dead >/dev/null; article-webhook inbox requeue inbox.db --state dead --yes >/dev/null; ",
        ),
        (
            "",
            "inbox.unhandled",
            "article-webhook inbox list INBOX --state unhandled; requeue them for a version that reads them, or discard them",
            "article-webhook inbox list inbox.db --state unhandled >/dev/null; article-webhook inbox discard inbox.db --state unhandled --yes >/dev/null; ",
        ),
        (
            "chmod o+r inbox.db; ",
            "inbox.open_to_others",
            "chmod go= inbox.db; a receiver does it when it starts",
            "chmod go= inbox.db; ",
        ),
        (
            "article-webhook inbox pause inbox.db >/dev/null; ",
            "inbox.paused",
            "article-webhook inbox resume INBOX",
            "article-webhook inbox resume inbox.db >/dev/null; ",
        ),
        ("chmod o+w .; ", "disk.folder_open_to_others", "chmod o-w .", "chmod o-w .; "),
        (
            "mv inbox.db kept; ",
            "inbox.refused",
            "put the database back, or, to start with an empty inbox, move inbox.db-wal, inbox.db-shm and inbox.db-lock away",
            "mv kept inbox.db; ",
        ),
    ] {
        stage.cure(&format!("{before}{doctor}"), code, fix, &format!("{after}{doctor}"));
    }
    stage.cure(
        "article-webhook doctor --inbox nowhere.db",
        "inbox.missing",
        "check the path; the receiver creates the file when it starts",
        doctor,
    );
    stage.works("article-webhook inbox status inbox.db --json | grep '\"total\":5'");
    stage.works("article-webhook inbox salvage --begin begun.db");
    stage.cure(
        "article-webhook doctor --inbox begun.db",
        "inbox.ledger_gaps",
        "compare your orders with the jobs of the service, then: article-webhook inbox orders-checked INBOX",
        "article-webhook inbox orders-checked begun.db; article-webhook doctor --inbox begun.db",
    );
    stage.works("article-webhook inbox salvage --begin lacking.db; article-webhook doctor --inbox lacking.db | grep 'a salvage or a restore may lack some: '");
}
