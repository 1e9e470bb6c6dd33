//! An inbox as the sink of each adapter, and its worker.

use std::sync::{Arc, Mutex};

use actix_web::{App, test, web};
use article_webhook::fixture;
use article_webhook_inbox::{Filter, Inbox, Job, JobFilter};
use http_body_util::{BodyExt, Full};
use tower::ServiceExt;

use crate::{
    extractors::{answer, answer_of_actix_web, runtime},
    log,
    rows::Row,
    seen::{Seen, Style},
};

pub(crate) const ALL: [Style; 3] = [("axum", axum), ("actix-web", actix_web), ("tower", tower)];

fn axum(row: &Row) -> Seen {
    use article_webhook_axum::{fixture::DeliveryRequestExt, receive};
    use axum::{Router, body, routing::any};

    runtime().block_on(async {
        let inbox = Inbox::memory();
        let articles = any(receive(fixture::receiver(), inbox.clone()));
        let app: Router = Router::new().route("/", articles);
        let response = app.oneshot(row.request().request("/")).await.expect("a router answers");
        let status = response.status().as_u16();
        let body = body::to_bytes(response.into_body(), usize::MAX).await.expect("it is there");
        worked_on(&inbox, answer(status, &body)).await
    })
}

fn actix_web(row: &Row) -> Seen {
    use article_webhook_actix_web::{fixture::DeliveryRequestExt, receive};

    actix_web::rt::System::new().block_on(async {
        let inbox = Inbox::memory();
        let articles = web::resource("/").to(receive(fixture::receiver(), inbox.clone()));
        let app = test::init_service(App::new().service(articles)).await;
        let request = row.request().request("/").to_request();
        let answer = answer_of_actix_web(&app, request).await;
        worked_on(&inbox, answer).await
    })
}

fn tower(row: &Row) -> Seen {
    use article_webhook_tower::receive;

    runtime().block_on(async {
        let inbox = Inbox::memory();
        let request = row.request().into_request("/").map(Full::new);
        let response = receive(fixture::receiver(), inbox.clone()).oneshot(request).await;
        let response = response.expect("a receiver answers");
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("it is there").to_bytes();
        worked_on(&inbox, answer(status, &body)).await
    })
}

/// Works on what the inbox has, and looks at what came of it.
pub(crate) async fn worked_on(inbox: &Inbox, answer: String) -> Seen {
    let handled: Arc<Mutex<Vec<String>>> = Arc::default();
    let given = |what: fn(&Job) -> String| {
        let calls = Arc::clone(&handled);
        move |job: Job| {
            calls.lock().expect("no handler panics").push(what(&job));
            async { Ok(()) }
        }
    };
    let article = given(|job| match job.article() {
        Ok(result) => format!("the article {:?}", result.article.title),
        Err(error) => error.to_string(),
    });
    let failure = given(|job| match job.failure() {
        Ok(failure) => {
            let word = failure.status.as_ref().or(failure.code.as_ref());
            format!("the failure `{}`", word.map_or("", String::as_str))
        }
        Err(error) => error.to_string(),
    });
    let worker = inbox.worker(article).on_failure(failure);
    worker.run_until_idle().await.expect("a store in memory works");

    let entries = inbox.list(Filter::default()).await.expect("it lists").items.into_iter();
    let entries =
        entries.map(|entry| (format!("{}: {}", entry.key.event, entry.state), entry.cause));
    let jobs = inbox.jobs(JobFilter::default()).await.expect("it lists").items.into_iter();
    let jobs = jobs.map(|job| (format!("job: {}", job.state), job.cause));
    let stored = entries.chain(jobs).map(|(state, cause)| match cause {
        Some(cause) => format!("{state} ({cause})"),
        None => state,
    });
    let stored = stored.collect();
    let handled = std::mem::take(&mut *handled.lock().expect("no handler panics"));
    Seen { answer, stored, handled, log: log::take() }
}
