use article_webhook::fixture;

/// The title of every article of a check.
pub const TITLE: &str = "A check of the receiver";

/// The length of an article of more than 500 words, in bytes of HTML.
pub(super) const USUAL_BYTES: usize = 3500;

/// The result of a job as JSON, with every field that the service documents, and about this many bytes of HTML.
pub(super) fn result(job_id: &str, html_bytes: usize) -> Vec<u8> {
    let mut result = fixture::generated_result(0, TITLE, html_bytes);
    result.job_id = job_id.parse().expect("the ids of a check are job ids");
    serde_json::to_vec(&result).expect("a result can be written as JSON")
}

#[cfg(test)]
mod tests {
    use article_webhook::fixture::DeliveryRequest;

    use super::*;

    #[test]
    fn a_receiver_accepts_it_and_knows_every_field() {
        let body = result("check-1", USUAL_BYTES);
        let request = DeliveryRequest::new(body).header("X-Service-Job-Id", "check-1");
        let delivery = request.delivery().unwrap();
        assert_eq!(delivery.drift(), []);
        let words = delivery.decode().unwrap().article.word_count.unwrap();
        assert!((500..650).contains(&words), "{words}");
    }
}
