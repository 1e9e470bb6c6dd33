use article_webhook::Answer;
use axum_core::{body::Body, response::Response};

pub(crate) fn response(answer: Answer) -> Response {
    let mut response = Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        response = response.header(name, value);
    }
    let body = Body::from(answer.body());
    response.body(body).expect("an answer is made of constants")
}
