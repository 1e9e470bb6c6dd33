use article_webhook::Answer;
use bytes::Bytes;
use http::Response;
use http_body_util::Full;

pub(crate) fn response(answer: Answer) -> Response<Full<Bytes>> {
    let mut response = Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        response = response.header(name, value);
    }
    response.body(answer.body().into()).expect("an answer is made of constants")
}
