//! `listen --forward-to` on an inbox in PostgreSQL that an application works on.

use std::net::TcpListener;

use article_webhook::fixture;
use article_webhook_inbox::State;

use crate::{
    postgres::inbox,
    running::Running,
    sample,
    tool::{TOKEN, has, run, tool},
};

#[tokio::test(flavor = "multi_thread")]
async fn an_application_keeps_its_articles_unless_they_are_to_be_taken_over() {
    let Some((url, inbox)) = inbox().await else { return };
    sample::deliver(&inbox, fixture::minimal().job_id("job_1")).await;
    let application = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("http://{}/", application.local_addr().unwrap());
    let listen = ["listen", "--json", "--no-page", "--port", "0", "--inbox", &url];
    let forwarding = [&listen[..], &["--forward-to", &to]].concat();
    let fix = "name an inbox of your own, such as a file or ?schema=NAME; or add --take-over if no application works on it";
    let (exit, _, error) = run(&forwarding);
    assert_eq!(exit, Some(2), "{error}");
    has(&error, &["the database has this inbox already", fix]);
    let start = |arguments: &[&str]| {
        Running::start(tool([]).args(arguments).env("ARTICLE_WEBHOOK_TOKEN", TOKEN))
    };
    drop(start(&listen));
    assert_eq!(inbox.counts().await.unwrap().of(State::Waiting), 1, "it only receives");

    let (listening, _) = start(&[&forwarding[..], &["--take-over"]].concat());
    application.accept().unwrap();
    drop(listening);
    // What was not there before is no application's.
    let new = format!("{url}_new");
    let new =
        ["listen", "--json", "--no-page", "--port", "0", "--inbox", &new, "--forward-to", &to];
    let (_listening, started) = start(&new);
    assert!(started["listening"].is_string());
    inbox.close().await.unwrap();
}
