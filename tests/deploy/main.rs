//! The files on the guide's page `deploy`, and Litestream's on the page `damage`, agree with each other and with the program.

mod systemd;

use serde_json::{Value, json};

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

/// Whether a manager that waits for `time`, which may end with `s`, gives the program its delay, and the server and the inbox 30 s.
fn waits(time: &str) -> bool {
    let delay: u64 = after(DEPLOY, "shutdown_delay(Duration::from_secs(").parse().expect("seconds");
    time.trim_end_matches('s').parse::<u64>().expect("seconds") >= delay + 30
}

fn yaml<const N: usize>(page: &str, name: &str) -> [Value; N] {
    let documents = file(page, name).split("\n---\n");
    let read = documents.map(|document| serde_saphyr::from_str(document).expect("it is YAML"));
    read.collect::<Vec<_>>().try_into().expect("that many documents")
}

/// The port of the program.
fn port() -> &'static str {
    after(DEPLOY, "bind(\"0.0.0.0:")
}

fn database() -> &'static str {
    after(file(DEPLOY, "Dockerfile"), "ENV ARTICLE_INBOX_DB=")
}

#[test]
fn the_program_reads_what_the_files_set_and_its_delay_fails_the_path_of_readiness() {
    for name in ["ARTICLE_WEBHOOK_TOKEN_FILE", "ARTICLE_INBOX_DB"] {
        assert!(DEPLOY.contains(&format!("env::var(\"{name}\")")), "{name}");
    }
    assert_eq!(after(DEPLOY, "shutdown_delay(Duration::from_secs(10), \""), "/ready");
}

#[test]
fn the_image_runs_the_program_as_a_user_who_is_not_root() {
    let dockerfile = file(DEPLOY, "Dockerfile");
    let program = after(dockerfile, "release/blog ");
    // A text would run under a shell, which does not forward SIGTERM.
    assert!(dockerfile.contains(&format!("ENTRYPOINT [\"{program}\"]")));
    assert_eq!(after(dockerfile, "\nUSER "), after(dockerfile, "--uid "));
    assert_eq!(after(dockerfile, "EXPOSE "), port());
    assert!(dockerfile.contains(&format!("FROM rust:{}-", env!("CARGO_PKG_RUST_VERSION"))));
}

#[test]
fn compose_keeps_the_folder_of_the_inbox_in_a_named_volume() {
    let [compose] = yaml(DEPLOY, "compose.yaml");
    let service = &compose["services"]["blog"];
    assert_eq!(service["volumes"], json!(["articles:/data"]));
    assert!(compose["volumes"].get("articles").is_some());
    assert_eq!(database(), "/data/inbox.db");

    let secret = service["secrets"][0].as_str().expect("it has a secret");
    assert!(compose["secrets"].get(secret).is_some());
    let token = &service["environment"]["ARTICLE_WEBHOOK_TOKEN_FILE"];
    assert_eq!(token, &format!("/run/secrets/{secret}"));

    let published = service["ports"][0].as_str().expect("it has a port");
    assert!(published.ends_with(&format!(":{}", port())));
    assert!(waits(service["stop_grace_period"].as_str().expect("it is set")));
}

#[test]
fn one_pod_at_a_time_has_the_folder_of_the_inbox_on_its_claim() {
    let [claim, deployment, service] = yaml(DEPLOY, "blog.yaml");
    let spec = &deployment["spec"];
    assert_eq!((&spec["replicas"], &spec["strategy"]["type"]), (&json!(1), &json!("Recreate")));
    let labels = [
        &spec["selector"]["matchLabels"],
        &spec["template"]["metadata"]["labels"],
        &service["spec"]["selector"],
    ];
    assert_eq!(labels, [&json!({ "app": "blog" }); 3]);

    let pod = &spec["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(
        container["volumeMounts"],
        json!([
            { "name": "articles", "mountPath": "/data" },
            { "name": "token", "mountPath": "/secrets", "readOnly": true }
        ])
    );
    assert_eq!(container["env"][0]["name"], "ARTICLE_WEBHOOK_TOKEN_FILE");
    assert_eq!(container["env"][0]["value"], "/secrets/token");
    assert_eq!(pod["volumes"][0]["name"], "articles");
    let claim_name = &pod["volumes"][0]["persistentVolumeClaim"]["claimName"];
    assert_eq!(claim_name, &claim["metadata"]["name"]);
    let user = after(file(DEPLOY, "Dockerfile"), "\nUSER ");
    assert_eq!(pod["securityContext"]["runAsUser"].to_string(), user);

    let open = &container["ports"][0];
    assert_eq!(open["containerPort"].to_string(), port());
    assert_eq!(service["spec"]["ports"][0]["targetPort"], open["name"]);
    for (probe, path) in [("readinessProbe", "/ready"), ("livenessProbe", "/live")] {
        let call = &container[probe]["httpGet"];
        assert_eq!((&call["path"], &call["port"]), (&json!(path), &open["name"]), "{probe}");
        assert!(DEPLOY.contains(&format!(".route(\"{path}\", get(")), "{path}");
    }
    assert!(waits(&pod["terminationGracePeriodSeconds"].to_string()));
}

#[test]
fn the_change_for_two_pods_makes_a_deployment_without_a_gap() {
    let [change] = yaml(DEPLOY, "overlap.yaml");
    let spec = &change["spec"];
    assert_eq!(spec["replicas"], 2);
    let rolling = json!({ "maxSurge": 1, "maxUnavailable": 0 });
    assert_eq!(spec["strategy"], json!({ "type": "RollingUpdate", "rollingUpdate": rolling }));
    let seconds = &spec["template"]["spec"]["terminationGracePeriodSeconds"];
    assert!(waits(&seconds.to_string()));
}

#[test]
fn litestream_replicates_the_file_of_the_inbox() {
    let [settings] = yaml(DAMAGE, "litestream.yml");
    assert_eq!(settings["dbs"].as_array().map(Vec::len), Some(1));
    assert_eq!(settings["dbs"][0]["path"], database());
    assert!(settings["dbs"][0]["replica"]["url"].is_string());
}
