//! An inbox in PostgreSQL wherever the tool takes a file.

use std::{
    fs::{self, Permissions},
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt,
    process::{self, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use article_webhook::{
    Reply, Sink as _,
    fixture::{self, DeliveryRequest},
};
use article_webhook_inbox::{Inbox, SqliteStore, State};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use article_webhook_simulator::Simulator;
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};

use crate::{
    doctor::{Found, doctor, found},
    postgres_server::{Server, User, programs, shared_url},
    running::{Running, TIMEOUT},
    sample,
    tool::{TOKEN, fails, has, not_installed, run, run_at, seen, text, tool},
};

/// The URL of a server, and a schema of it that no other test uses.
fn place() -> Option<(String, String)> {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let url = or_skip(shared_url())?;
    Some((url, format!("tool_{}_{number}", process::id())))
}

/// Reports a missing server, so that the test is skipped.
#[track_caller]
fn or_skip<T>(server: Option<T>) -> Option<T> {
    if server.is_none() {
        not_installed("there is no PostgreSQL: install the package postgresql");
    }
    server
}

fn server(settings: &[&str]) -> Option<Server> {
    or_skip(Server::start(settings))
}

/// An inbox as the tool's arguments name it, and as an application opens it.
pub(crate) async fn inbox() -> Option<(String, Inbox)> {
    let (url, schema) = place()?;
    let settings = PostgresSettings::new(&url).unwrap().schema(&schema).unwrap();
    let inbox = Inbox::new(PostgresStore::connect(settings).await.unwrap());
    Some((format!("{url}?schema={schema}"), inbox))
}

/// A connection that the application's settings make.
async fn client(url: &str) -> tokio_postgres::Client {
    PostgresSettings::new(url).unwrap().client().await.unwrap()
}

/// Waits until a statement returns a row.
async fn until_some(client: &tokio_postgres::Client, statement: &str) {
    let start = Instant::now();
    while client.query(statement, &[]).await.unwrap().is_empty() {
        assert!(start.elapsed() < TIMEOUT, "no row: {statement}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// What a command prints that succeeds.
#[track_caller]
fn done(arguments: &[&str]) -> Vec<Value> {
    let (exit, out, error) = run(&[arguments, &["--json"]].concat());
    assert_eq!(exit, Some(0), "{arguments:?}: {error}");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The URL is read as the inbox reads it, also where the tool asks the server itself.
#[test]
fn a_server_without_tls_is_reported_where_the_url_asks_for_it() {
    let Some(server) = server(&[]) else { return };
    let url = format!("{}?sslmode=verify-full&schema=inbox", server.url());
    fails(
        &["inbox", "list", &url],
        5,
        "PostgreSQL offers no TLS, and is on another machine or the URL asks for TLS",
    );
}

#[test]
fn a_receiver_makes_the_tables_and_an_operator_does_not() {
    let Some((url, schema)) = place() else { return };
    let url = format!("{url}?schema={schema}");
    for command in ["list", "status"] {
        let says = format!("error: the database has no inbox in the schema {schema}");
        fails(&["inbox", command, &url], 5, &says);
    }
    let mut listen = tool(["listen", "--json", "--no-page", "--port", "0", "--inbox", &url]);
    let (_listening, started) = Running::start(listen.env("ARTICLE_WEBHOOK_TOKEN", TOKEN));
    assert_eq!(started["inbox"], *url);
    let receiver = started["listening"].as_str().unwrap();
    for job in ["job_1", "job_2"] {
        done(&["send", receiver, "--job", job]);
    }
    let list = done(&["inbox", "list", &url]);
    assert_eq!(list.iter().map(|it| &it["job_id"]).collect::<Vec<_>>(), ["job_1", "job_2"]);
    assert_eq!(done(&["inbox", "status", &url])[0]["writable"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_makes_the_tables_for_a_role_that_may_not() {
    let Some((url, schema)) = place() else { return };
    let role = format!("role_of_{schema}");
    let of_owner = format!("{url}?schema={schema}");
    let of_role = of_owner.replace("postgres@", &format!("{role}@"));
    let client = client(&url).await;
    client.batch_execute(&format!("CREATE ROLE {role} LOGIN")).await.unwrap();

    let migrate = ["inbox", "migrate", &*of_owner, "--grant", &role];
    let printed = done(&[&migrate[..], &["--sql"]].concat());
    let sql = printed[0]["sql"].as_str().unwrap();
    assert!(sql.contains(&format!("article_inbox_ids TO \"{role}\";\n")), "{sql}");
    fails(&[&migrate[..], &["--read-only"]].concat(), 2, "--read-only forbids that");
    assert_eq!(done(&[&migrate[..], &["--sql", "--read-only"]].concat())[0]["sql"], sql);
    fails(&["inbox", "list", &of_role], 5, "error: "); // nothing was done
    let mut migrated = done(&migrate);
    // The server has inboxes of other tests, which its superuser may read.
    for name in ["warning", "type", "at"] {
        migrated[0].as_object_mut().unwrap().remove(name);
    }
    assert_eq!(
        migrated,
        [json!({ "schema": schema, "granted_to": role, "made": true })],
        "as the SQL does"
    );
    assert_eq!(done(&["inbox", "status", &of_role])[0]["writable"], true);
    client.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}

/// What only reads needs no other right than to read; what else `--read-only` allows, tries nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_may_only_read_lists_shows_and_exports() {
    let Some((url, inbox)) = inbox().await else { return };
    let delivery = fixture::complete().job_id("job_1").delivery().unwrap();
    assert_eq!(inbox.accept(delivery).await, Reply::Stored);
    let (server, schema) = url.split_once("?schema=").unwrap();
    let role = format!("reader_of_{schema}");
    let client = client(server).await;
    client.batch_execute(&format!("CREATE ROLE {role} LOGIN")).await.unwrap();
    let of_role = url.replace("postgres@", &format!("{role}@"));
    let (exit, _, error) = run(&["inbox", "list", &of_role]);
    assert_eq!(exit, Some(5), "{error}");
    // The text names what is missing, and that is enough.
    let tables = ["bodies", "bucket", "entries", "intents", "jobs", "meta"];
    let grants = tables
        .map(|table| format!("GRANT SELECT ON \"{schema}\".article_inbox_{table} TO \"{role}\""));
    let grants = format!("GRANT USAGE ON SCHEMA \"{schema}\" TO \"{role}\"; {}", grants.join("; "));
    let what = format!(
        "error: the role \"{role}\" lacks rights\nfix:   as the owner of the tables, {grants}\n"
    );
    assert_eq!(error, what);
    let read_only = || {
        let mut doctor = doctor(&["--inbox", &of_role]);
        found(doctor.env("ARTICLE_INBOX_READ_ONLY", "1"))
    };
    let refused = read_only();
    client.batch_execute(&grants).await.unwrap();
    // As a standby, on which nothing is ever written.
    let standby = format!("ALTER ROLE {role} SET default_transaction_read_only = on");
    client.batch_execute(&standby).await.unwrap();
    let granted = read_only();
    let mode = "the role has the rights to read, because ARTICLE_INBOX_READ_ONLY is set";
    assert!(granted.out.contains(mode), "{}", granted.out);
    let fix = format!("as the owner of the tables, {grants}");
    refused.is_cured("inbox.refused", "fail", &fix, &granted);
    let is_bad =
        |(code, severity): (&String, &String)| code.starts_with("inbox.") && severity == "fail";
    assert!(!granted.findings.iter().any(is_bad), "{granted:?}");
    client.batch_execute(&standby.replace("= on", "= off")).await.unwrap();
    examined(&of_role).has("inbox.refused", "fail");
    examined(&url).has("inbox.rights", "ok");

    for command in [
        &["inbox", "list", &*of_role][..],
        &["inbox", "show", &of_role, "job_1"],
        &["inbox", "export", &of_role],
        &["inbox", "requeue", &of_role, "job_1", "--dry-run"],
        &["inbox", "status", &of_role, "--read-only"],
        &["inbox", "status", &of_role, "--read-only", "--full"],
    ] {
        let (exit, out, error) = run(command);
        assert_eq!(exit, Some(0), "{command:?}: {error}");
        assert!(!out.contains("hindered"), "{command:?}: {out}");
    }
    assert_eq!(done(&["inbox", "status", &of_role, "--read-only"])[0]["findings"], json!([]));
    fails(&["inbox", "pause", &of_role], 5, &format!("error: the role \"{role}\" lacks rights\n"));
    client.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inbox_whose_schema_was_renamed_is_named_before_an_empty_one_is_made() {
    let Some((server, schema)) = place() else { return };
    let (role, gone) = (format!("role_of_{schema}"), format!("{schema}_gone"));
    let client = client(&server).await;
    let database = server.rsplit_once('/').unwrap().1;
    let create = format!("CREATE ROLE {role} LOGIN; GRANT CREATE ON DATABASE {database} TO {role}");
    client.batch_execute(&create).await.unwrap();
    let server = server.replace("postgres@", &format!("{role}@"));
    let [url, of_gone] = [&schema, &gone].map(|schema| format!("{server}?schema={schema}"));
    let refused = |says: &str, way: &str| {
        let what = format!("the database has no inbox in the schema {schema}{says}");
        let (exit, _, error) = run(&["inbox", "list", &url]);
        assert_eq!((exit, error), (Some(5), format!("error: {what}\nfix:   {way}\n")));
        let missing = examined(&url);
        missing.has("inbox.missing", "warn");
        assert_eq!(missing.fixes["inbox.missing"], way);
    };
    let migrated = |says: &str| {
        let (exit, out, error) = run(&["inbox", "migrate", &url]);
        assert_eq!((exit, &*out, &*error), (Some(0), &*format!("{says}\n"), ""));
    };

    refused(
        "",
        "check the URL, and ?schema=NAME; `inbox migrate` makes the tables, and so does a receiver whose role may",
    );
    let made = format!("the tables were made in the schema {schema}");
    migrated(&made);
    migrated(&format!("the tables were in the schema {schema}, and are of this version"));
    assert_eq!(examined(&url).of("inbox.missing"), "none");
    done(&["inbox", "pause", &url]);

    let rename = format!("ALTER SCHEMA {schema} RENAME TO {gone}");
    client.batch_execute(&rename).await.unwrap();
    refused(
        &format!(", and has one in {gone}"),
        "rename its schema back, or name that with ?schema=NAME; `inbox migrate` makes an empty inbox",
    );
    assert!(done(&["inbox", "status", &of_gone])[0]["paused_since"].is_string());
    let mut listen = tool(["listen", "--no-page", "--port", "0", "--inbox", &url]);
    listen.env("ARTICLE_WEBHOOK_TOKEN", TOKEN).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut listen = Running::of(&mut listen);
    let warning = format!(
        "WARN the inbox in the schema \"{schema}\" is new and empty, and there is one in {gone}: "
    );
    let log = BufReader::new(listen.process.stderr.take().unwrap());
    let mut log = log.lines().map(Result::unwrap);
    assert!(log.any(|line| line.contains(&warning)), "it did not warn");
    drop(listen);
    client.batch_execute(&format!("DROP SCHEMA {schema} CASCADE")).await.unwrap();
    migrated(&format!(
        "{made}\nwarning: this inbox is empty, and there is one in {gone}: if that is the one that is meant, name it with \
         ?schema=NAME"
    ));
    let back = format!("DROP SCHEMA {schema} CASCADE; ALTER SCHEMA {gone} RENAME TO {schema}");
    client.batch_execute(&back).await.unwrap();
    let status = &done(&["inbox", "status", &url])[0];
    assert!(
        status["paused_since"].is_string() && status["paused_by"].as_str().unwrap().contains('@')
    );
    let paused = examined(&url);
    paused.has("inbox.paused", "warn");
    assert!(paused.out.contains(status["paused_by"].as_str().unwrap()), "{}", paused.out);
    let again = &done(&["inbox", "migrate", &url])[0];
    assert_eq!((&again["made"], &again["warning"]), (&false.into(), &Value::Null));
    client.batch_execute(&format!("DROP OWNED BY {role} CASCADE; DROP ROLE {role}")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_changes_entries_and_moves_them() {
    let Some((url, inbox)) = inbox().await else { return };
    for number in 0..300 {
        let request = fixture::minimal().job_id(&format!("job_{number}"));
        sample::deliver(&inbox, request).await;
    }
    let discard = done(&["inbox", "discard", &url, "--all", "--yes"]);
    assert_eq!(discard[0]["changed"], 300, "in bulk");
    let requeue = ["inbox", "requeue", &url, "--state", "dead", "--dry-run"];
    assert_eq!(done(&requeue).len(), 300);
    assert_eq!(done(&["inbox", "requeue", &url, "job_7"])[0]["changed"], 1);
    assert_eq!(inbox.counts().await.unwrap().of(State::Waiting), 1);
    assert_eq!(done(&["inbox", "erase", &url, "job_8"])[0]["changed"], 1);
    let (exit, out, _) = run(&["inbox", "status", "--full", &url, "--json"]);
    let status: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(exit, Some(1), "entries are dead: {status}");
    assert_eq!((&status["total"], &status["entries"]["dead"]), (&299.into(), &298.into()));
    assert_eq!((&status["type"], &status["damage"]), (&"status".into(), &json!([])));
    let shown = &done(&["inbox", "show", &url, "job_7"])[0];
    assert_eq!(shown["bodies"].as_array().unwrap().len(), 1);

    let folder = tempfile::tempdir().unwrap();
    let [lines, file] = ["lines", "inbox.db"].map(|name| folder.path().join(name));
    let exported = done(&["inbox", "export", &url, "--output", text(&lines)]);
    assert_eq!(exported[0]["exported"], 299);
    SqliteStore::open(&file).unwrap();
    let imported = done(&["inbox", "import", text(&file), text(&lines)]);
    assert_eq!(imported[0]["added"], 299, "into a file");
    let copied = done(&["inbox", "copy", text(&file), &url]);
    assert_eq!((&copied[0]["added"], &copied[0]["present"]), (&0.into(), &299.into()), "and back");
    inbox.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_with_a_password_comes_from_a_variable_or_a_file_and_is_never_shown() {
    let Some((url, inbox)) = inbox().await else { return };
    // The password as it stands in the URL, and as the database knows it.
    let secret = url.replace("postgres@", "postgres:canary%2Dword@");
    for job_id in ["job_1", "canary-word"] {
        sample::deliver(&inbox, fixture::complete().job_id(job_id)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let env_file = folder.path().join(".env");
    fs::write(&env_file, format!("TEST_INBOX='{secret}'\n")).unwrap();
    let mut by_variable = tool(["inbox", "list", "env:TEST_INBOX", "--json"]);
    let (exit, out, error) = seen(&by_variable.env("TEST_INBOX", &secret).output().unwrap());
    assert_eq!((exit, &*error), (Some(0), ""));
    assert!(out.contains("job_1") && !out.contains("canary"), "{out}");
    let by_file = done(&["inbox", "list", "env:TEST_INBOX", "--env-file", text(&env_file)]);
    assert_eq!(by_file[0]["job_id"], "job_1");
    fails(
        &["inbox", "list", "env:TEST_INBOX"],
        2,
        "error: TEST_INBOX is not set, or is empty\nfix:   ",
    );

    let mut page = tool(["inbox", "page", "env:TEST_INBOX", "--json"]);
    let (_page, started) = Running::start(page.env("TEST_INBOX", &secret));
    assert_eq!(started["inbox"], "env:TEST_INBOX");
    let browser = reqwest::Client::builder().no_proxy().build().unwrap();
    let opened = browser.get(started["page"].as_str().unwrap()).send().await.unwrap();
    let cookie = opened.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let mut list = opened.url().clone();
    list.set_query(None);
    let shown = browser.get(list).header("Cookie", cookie).send().await.unwrap();
    let shown = shown.text().await.unwrap();
    assert!(shown.contains("job_1") && shown.contains("env:TEST_INBOX"), "{shown}");
    assert!(!shown.contains("canary"));
    inbox.close().await.unwrap();
}

/// What `doctor` finds about an inbox.
#[track_caller]
fn examined(url: &str) -> Found {
    found(&mut doctor(&["--inbox", url]))
}

/// What a command prints that calls the service, and succeeds.
fn run_with_key(arguments: &[&str], service: &Simulator) -> String {
    let (exit, out, error) = run_at(&service.base_url(), arguments);
    assert_eq!(exit, Some(0), "{arguments:?}: {error}");
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_checks_a_server_and_its_inbox() {
    let Some((url, inbox)) = inbox().await else { return };
    let sound = examined(&url);
    let (of_server, of_inbox) = (["connection", "server", "connections"], ["writable", "sound"]);
    for code in of_server.iter().chain(&of_inbox) {
        sound.has(&format!("inbox.{code}"), "ok");
    }
    for shown in [
        "the connection to PostgreSQL stays on this machine",
        "PostgreSQL 1",
        "fsync=on",
        "full_page_writes=on",
        "synchronous_commit=",
        "statement_timeout=",
    ] {
        assert!(sound.out.contains(shown), "{shown}: {}", sound.out);
    }
    let (other, schema) = place().unwrap();
    let none = format!("{other}?schema={schema}");
    examined(&none).has("inbox.missing", "warn");
    done(&["inbox", "migrate", &none]);
    let made = examined(&none);
    made.has("inbox.sound", "ok");
    assert_eq!(made.of("inbox.missing"), "none");
    examined("postgres://blog@127.0.0.1:1/blog").has("inbox.unreachable", "fail");
    examined("postgres://127.0.0.1/blog").has("inbox.refused", "fail");
    inbox.close().await.unwrap();
}

#[test]
fn doctor_says_how_the_connection_to_another_machine_is_protected() {
    let Some((url, _)) = place() else { return };
    // The system connects to itself by this address, which is not of the loopback.
    let url = url.replace("127.0.0.1", "0.0.0.0").replace("localhost", "0.0.0.0");
    let without = examined(&url);
    without.has("inbox.connection", "ok");
    without.has("inbox.unreachable", "fail");
    for says in ["has TLS, and the certificate is verified", "write sslmode=disable in the URL"] {
        assert!(without.out.contains(says), "{}", without.out);
    }
    let plain = examined(&format!("{url}?sslmode=disable"));
    plain.has("inbox.plaintext", "warn");
    plain.has("inbox.server", "ok");

    let own = CertificateParams::new(["0.0.0.0".to_owned()]).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = own.self_signed(&key).unwrap().pem();
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o711)).unwrap();
    let [certificate, key] =
        [("cert", certificate), ("key", key.serialize_pem())].map(|(name, pem)| {
            let file = folder.path().join(name);
            fs::write(&file, pem).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
            User::unprivileged().own(&file);
            file
        });
    let ssl = [
        "ssl = on".to_owned(),
        format!("ssl_cert_file = '{}'", text(&certificate)),
        format!("ssl_key_file = '{}'", text(&key)),
    ];
    let Some(server) = server(&ssl.each_ref().map(String::as_str)) else { return };
    let url = server.url().replace("127.0.0.1", "0.0.0.0");
    let fix = "set ssl = on in PostgreSQL, and write sslmode=verify-full in the URL";
    let verified = format!("{url}?sslmode=verify-full&sslrootcert={}", text(&certificate));
    let verified = examined(&verified);
    examined(&format!("{url}?sslmode=disable")).is_cured("inbox.plaintext", "warn", fix, &verified);
    verified.has("inbox.server", "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_finds_a_standby_that_may_lack_what_was_acknowledged() {
    let Some(server) = server(&[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut follow = Command::new(programs().unwrap().join("pg_receivewal"));
    follow.args(["--no-password", "--synchronous", "--dbname", &server.url(), "--directory"]);
    let _standby = Running::of(follow.arg(folder.path()).stderr(Stdio::null()));
    let client = client(&server.url()).await;
    until_some(&client, "SELECT FROM pg_stat_replication").await;
    article_webhook_postgres::connect(&server.url()).await.unwrap();
    let asynchronous = examined(&server.url());
    asynchronous.has("inbox.sound", "ok");

    let status = ["inbox", "status", "--full", &server.url()];
    let (exit, out, _) = run(&status);
    assert_eq!(exit, Some(0), "it is advice: {out}");
    has(&out, &["\nwarning     a standby follows", "\nsound       no damage found\n\nENTRIES"]);
    let (exit, out, _) = run(&[&status[..], &["--json"]].concat());
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((exit, &found["well"], &found["damage"]), (Some(0), &true.into(), &json!([])));
    assert_eq!(found["findings"], json!([]));
    assert_eq!(found["warnings"].as_array().unwrap().len(), 1, "{out}");
    assert_eq!(found["settings"], found["warnings"]);

    client.batch_execute("ALTER SYSTEM SET synchronous_standby_names = '*'").await.unwrap();
    client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    until_some(&client, "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'").await;
    let set = examined(&server.url());
    let fix = "set synchronous_standby_names";
    asynchronous.is_cured("inbox.standby_asynchronous", "warn", fix, &set);
    set.has("inbox.writable", "ok");

    client.batch_execute("ALTER SYSTEM SET synchronous_standby_names = 'gone'").await.unwrap();
    client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    let is_set = "SELECT WHERE current_setting('synchronous_standby_names') = 'gone'";
    until_some(&client, is_set).await;
    let (exit, out, _) = run(&["inbox", "status", "--read-only", &server.url()]);
    assert_eq!(exit, Some(1), "no delivery is acknowledged: {out}");
    assert!(out.contains("\nfound       no synchronous standby is connected"), "{out}");
}

#[tokio::test(flavor = "multi_thread")] // the service answers while the test waits for the tool
async fn doctor_finds_a_damaged_row_until_its_job_is_collected() {
    let Some((url, inbox)) = inbox().await else { return };
    let service = sample::service().await;
    let job = service.order("Shoes").await.unwrap().job_id;
    // The service delivers what its API gives.
    let body = run_with_key(&["get", &job, "--wait", "--json"], &service);
    let delivered = DeliveryRequest::new(body.trim().to_owned());
    sample::deliver(&inbox, delivered.header("X-Service-Job-Id", &job)).await;
    let (server, schema) = url.split_once("?schema=").unwrap();
    let client = client(server).await;
    let flip = format!("UPDATE {schema}.article_inbox_bodies SET body = '{{}}'");
    client.batch_execute(&flip).await.unwrap();
    let damaged = examined(&url);
    inbox.worker(async |_| Ok(())).run_until_idle().await.unwrap();
    run_with_key(&["collect", "--inbox", &url, &job], &service);
    let sound = examined(&url);
    let fix = "article-webhook collect --inbox INBOX JOB for each job that is named, once a worker has found its entry corrupt; then \
        check the disk of the server";
    damaged.is_cured("inbox.damage", "fail", fix, &sound);
    sound.has("inbox.sound", "ok");
    inbox.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_finds_a_server_that_may_lose_what_it_acknowledged_or_has_no_room() {
    let Some(primary) = server(&["max_connections = 20"]) else { return };
    for setting in ["fsync", "full_page_writes"] {
        let Some(server) = server(&[&format!("{setting} = off")]) else { return };
        let off = examined(&server.url());
        let fix = format!("ALTER SYSTEM SET {setting} = on; SELECT pg_reload_conf()");
        let client = client(&server.url()).await;
        for statement in fix.split("; ") {
            client.batch_execute(statement).await.unwrap();
        }
        until_some(&client, &format!("SELECT WHERE current_setting('{setting}') = 'on'")).await;
        off.is_cured(&format!("inbox.{setting}_off"), "fail", &fix, &examined(&server.url()));
    }
    let Some(few) = server(&["max_connections = 8"]) else { return };
    let sound = examined(&primary.url());
    let fix = "raise max_connections, or make the pools of the programs smaller";
    examined(&few.url()).is_cured("inbox.few_connections", "warn", fix, &sound);

    let Some(standby) = server(&["default_transaction_read_only = on"]) else { return };
    let both = format!(
        "postgresql://postgres@127.0.0.1:{},127.0.0.1:{}/postgres?target_session_attrs=read-write",
        standby.port, primary.port
    );
    let read_only = examined(&standby.url());
    let fix =
        "name the primary server, or all of them with target_session_attrs=read-write in the URL";
    for found in [sound, examined(&both)] {
        found.has("inbox.server", "ok");
        read_only.is_cured("inbox.read_only_server", "fail", fix, &found);
    }
}
