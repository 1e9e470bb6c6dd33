//! What a handler's `?` makes a retry of, in both frameworks.

use std::{error::Error, fmt};

use actix_web::ResponseError;
use axum::response::IntoResponse;

/// It converts as `anyhow::Error` does, and is no error itself.
struct Anyhow;

impl From<Anyhow> for Box<dyn Error + Send + Sync> {
    fn from(_: Anyhow) -> Self {
        "the blog is down".into()
    }
}

fn handler<R>(number: usize) -> Result<(), R>
where
    R: From<fmt::Error> + From<Anyhow> + From<Box<dyn Error + Send + Sync>> + From<&'static str>,
{
    match number {
        0 => Err(fmt::Error)?,
        1 => Err(Anyhow)?,
        2 => Err(Box::<dyn Error + Send + Sync>::from("no network"))?,
        3 => Err("a text")?,
        _ => Ok(()),
    }
}

#[test]
fn a_question_mark_converts_errors_of_many_types() {
    for number in 0..4 {
        let retry = handler::<article_webhook_axum::Retry>(number).expect_err("it fails");
        let response = retry.into_response();
        let after = &response.headers()["retry-after"];
        assert_eq!((response.status().as_u16(), after.as_bytes()), (503, &b"10"[..]));

        let retry = handler::<article_webhook_actix_web::Retry>(number).expect_err("it fails");
        let response = retry.error_response();
        let after = response.headers().get("retry-after").expect("it says when");
        assert_eq!((response.status().as_u16(), after.as_bytes()), (503, &b"10"[..]));
    }
    assert!(handler::<article_webhook_axum::Retry>(4).is_ok());
}
