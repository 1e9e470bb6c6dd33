//! The receivers of this project pass every case.

use std::{
    collections::HashSet,
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

use actix_web::{App, HttpServer, web};
use article_webhook::{AuthToken, Delivery, JobId, Receiver, Reply, Sink};
use article_webhook_check::{Check, CheckReport, JOB_ID_PREFIX, TITLE, Verdict, check_receiver};
use axum::{
    Router,
    routing::{any, post},
};

use crate::{PATH, TOKEN, check, names};

pub(crate) fn receiver() -> Receiver {
    Receiver::new(AuthToken::new(TOKEN).expect("it is a token"))
}

/// Stores each job once, in memory.
pub(crate) fn sink() -> impl Sink + Clone + 'static {
    let jobs: Arc<Mutex<HashSet<JobId>>> = Arc::default();
    move |delivery: Delivery| {
        let is_new = jobs.lock().expect("no thread panics").insert(delivery.job_id().clone());
        async move { if is_new { Reply::Stored } else { Reply::Duplicate } }
    }
}

pub(crate) fn axum_sink() -> Router {
    Router::new().route(PATH, any(article_webhook_axum::receive(receiver(), sink())))
}

fn axum_extractor() -> Router {
    use article_webhook_axum::{ArticleComplete, Retry};
    async fn on_article(ArticleComplete(..): ArticleComplete) -> Result<(), Retry> {
        Ok(())
    }
    Router::new().route(PATH, post(on_article)).with_state(receiver())
}

pub(crate) async fn serve(router: Router) -> u16 {
    let listener =
        tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("the loopback has a free port");
    let port = listener.local_addr().expect("it is bound").port();
    tokio::spawn(async move { axum::serve(listener, router).await });
    port
}

fn serve_actix_web(mount: fn(&mut web::ServiceConfig)) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback has a free port");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let app = move || App::new().configure(mount);
            let server = HttpServer::new(app).workers(1).disable_signals().listen(listener);
            server.expect("it listens").run().await
        })
    });
    port
}

fn all_pass(report: &CheckReport) {
    assert_eq!(names(report, Verdict::Fail), [""; 0], "{report}");
    assert_eq!(names(report, Verdict::Advice), [""; 0], "{report}");
    let distinct: HashSet<_> = report.findings.iter().map(|finding| finding.name).collect();
    assert_eq!(distinct.len(), report.findings.len());
    assert!(report.is_conformant() && report.findings.len() >= 60, "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sink_on_axum_passes() {
    all_pass(&check(serve(axum_sink()).await).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_article_that_a_receiver_accepts_is_marked_as_one_of_a_check() {
    let accepted = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&accepted);
    let sink = move |delivery: Delivery| {
        let title = delivery.decode().map(|result| result.article.title).ok();
        all.lock().expect("no thread panics").push((delivery.job_id().clone(), title));
        async { Reply::Stored }
    };
    let router = Router::new().route(PATH, any(article_webhook_axum::receive(receiver(), sink)));
    check(serve(router).await).await;
    let accepted = accepted.lock().unwrap();
    assert!(accepted.len() > 40, "{accepted:?}");
    for (job_id, title) in &*accepted {
        assert!(job_id.as_str().starts_with(JOB_ID_PREFIX), "{job_id}");
        assert!(title.as_deref().is_none_or(|title| title == TITLE), "{title:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extractor_on_axum_passes() {
    all_pass(&check(serve(axum_extractor()).await).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sink_on_actix_web_passes() {
    let port = serve_actix_web(|app| {
        let receive = article_webhook_actix_web::receive(receiver(), sink());
        app.service(web::resource(PATH).to(receive));
    });
    all_pass(&check(port).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extractor_on_actix_web_passes() {
    use article_webhook_actix_web::{ArticleComplete, Retry};
    async fn on_article(ArticleComplete(..): ArticleComplete) -> Result<(), Retry> {
        Ok(())
    }
    let port = serve_actix_web(|app| {
        app.app_data(receiver()).service(web::resource(PATH).route(web::post().to(on_article)));
    });
    all_pass(&check(port).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_any_shape_passes() {
    for token in ["x", "5f2b9c0e7a1d", "12345678", "Basic c2hvcDpzaG9w", "1 2"] {
        let receiver = Receiver::new(AuthToken::new(token).unwrap());
        let router =
            Router::new().route(PATH, any(article_webhook_axum::receive(receiver, sink())));
        let url = format!("http://localhost:{}{PATH}", serve(router).await);
        let report = check_receiver(&url, token).await.unwrap();
        assert_eq!(report.count(Verdict::Pass), report.findings.len(), "{token}\n{report}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_with_other_header_names_passes() {
    let token = AuthToken::new(TOKEN).unwrap();
    let receiver =
        Receiver::builder(token).event_header("X-Acme-Event").job_id_header("X-Acme-Job");
    let receiver = receiver.strict().build().unwrap();
    let router = Router::new().route(PATH, any(article_webhook_axum::receive(receiver, sink())));
    let url = format!("http://127.0.0.1:{}{PATH}", serve(router).await);
    let check =
        Check::builder(&url, TOKEN).event_header("x-acme-event").job_id_header("x-acme-job");
    all_pass(&check.build().unwrap().run().await.unwrap());
}
