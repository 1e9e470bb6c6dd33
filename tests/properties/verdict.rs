//! The whole verdict of the core on a request: whether it is accepted, and what comes out.

use article_webhook::{
    Answer, ArticleResult, Delivery, Envelope, Event, Refused, Rejection, ServiceHeader,
};
use bytes::Bytes;
use jiter::JsonValue;

use super::{
    json, lenient,
    request::Request,
    site::{Receivers, Site},
};

type Checked<T> = Result<T, Refused>;

/// Holds the core to its verdict on a request, by whichever way.
pub fn check(data: &[u8]) {
    thread_local!(static RECEIVERS: Receivers = Receivers::default());
    RECEIVERS.with(|receivers| {
        let request = Request::parse(data);
        let receiver = receivers.of(request.site);
        let open = || receiver.open_request(request.method, &request.headers);
        let body = Bytes::copy_from_slice(request.body);
        let read = open().and_then(|envelope| envelope.read(body.clone()));
        the_same_in_pieces(&read, &open().and_then(|envelope| read_pieces(envelope, &request)));
        let article = open().and_then(|envelope| envelope.article(body));
        the_same_in_one_pass(&request, &read, article);
        match &read {
            Ok(delivery) => let_in_for_a_reason(&request, delivery),
            Err(refused) => refused_for_a_reason(&request, receiver.body_limit(), refused),
        }
    });
}

fn read_pieces(envelope: Envelope, request: &Request<'_>) -> Checked<Delivery> {
    let mut intake = envelope.intake();
    for piece in request.pieces() {
        intake.push(Bytes::copy_from_slice(piece))?;
    }
    intake.read()
}

fn the_same_in_pieces(read: &Checked<Delivery>, pieces: &Checked<Delivery>) {
    match (read, pieces) {
        (Ok(read), Ok(pieces)) => {
            assert_eq!(read.job_id(), pieces.job_id());
            assert_eq!(read.body(), pieces.body());
        }
        // What is left of the body differs: in pieces, too large a body is not read to its end.
        (Err(read), Err(pieces)) => {
            assert_eq!(read.rejection(), pieces.rejection());
            assert_eq!(read.job_id(), pieces.job_id());
        }
        _ => panic!("whole {read:?}, in pieces {pieces:?}"),
    }
}

fn the_same_in_one_pass(
    request: &Request<'_>,
    read: &Checked<Delivery>,
    article: Checked<(ArticleResult, Delivery)>,
) {
    if let (Ok(read), Ok((_, in_one_pass))) = (read, &article) {
        assert_eq!(format!("{read:?}"), format!("{in_one_pass:?}"));
        assert_eq!(read.body(), in_one_pass.body());
    }
    let article = article.map(|(result, _)| result);
    let delivery = match read {
        Ok(delivery) => delivery,
        Err(refused) => return assert_eq!(article.as_ref(), Err(refused)),
    };
    let expected = match (delivery.event(), request.site) {
        (Event::ArticleComplete, _) => delivery.decode().map_err(Rejection::Undecodable),
        (_, Site::Refuses) => Err(Rejection::EventUnknown),
        _ => Err(Rejection::EventIgnored),
    };
    let job_id = article.as_ref().err().map(Refused::job_id);
    assert!(job_id.is_none_or(|job_id| job_id == Some(delivery.job_id())));
    assert_eq!(article.map_err(|refused| refused.rejection().clone()), expected);
}

fn let_in_for_a_reason(request: &Request<'_>, delivery: &Delivery) {
    assert_eq!(request.method, "POST");
    assert!(request.is_authentic(), "a stranger was let in");
    assert!(request.site.labels().contains(&delivery.target()));
    assert_eq!(delivery.body(), request.body, "the body was changed");
    assert_eq!(request.values("content-type").count(), 1);

    let text = lenient::rewrite(request.body).expect("an independent reader reads it");
    let value = json::parse(text.as_bytes()).expect("and another");
    assert!(matches!(value, JsonValue::Object(_)), "no object was let in");
    assert!(!json::repeats_a_key(&value), "readers may disagree about a repeated key");
    assert!(json::depth(&value) <= 64, "it is nested too deep");

    let in_body: Vec<_> = json::values(&value, "job_id").collect();
    let in_header: Vec<_> = request.values("x-service-job-id").collect();
    let id = delivery.job_id().as_str();
    assert!(in_body.len() <= 1 && in_header.len() <= 1, "there are several job ids");
    assert!(in_body.iter().all(|value| matches!(value, JsonValue::Str(body) if body == id)));
    assert!(in_header.iter().all(|header| *header == id.as_bytes()));
    assert!(in_body.len() + in_header.len() > 0, "there is no job id");
    let events: Vec<_> = request.values("x-service-event").collect();
    assert!(events.len() <= 1, "there are several events");
    let event = events.first().map_or(&b"article.complete"[..], |event| event);
    assert_eq!(delivery.event().as_str().as_bytes(), event);

    if events.is_empty() || in_header.is_empty() {
        assert_ne!(request.site, Site::Strict, "a header of the service is missing");
        assert!(is_complete_article(&value), "neither head nor body shows what it is");
    }
}

/// The documented status, and its synonyms.
const COMPLETE: [&str; 5] = ["complete", "completed", "success", "succeeded", "done"];

fn is_complete_article(value: &JsonValue<'_>) -> bool {
    let is_text = |value: &JsonValue<'_>| matches!(value, JsonValue::Str(_));
    let is_article =
        |article| ["title", "html"].iter().all(|key| json::values(article, key).any(is_text));
    let is_complete = |status: &JsonValue<'_>| matches!(status, JsonValue::Str(status) if COMPLETE.contains(&&*status.to_lowercase()));
    let [job_id, status] = ["job_id", "status"].map(|key| json::values(value, key).next());
    job_id.is_some()
        && status.is_some_and(is_complete)
        && json::values(value, "article").any(is_article)
}

fn refused_for_a_reason(request: &Request<'_>, limit: usize, refused: &Refused) {
    let status = refused.answer().status().as_u16();
    if request.method != "POST" {
        return assert_eq!((status, refused.job_id()), (405, None));
    }
    if !request.is_authentic() {
        assert_eq!(seen(refused.answer()), for_strangers());
        return assert_eq!(refused.job_id(), None, "a stranger's word was taken");
    }
    if *refused.rejection() == Rejection::EventIgnored {
        return is_ping(request);
    }
    // A declared body of which no byte came was taken by the application.
    let is_taken = *refused.rejection() == Rejection::AlreadyRead && request.body.is_empty();
    let expected = if is_taken { status == 500 } else { matches!(status, 400 | 413 | 415 | 422) };
    assert!(expected, "{status} for an authentic delivery");
    assert!(refused.rejection().is_authentic());
    match *refused.rejection() {
        Rejection::TooLarge { .. } if request.body.len() <= limit => {
            assert!(request.values("content-length").count() == 1, "nothing is too large");
        }
        Rejection::HeaderMissing(ServiceHeader::Event) => {
            assert_eq!(request.values("x-service-event").count(), 0);
        }
        Rejection::HeaderMissing(ServiceHeader::JobId) => {
            assert_eq!(request.values("x-service-job-id").count(), 0);
        }
        _ => {}
    }
}

/// What is ignored has an event that is not known, and says nothing about a job or an article.
fn is_ping(request: &Request<'_>) {
    assert!(request.values("x-service-event").all(|event| event != b"article.complete"));
    assert_eq!(request.values("x-service-job-id").count(), 0);
    let text = lenient::rewrite(request.body).expect("an independent reader reads it");
    let value = json::parse(text.as_bytes()).expect("and another");
    let mut named = ["job_id", "article"].into_iter().flat_map(|key| json::values(&value, key));
    assert!(named.next().is_none(), "a job or an article was dropped");
}

type Seen = (u16, Vec<(&'static str, &'static str)>, &'static str);

/// What a sender sees, but for the end of the connection.
fn seen(answer: Answer) -> Seen {
    let headers = answer.headers().filter(|(name, _)| *name != "connection");
    (answer.status().as_u16(), headers.collect(), answer.body())
}

fn for_strangers() -> Seen {
    let headers = [("content-type", "application/json"), ("www-authenticate", "Bearer")];
    let body = r#"{"error":"unauthorized","message":"the credentials are missing or wrong"}"#;
    (401, headers.to_vec(), body)
}
