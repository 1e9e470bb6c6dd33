//! What is not run, and what does not end with 0.

use crate::pages::Page;

const README: &str = "README.md";
const START: &str = "crates/article-webhook/src/guide/start.md";
const SINK: &str = "crates/article-webhook/src/guide/sink.md";
const TESTING: &str = "crates/article-webhook/src/guide/testing.md";
const MISSING: &str = "crates/article-webhook/src/guide/missing.md";
const APPLICATION: &str = "crates/article-webhook/src/guide/application.md";
const POSTGRES: &str = "crates/article-webhook/src/guide/postgres.md";
const COLLECTOR: &str = "crates/article-webhook-collector/README.md";

/// A command that is not run here, and why. What it names is looked up all the same.
const NOT_RUN: [(&str, &str, &str); 14] = [
    (README, "cargo run --example order_article", "`examples/tests/programs` runs it"),
    (README, "tests/run", "it runs this"),
    (README, "cargo new articles && cd articles", "`tests/newcomer` does what this section says"),
    (README, "cargo run", "the same"),
    (
        README,
        "cargo doc -p article-webhook --all-features --no-deps --open",
        "it compiles, and opens a browser",
    ),
    (START, "cargo install --path crates/article-webhook-cli", "it compiles for minutes"),
    (
        APPLICATION,
        "cargo new articles && cd articles",
        "`tests/newcomer` does what this section says",
    ),
    (TESTING, "cargo test --test unit_test_axum", "`tests/run` runs it"),
    (TESTING, "cargo test --test unit_test_actix_web", "the same"),
    (TESTING, "cargo run --example order_article", "`examples/tests/programs` runs it"),
    (POSTGRES, "cargo run --example inbox_postgres", "`examples/tests/programs` runs it"),
    (SINK, "cargo run --example sink_collector", "`examples/tests/programs` runs it"),
    (COLLECTOR, "cargo run --example collect", "`examples/tests/programs` runs it"),
    (
        POSTGRES,
        "cargo bench -p article-webhook-postgres --bench postgres -- storage",
        "it compiles for minutes",
    ),
];

/// How a command ends that the page says more of.
pub(crate) struct End {
    page: &'static str,
    command: &'static str,
    pub(crate) exit: i32,
    /// What it prints.
    pub(crate) prints: &'static str,
    /// The words of the page that say so.
    says: &'static str,
}

const ENDS: [End; 7] = [
    End {
        page: README,
        command: "curl -i ",
        exit: 0,
        prints: "HTTP/1.1 200",
        says: "The answer is 200",
    },
    End {
        page: START,
        command: "article-webhook send http://127.0.0.1:3000/ --fault wrong-token",
        exit: 1,
        prints: "401 Unauthorized",
        says: "It is refused with 401",
    },
    End {
        page: START,
        command: "article-webhook collect",
        exit: 3,
        prints: "the next is due in",
        says: "it prints when the job is due",
    },
    End {
        page: TESTING,
        command: "article-webhook send http://127.0.0.1:3000/webhooks/articles --fault truncated-body",
        exit: 1,
        prints: "400 Bad Request",
        says: "once intact and once with a fault",
    },
    End {
        page: MISSING,
        command: "article-webhook inbox status inbox.db",
        exit: 1,
        prints: "1 dead: article-webhook inbox list --state=dead inbox.db",
        says: "ends with 1 if an entry is dead",
    },
    End {
        page: APPLICATION,
        command: "article-webhook inbox status inbox.db",
        exit: 1,
        prints: "article-webhook inbox list --state=",
        says: "ends with 1 if an entry is dead",
    },
    End {
        page: TESTING,
        command: "curl -i ",
        exit: 0,
        prints: "HTTP/1.1 200",
        says: "Without the tool, `curl` does",
    },
];

pub(crate) fn is_run(page: &Page, command: &str) -> bool {
    // `tests/newcomer` and `tests/packages/run` build applications that have what these add.
    let adds = command.starts_with("cargo add ");
    !adds && !NOT_RUN.iter().any(|(name, not_run, _)| page.name == *name && command == *not_run)
}

pub(crate) fn end(page: &Page, command: &str) -> Option<&'static End> {
    ENDS.iter().find(|end| end.page == page.name && command.starts_with(end.command))
}

#[test]
fn each_expectation_is_for_a_command_that_the_pages_have() {
    let pages = crate::pages::all();
    let has = |name: &str, is_it: &dyn Fn(&str) -> bool| {
        let page = pages.iter().find(|page| page.name == name).unwrap();
        page.commands().iter().any(|command| is_it(&command.text))
    };
    for (name, not_run, _) in NOT_RUN {
        assert!(has(name, &|text| text == not_run), "{name} has no `{not_run}`");
    }
    for end in ENDS {
        assert!(
            has(end.page, &|text| text.starts_with(end.command)),
            "{}: {}",
            end.page,
            end.command
        );
        let page = pages.iter().find(|page| page.name == end.page).unwrap();
        assert!(page.says(end.says), "{} does not say {:?}", end.page, end.says);
    }
}
