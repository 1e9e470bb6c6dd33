use std::sync::LazyLock;

use reqwest::Client;

/// Each delivery has its own connection, so that one client serves the runtimes of all tests.
static SERVICE: LazyLock<Client> =
    LazyLock::new(|| Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap());

/// Delivers as the service does. Returns the status.
pub(crate) async fn deliver(
    url: &str,
    token: &str,
    event: &str,
    job: &str,
    body: impl Into<reqwest::Body>,
) -> u16 {
    let post = SERVICE.post(url).body(body);
    let post = post.header("Authorization", token).header("Content-Type", "application/json");
    let post = post.header("X-Service-Event", event).header("X-Service-Job-Id", job);
    post.send().await.unwrap().status().as_u16()
}
