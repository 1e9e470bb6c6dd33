use article_webhook::fixture::DeliveryRequest;
use article_webhook_tests::odd_body::OddBody;
use bytes::Bytes;

/// A body about `job_1`.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) body: Bytes,
}

impl Row {
    pub(crate) fn request(&self) -> DeliveryRequest {
        DeliveryRequest::new(self.body.clone()).header("X-Service-Job-Id", "job_1")
    }
}

const ARTICLE: &str =
    r#"{"job_id":"job_1","status":"complete","article":{"title":"Ten Tips","html":"<p></p>"}}"#;

pub(crate) fn rows() -> Vec<Row> {
    let row = |name: String, body: Vec<u8>| Row { name, body: body.into() };
    let odd = OddBody::ALL.map(|odd| row(odd.to_string(), odd.body(ARTICLE.as_bytes())));
    let with = |value: &str| ARTICLE.replacen(r#""complete""#, value, 1);
    let statuses = ["complete", "completed", "success", "SUCCEEDED", "done"].into_iter();
    let statuses = statuses.chain(["processing", "", "failed", "Error", "cancelled", "canceled"]);
    let statuses = statuses.map(|status| {
        row(format!("status `{status}`"), with(&format!("\"{status}\"")).into_bytes())
    });
    let others = [
        ("status `null`", with("null")),
        ("status `7`", with("7")),
        (
            "an article and the error `generation_failed`",
            with(r#""complete","error":"generation_failed""#),
        ),
        ("the article twice, status `done`", with(r#""done","article":{}"#)),
        ("a key twice at the top level", with(r#""done","status":"done""#)),
        ("no job id", ARTICLE.replacen("job_id", "id", 1)),
        ("status `failed`, no article", r#"{"job_id":"job_1","status":"failed"}"#.to_owned()),
        (
            "the error `credits_exhausted`, no article",
            r#"{"job_id":"job_1","error":"credits_exhausted"}"#.to_owned(),
        ),
        (
            "status `processing`, no article",
            r#"{"job_id":"job_1","status":"processing"}"#.to_owned(),
        ),
    ];
    let others = others.map(|(name, body)| row(name.to_owned(), body.into_bytes()));
    statuses.chain(odd).chain(others).collect()
}
