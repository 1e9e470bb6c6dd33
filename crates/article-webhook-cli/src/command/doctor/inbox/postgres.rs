//! An inbox in PostgreSQL, and the server.

use article_webhook_postgres::Protection;
use tokio_postgres::SimpleQueryRow;

use super::{Opened, refused};
use crate::{
    command::doctor::finding::{Finding, Severity},
    context::Context,
    failure::Failure,
    store::{Database, Place},
};

/// What a node of the inbox uses at most: four connections for deliveries, two for its worker, one to hear of other nodes, one of
/// a check, and one to ask whether commits without an answer go on.
const NEEDED: i64 = 9;

/// The oldest version that is supported, as the server counts.
const OLDEST: i64 = 130_000;

const OF_DAMAGE: &str = "article-webhook collect --inbox INBOX JOB for each job that is named, once a worker has found its entry \
     corrupt; then check the disk of the server";

/// What is shown of the server's settings. The inbox sets `synchronous_commit` and the time-outs for its own transactions.
const SHOWN: [&str; 6] = [
    "fsync",
    "full_page_writes",
    "synchronous_commit",
    "synchronous_standby_names",
    "statement_timeout",
    "max_connections",
];

/// Of the sessions of others, a role sees the database alone. Replication uses connections of its own.
fn question(schema: &str) -> String {
    // `to_regclass` fails where the role may not use the schema.
    let table = |name: &str| {
        format!(
            "SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
             WHERE n.nspname = '{schema}' AND c.relname = 'article_inbox_{name}'"
        )
    };
    let settings = SHOWN.map(|name| format!("current_setting('{name}') AS {name}")).join(", ");
    format!(
        "SELECT {settings}, current_setting('server_version') AS version, \
         current_setting('server_version_num') AS number, \
         pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS read_only, \
         (SELECT count(*) FROM pg_stat_replication) AS standbys, \
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int \
         - (SELECT count(*) FROM pg_stat_activity WHERE datid IS NOT NULL) AS free, \
         EXISTS ({}) AS has_inbox, coalesce(pg_total_relation_size(({})), 0) AS bytes",
        table("meta"),
        table("bodies")
    )
}

pub(super) async fn examine(database: &Database, place: &Place, context: &Context) -> Vec<Finding> {
    let mut findings = match database.protection() {
        Ok(protection) => vec![connection(protection)],
        Err(failure) => return vec![refused(failure)],
    };
    let server = match database.row(&question(database.schema())).await {
        Ok(row) => Server(row),
        Err(failure) => {
            findings.push(unreachable(failure));
            return findings;
        }
    };
    let may_change = context.environment.may_change_inbox().is_ok();
    findings.extend(server.findings());
    if may_change && server.is("read_only") {
        findings.push(
            Finding::fail("inbox.read_only_server", "PostgreSQL allows no writing")
                .because("it is a standby, or default_transaction_read_only is on")
                .fix("name the primary server, or all of them with target_session_attrs=read-write in the URL"),
        );
    }
    if !server.is("has_inbox") {
        findings.push(match database.inboxes().await {
            Ok(inboxes) => {
                let missing = database.without_tables(&inboxes);
                Finding::of_failure("inbox.missing", Severity::Warn, &missing)
            }
            Err(failure) => unreachable(failure),
        });
        return findings;
    }
    let (opened, mode) = match may_change {
        true => (place.shared().await, "rights of a receiver and a worker"),
        false => (place.read().await, "rights to read, because ARTICLE_INBOX_READ_ONLY is set"),
    };
    match opened {
        Ok(inbox) => {
            findings.push(Finding::ok("inbox.rights", format!("the role has the {mode}")));
            let bytes = u64::try_from(server.number("bytes")).unwrap_or_default();
            let opened = Opened { inbox, name: place.shown(), bytes, of_damage: OF_DAMAGE };
            findings.extend(opened.content(context).await);
        }
        Err(failure) => findings.push(refused(failure)),
    }
    findings
}

/// How the connection is protected, by the URL: the server may see that of a pooler.
fn connection(protection: Protection) -> Finding {
    match protection {
        Protection::ThisMachine => {
            Finding::ok("inbox.connection", "the connection to PostgreSQL stays on this machine")
        }
        Protection::Tls => {
            let found = "the connection to PostgreSQL has TLS, and the certificate is verified";
            Finding::ok("inbox.connection", found)
        }
        _ => {
            let found =
                "the connection to PostgreSQL is not encrypted, and leads to another machine";
            Finding::warn("inbox.plaintext", found)
                .because(
                    "the URL has sslmode=disable: whoever can read the network reads every article",
                )
                .fix("set ssl = on in PostgreSQL, and write sslmode=verify-full in the URL")
        }
    }
}

fn unreachable(failure: Failure) -> Finding {
    let finding = Finding::fail("inbox.unreachable", failure.text());
    match failure.fix {
        Some(fix) => finding.fix(fix),
        None => finding,
    }
}

struct Server(SimpleQueryRow);

impl Server {
    fn text(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_default()
    }

    fn is(&self, name: &str) -> bool {
        matches!(self.text(name), "t" | "on")
    }

    fn number(&self, name: &str) -> i64 {
        self.text(name).parse().unwrap_or_default()
    }

    fn findings(&self) -> Vec<Finding> {
        let shown = SHOWN.map(|name| format!("{name}={}", self.text(name))).join(" ");
        let found = format!("PostgreSQL {} has the settings {shown}", self.text("version"));
        let mut findings = vec![match self.number("number") {
            OLDEST.. => Finding::ok("inbox.server", found),
            _ => Finding::fail("inbox.server_too_old", found)
                .because("an inbox needs PostgreSQL 13 or newer")
                .fix("upgrade the server"),
        }];
        for (setting, code) in
            [("fsync", "inbox.fsync_off"), ("full_page_writes", "inbox.full_page_writes_off")]
        {
            if !self.is(setting) {
                let found = format!("{setting} is off in PostgreSQL");
                let cause = "a power cut loses what was acknowledged, and an inbox does not start";
                let finding = Finding::fail(code, found).because(cause);
                findings.push(
                    finding
                        .fix(format!("ALTER SYSTEM SET {setting} = on; SELECT pg_reload_conf()")),
                );
            }
        }
        if self.number("standbys") > 0 && self.text("synchronous_standby_names").is_empty() {
            let found = "standbys follow this server asynchronously";
            let finding = Finding::warn("inbox.standby_asynchronous", found)
                .because("a failover to one of them may lose what was acknowledged");
            findings.push(finding.fix("set synchronous_standby_names"));
        }
        findings.push(self.connections());
        findings
    }

    fn connections(&self) -> Finding {
        let free = self.number("free");
        let found = format!(
            "{free} connections of the server are free, and a node uses up to {NEEDED}; behind a pooler, the size of its pool counts"
        );
        if free >= NEEDED {
            return Finding::ok("inbox.connections", found);
        }
        Finding::warn("inbox.few_connections", found)
            .because("without a connection, every delivery is answered 503")
            .fix("raise max_connections, or make the pools of the programs smaller")
    }
}
