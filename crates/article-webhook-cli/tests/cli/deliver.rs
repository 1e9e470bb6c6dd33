/// Delivers as the service does. Returns the status.
pub(crate) async fn deliver(
    url: &str,
    token: &str,
    event: &str,
    job: &str,
    body: impl Into<reqwest::Body>,
) -> u16 {
    let service = reqwest::Client::builder().no_proxy().build().unwrap();
    let post = service.post(url).body(body);
    let post = post.header("Authorization", token).header("Content-Type", "application/json");
    let post = post.header("X-Service-Event", event).header("X-Service-Job-Id", job);
    post.send().await.unwrap().status().as_u16()
}
