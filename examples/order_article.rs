//! The whole loop in one program: an article is ordered, generated, delivered and received. The service is
//! simulated, a hundred times as fast as it would be.
#![allow(clippy::print_stdout)] // its output is what the program is for

use std::{error::Error, future::pending, time::Duration};

use article_webhook_client::{ApiKey, Client, NewArticle};
use article_webhook_server::Server;
use article_webhook_simulator::{Simulator, SimulatorClock};
use article_webhook_tower::{AuthToken, Delivery, Receiver, Reply, receive};
use tokio::sync::mpsc;

const TOKEN: &str = "Bearer my-secret-token-1234";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The application: a receiver whose sink passes deliveries to this function.
    let (inside, mut deliveries) = mpsc::channel(8);
    let sink = move |delivery: Delivery| {
        let inside = inside.clone();
        async move { inside.send(delivery).await.map_or(Reply::Unavailable, |()| Reply::Stored) }
    };
    let server = Server::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/webhooks/articles", server.local_addr()?);
    let service = receive(Receiver::new(AuthToken::new(TOKEN)?), sink);
    tokio::spawn(server.serve(service, pending()));

    // The service, which delivers finished articles to the receiver.
    let simulator = Simulator::builder()
        .clock(SimulatorClock::accelerated(100))
        .api_key("sk-my-key")
        .publish_target(&url, TOKEN)
        .start()
        .await?;
    println!("service    {} delivers to {url}", simulator.base_url());

    let client = Client::new(ApiKey::new("sk-my-key")?, &simulator.base_url())?;
    let order = NewArticle::new("How to choose running shoes");
    let job_id = client.create_article(&order).await?.job_id;
    println!("ordered    {job_id}");

    let mut step = String::new();
    let complete = client
        .wait(&job_id)
        .pauses(Duration::from_millis(50), Duration::from_millis(50))
        .on_progress(|job| {
            let now = String::from_utf8_lossy(&job.body).into_owned();
            if now != step {
                println!("polled     {now}");
                step = now;
            }
        })
        .await?;
    let delivery = deliveries.recv().await.ok_or("the receiver is gone")?;
    let result = delivery.decode()?;
    let words = result.article.html.as_untrusted_str().split_whitespace().count();
    println!("received   {:?}, some {words} words", result.article.title);
    let same = if delivery.body() == &complete.body { "the same" } else { "another" };
    println!("read       {same} article, by the client: {} bytes", complete.body.len());
    Ok(())
}
