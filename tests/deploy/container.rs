//! The Dockerfile, Compose's file, and Litestream's.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::{DAMAGE, DEPLOY, after, file, waits};

/// The part of the Compose specification that the page uses: anything else is an error.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Compose {
    services: BTreeMap<String, ComposeService>,
    /// Without a value: the engine chooses where.
    volumes: BTreeMap<String, Option<Value>>,
    secrets: BTreeMap<String, Secret>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "it is read, and no field of it is used")]
struct ComposeService {
    build: String,
    restart: Restart,
    stop_grace_period: String,
    ports: Vec<String>,
    environment: BTreeMap<String, String>,
    secrets: Vec<String>,
    volumes: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Restart {
    UnlessStopped,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "as above")]
struct Secret {
    file: String,
}

#[test]
fn compose_keeps_the_folder_of_the_inbox_in_a_named_volume() {
    let compose: Compose =
        serde_saphyr::from_str(file(DEPLOY, "compose.yaml")).expect("as specified");
    let service = &compose.services["blog"];
    let (volume, folder) = service.volumes[0].split_once(':').expect("a volume and its folder");
    assert!(compose.volumes.contains_key(volume), "{volume} has no name of its own");
    assert_eq!(
        after(file(DEPLOY, "Dockerfile"), "ENV ARTICLE_INBOX_DB="),
        format!("{folder}/inbox.db")
    );
    let secret = &service.secrets[0];
    assert!(compose.secrets.contains_key(secret));
    let token = &service.environment["ARTICLE_WEBHOOK_TOKEN_FILE"];
    assert_eq!(token, &format!("/run/secrets/{secret}"));
    assert!(waits(&service.stop_grace_period));

    let wrong = file(DEPLOY, "compose.yaml").replace("stop_grace_period", "stop_grace");
    assert!(serde_saphyr::from_str::<Compose>(&wrong).is_err());
}

#[test]
fn the_program_of_the_image_gets_signals_and_is_not_root() {
    let dockerfile = file(DEPLOY, "Dockerfile");
    let entry = dockerfile.lines().find_map(|line| line.strip_prefix("ENTRYPOINT "));
    let entry: Vec<String> = serde_json::from_str(entry.expect("there is one")).expect("a list");
    assert_eq!(entry, [after(dockerfile, "release/blog ")]);
    let user = after(dockerfile, "\nUSER ");
    assert_eq!(user, after(dockerfile, "--uid "));
    assert!(file(DEPLOY, "blog.yaml").contains(&format!("runAsUser: {user},")));
    assert!(dockerfile.contains(&format!("FROM rust:{}-", env!("CARGO_PKG_RUST_VERSION"))));
}

#[test]
fn litestream_replicates_the_file_of_the_inbox() {
    let settings: Value =
        serde_saphyr::from_str(file(DAMAGE, "litestream.yml")).expect("it is YAML");
    let databases = settings["dbs"].as_array().expect("it is a list");
    assert_eq!(databases.len(), 1);
    assert_eq!(databases[0]["path"], after(file(DEPLOY, "Dockerfile"), "ENV ARTICLE_INBOX_DB="));
    let replica = databases[0]["replica"]["url"].as_str().expect("it has a replica");
    assert!(replica.starts_with("s3://"), "{replica}");
}
