//! Faults that a property must see: each is tried on an input that brings it to light, and the right
//! code is tried on the same.

use std::panic::{AssertUnwindSafe, catch_unwind};

use article_webhook::{ArticleResult, AuthToken, Receiver, fixture};
use article_webhook_tests::properties::{
    bodies, repair, request::Request, sanitizer, token, verdict,
};

const MINIMAL: &[u8] = include_bytes!("../fixtures/minimal.json");

/// The message with which a property was broken, if it was.
fn broken(hold: impl FnOnce()) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(hold)).err()?;
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
}

/// The property finds the fault of `faulty`, and none in `right`.
fn sees<S>(hold: fn(&[u8], &S), input: &[u8], right: &S, faulty: &S, message: &str) {
    assert_eq!(broken(|| hold(input, right)), None);
    let found = broken(|| hold(input, faulty)).expect("the fault is seen");
    assert!(found.contains(message), "{found}");
}

fn post(token: &str, more: &str, body: &str) -> Vec<u8> {
    let head =
        format!("POST default 7\nAuthorization: {token}\nContent-Type: application/json\n{more}\n");
    [head.as_bytes(), body.as_bytes()].concat()
}

const NAMED: &str = "X-Service-Event: article.complete\nX-Service-Job-Id: job_1\n";

#[test]
fn verdict_sees_a_stranger_who_is_let_in() {
    fn admit<'a>(request: &Request<'a>) -> Request<'a> {
        let mut request = request.clone();
        for (name, value) in &mut request.headers {
            if *name == b"Authorization" && fixture::TOKEN.as_bytes().starts_with(value) {
                *value = fixture::TOKEN.as_bytes().into();
            }
        }
        request
    }
    let core = verdict::Subject::CORE;
    let faulty = verdict::Subject {
        read: |receiver, request| (verdict::Subject::CORE.read)(receiver, &admit(request)),
        read_pieces: |receiver, request| {
            (verdict::Subject::CORE.read_pieces)(receiver, &admit(request))
        },
        article: |receiver, request| (verdict::Subject::CORE.article)(receiver, &admit(request)),
    };
    let input = post("Bearer fixture", NAMED, r#"{"job_id":"job_1"}"#);
    sees(verdict::hold, &input, &core, &faulty, "a stranger was let in");
}

#[test]
fn verdict_sees_a_head_that_is_made_up() {
    fn named<'a>(request: &Request<'a>) -> Request<'a> {
        let mut request = request.clone();
        request.headers.push((b"X-Service-Event", b"article.complete".into()));
        request
    }
    let core = verdict::Subject::CORE;
    let faulty = verdict::Subject {
        read: |receiver, request| (verdict::Subject::CORE.read)(receiver, &named(request)),
        read_pieces: |receiver, request| {
            (verdict::Subject::CORE.read_pieces)(receiver, &named(request))
        },
        article: |receiver, request| (verdict::Subject::CORE.article)(receiver, &named(request)),
    };
    let input = post(fixture::TOKEN, "X-Service-Job-Id: job_1\n", r#"{"job_id":"job_1"}"#);
    sees(verdict::hold, &input, &core, &faulty, "neither head nor body");
}

#[test]
fn verdict_sees_a_repeated_key() {
    fn once(request: &Request<'_>) -> Vec<u8> {
        let value: serde_json::Value = serde_json::from_slice(request.body).unwrap_or_default();
        value.to_string().into_bytes()
    }
    let core = verdict::Subject::CORE;
    let faulty = verdict::Subject {
        read: |receiver, request| verdict::open(receiver, request)?.read(once(request)),
        read_pieces: |receiver, request| verdict::open(receiver, request)?.read(once(request)),
        article: |receiver, request| verdict::open(receiver, request)?.article(once(request)),
    };
    let input = post(fixture::TOKEN, NAMED, r#"{"job_id":"job_2","job_id":"job_1"}"#);
    sees(verdict::hold, &input, &core, &faulty, "the body was changed");
}

#[test]
fn verdict_sees_a_single_pass_that_overlooks_the_header() {
    let core = verdict::Subject::CORE;
    let faulty = verdict::Subject {
        article: |receiver, request| {
            let mut request = request.clone();
            request.headers.retain(|(name, _)| *name != b"X-Service-Job-Id");
            verdict::open(receiver, &request)?.article(request.body.to_vec())
        },
        ..core
    };
    let body = str::from_utf8(MINIMAL).expect("the fixture is text");
    let input = post(fixture::TOKEN, NAMED, body);
    sees(verdict::hold, &input, &core, &faulty, "the job ids of header and body differ");
}

#[test]
fn token_sees_a_comparison_of_no_more_than_was_presented() {
    fn prefix(receiver: &Receiver, presented: &[u8]) -> Option<String> {
        let found = (token::Subject::CORE.target)(receiver, presented);
        let known = b"Bearer 5f2b9c0e7a1d4e38".starts_with(presented) && presented.len() > 10;
        found.or_else(|| known.then(|| "0".to_owned()))
    }
    let core = token::Subject::CORE;
    let faulty = token::Subject { target: prefix, ..core };
    let input = b"Bearer 5f2b9c0e\xffBearer 5f2b9c0e7a1d4e38";
    sees(token::hold, input, &core, &faulty, "one token");
}

#[test]
fn token_sees_a_second_target_that_is_forgotten() {
    let core = token::Subject::CORE;
    let faulty = token::Subject {
        target: |receiver, presented| {
            (token::Subject::CORE.target)(receiver, presented).filter(|label| label != "2")
        },
        ..core
    };
    let input = b"token-c\xfftoken-a\xfftoken-b\xfftoken-c";
    sees(token::hold, input, &core, &faulty, "an accepted token was refused");
}

#[test]
fn token_sees_a_token_that_no_header_can_hold() {
    let core = token::Subject::CORE;
    let faulty = token::Subject { token: |text| AuthToken::new(text.trim()), ..core };
    let input = b"secret\xffsecret ";
    sees(token::hold, input, &core, &faulty, "HTTP strips its white space");
}

#[test]
fn token_sees_an_error_that_holds_the_token() {
    let core = token::Subject::CORE;
    let faulty = token::Subject {
        token: |text| AuthToken::new(text).or_else(|_| AuthToken::from_env(text)),
        ..core
    };
    sees(token::hold, b"x\xffBearer\ttoken", &core, &faulty, "without a reason");
}

/// As the property of bodies, with everything that is held against a subject.
fn hold_bodies(body: &[u8], subject: &bodies::Subject) {
    for property in bodies::ALL {
        property(subject, body);
    }
}

#[test]
fn bodies_sees_a_reader_that_lets_a_repeated_key_in() {
    let core = bodies::Subject::CORE;
    let faulty = bodies::Subject {
        read: |receiver, head, body| {
            let value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
            (bodies::Subject::CORE.read)(receiver, head, value.to_string().as_bytes())
        },
        article: |receiver, head, body| {
            let value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
            (bodies::Subject::CORE.article)(receiver, head, value.to_string().as_bytes())
        },
        ..core
    };
    sees(hold_bodies, br#"{"a":1,"a":2}"#, &core, &faulty, "malformed_json");
}

#[test]
fn bodies_sees_a_body_that_is_refused_without_a_reason() {
    fn short(body: &[u8]) -> Option<()> {
        (body.len() < 20).then_some(())
    }
    let core = bodies::Subject::CORE;
    let faulty = bodies::Subject {
        read: |receiver, head, body| {
            let replaced = if short(body).is_some() { body } else { b"[" };
            (bodies::Subject::CORE.read)(receiver, head, replaced)
        },
        article: |receiver, head, body| {
            let replaced = if short(body).is_some() { body } else { b"[" };
            (bodies::Subject::CORE.article)(receiver, head, replaced)
        },
        ..core
    };
    sees(hold_bodies, br#"{"job_id":"job_7c1e4a52"}"#, &core, &faulty, "malformed_json");
}

#[test]
fn bodies_sees_a_value_that_is_lost() {
    let core = bodies::Subject::CORE;
    let faulty = bodies::Subject {
        decode: |body| {
            let mut result = ArticleResult::from_json(body)?;
            result.social_posts.x.clear();
            Ok(result)
        },
        ..core
    };
    let input = include_bytes!("../fixtures/complete.json");
    sees(hold_bodies, input, &core, &faulty, "Fit first");
}

#[test]
fn bodies_sees_an_article_that_is_refused() {
    let core = bodies::Subject::CORE;
    let faulty = bodies::Subject { decode: |_| ArticleResult::from_json(b"{}"), ..core };
    sees(hold_bodies, MINIMAL, &core, &faulty, "an article was refused");
}

/// Everything in a body that is no text becomes one, also in names and in the job id.
fn lossy(body: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(body).into_owned().into_bytes()
}

#[test]
fn repair_sees_a_name_and_a_job_id_that_are_repaired() {
    let core = bodies::Subject::CORE;
    let faulty = bodies::Subject {
        read: |receiver, head, body| (bodies::Subject::CORE.read)(receiver, head, &lossy(body)),
        ..core
    };
    sees(
        repair::hold,
        b"{\"job_id\":\"job_7c1e4a52\",\"\xff\":1}",
        &core,
        &faulty,
        "without a repair",
    );
    sees(repair::hold, b"{\"job_id\":\"\xff\"}", &core, &faulty, "malformed_json");
}

#[test]
fn repair_sees_a_body_that_is_repaired_although_it_is_sound() {
    let core = bodies::Subject::CORE;
    let faulty = bodies::Subject { repair: |body| Some(lossy(body)), ..core };
    sees(repair::hold, "żółć".as_bytes(), &core, &faulty, "a well-formed body was repaired");
}

#[test]
fn repair_sees_a_repair_that_changes_more_than_is_wrong() {
    let core = bodies::Subject::CORE;
    let faulty = bodies::Subject {
        repair: |body| {
            let repaired = (bodies::Subject::CORE.repair)(body)?;
            Some(String::from_utf8(repaired).ok()?.replace("Run", "Ran").into_bytes())
        },
        ..core
    };
    sees(repair::hold, br"Run \ud83c", &core, &faulty, "assertion");
}

#[test]
fn sanitizer_sees_an_attribute_that_runs() {
    let core = sanitizer::Subject::CORE;
    let faulty = sanitizer::Subject {
        sanitize: |html| {
            let (sanitized, operations) = (sanitizer::Subject::CORE.sanitize)(html);
            (sanitized.map(|it| it.replace("<img ", "<img onerror=\"x()\" ")), operations)
        },
    };
    sees(sanitizer::hold, b"<img src=x onerror=x()>", &core, &faulty, "onerror is kept");
}

#[test]
fn sanitizer_sees_an_element_that_does_not_end() {
    let core = sanitizer::Subject::CORE;
    let faulty = sanitizer::Subject {
        sanitize: |html| {
            let (sanitized, operations) = (sanitizer::Subject::CORE.sanitize)(html);
            (sanitized.map(|it| it.replace("</div>", "")), operations)
        },
    };
    sees(sanitizer::hold, b"<div>a", &core, &faulty, "an element does not end");
}

#[test]
fn sanitizer_sees_a_cost_that_grows_with_the_square() {
    let core = sanitizer::Subject::CORE;
    let faulty = sanitizer::Subject {
        sanitize: |html| {
            let (sanitized, _) = (sanitizer::Subject::CORE.sanitize)(html);
            (sanitized, html.matches('<').count().pow(2))
        },
    };
    sees(sanitizer::hold, b"<p>a", &core, &faulty, "operations for");
}
