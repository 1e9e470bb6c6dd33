use article_webhook::{ArticleResult, Drift, Event};

use super::attempt_result::AttemptResult;
use crate::{Body, call::Claimed};

/// The cause of an entry without bytes.
const REMOVED: &str = "its bodies were removed";

/// The first body of an entry that is an article, with its drift, or why none is. Bodies are stored without being
/// decoded.
pub(super) fn decode(
    claimed: &Claimed,
) -> Result<(Body, ArticleResult, Vec<Drift>), AttemptResult> {
    let seen = claimed.bodies.len();
    let undecodable = |cause| Err(AttemptResult::Undecodable { seen, cause });
    if claimed.key.event != Event::ArticleComplete {
        return undecodable("an event that this version does not know".to_owned());
    }
    let mut first_cause = None;
    let mut damaged = false;
    for body in &claimed.bodies {
        let Some(bytes) = &body.bytes else { continue };
        if !body.is_intact() {
            damaged = true;
            continue;
        }
        match ArticleResult::from_json_with_drift(bytes) {
            // A body in the wrong place: a receiver stores none of another job.
            Ok((article, _)) if article.job_id != claimed.key.job_id => damaged = true,
            Ok((article, drift)) => return Ok((body.clone(), article, drift)),
            Err(error) => first_cause = first_cause.or(Some(error.to_string())),
        }
    }
    if damaged {
        return Err(AttemptResult::Damaged { seen });
    }
    undecodable(first_cause.unwrap_or_else(|| REMOVED.to_owned()))
}

/// The first body of a failure that is intact, or why none is. What the service said may have any form.
pub(super) fn intact(claimed: &Claimed) -> Result<Body, AttemptResult> {
    let seen = claimed.bodies.len();
    let mut held = claimed.bodies.iter().filter(|body| body.bytes.is_some()).peekable();
    if held.peek().is_none() {
        return Err(AttemptResult::Undecodable { seen, cause: REMOVED.to_owned() });
    }
    held.find(|body| body.is_intact()).cloned().ok_or(AttemptResult::Damaged { seen })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use article_webhook::fixture;

    use super::*;
    use crate::{Digest, EntryKey, Source, call::Lease};

    fn body(bytes: &[u8]) -> Body {
        Body {
            received_at: SystemTime::UNIX_EPOCH,
            source: Source::Webhook,
            target: "default".into(),
            intent: None,
            digest: Digest::of(bytes),
            bytes: Some(bytes.to_vec().into()),
        }
    }

    fn damaged(bytes: &[u8]) -> Body {
        Body { digest: Digest::of(b"another"), ..body(bytes) }
    }

    fn article() -> Vec<u8> {
        fixture::complete().job_id("job_1").bytes().to_vec()
    }

    fn claimed(bodies: Vec<Body>) -> Claimed {
        Claimed {
            lease: Lease { id: 1, fence: 1 },
            key: EntryKey::article("job_1".parse().unwrap()),
            attempt: 1,
            received_at: SystemTime::UNIX_EPOCH,
            runs_alone: false,
            bodies,
        }
    }

    #[test]
    fn the_first_body_that_decodes_is_chosen() {
        let claimed = claimed(vec![
            body(b"{}"),
            damaged(&article()),
            body(&article()),
            body(fixture::unicode().job_id("job_1").bytes()),
        ]);
        let (chosen, article, _) = decode(&claimed).unwrap();
        assert_eq!(chosen, claimed.bodies[2]);
        assert_eq!(article.job_id.as_str(), "job_1");
    }

    #[test]
    fn bodies_of_which_none_decodes_are_undecodable_for_the_cause_of_the_first() {
        let result =
            decode(&claimed(vec![body(b"{}"), body(br#"{"job_id": "job_1"}"#)])).unwrap_err();
        let cause = "job_id: expected a job id, found nothing".to_owned();
        assert_eq!(result, AttemptResult::Undecodable { seen: 2, cause });
    }

    #[test]
    fn a_damaged_body_is_never_handed_out() {
        assert_eq!(
            decode(&claimed(vec![damaged(&article())])).unwrap_err(),
            AttemptResult::Damaged { seen: 1 }
        );
        let both = claimed(vec![body(b"{}"), damaged(&article())]);
        assert_eq!(decode(&both).unwrap_err(), AttemptResult::Damaged { seen: 2 });
    }

    #[test]
    fn the_article_of_another_job_is_never_handed_out() {
        let other = body(fixture::complete().job_id("job_2").bytes());
        assert_eq!(
            decode(&claimed(vec![other.clone()])).unwrap_err(),
            AttemptResult::Damaged { seen: 1 }
        );
        let (chosen, ..) = decode(&claimed(vec![other, body(&article())])).unwrap();
        assert_eq!(chosen, body(&article()));
    }

    #[test]
    fn an_unknown_event_is_not_handed_out_as_an_article() {
        let mut claimed = claimed(vec![body(&article())]);
        claimed.key.event = "article.updated".into();
        let cause = "an event that this version does not know".to_owned();
        assert_eq!(decode(&claimed).unwrap_err(), AttemptResult::Undecodable { seen: 1, cause });
    }

    #[test]
    fn an_entry_without_bytes_is_undecodable() {
        let gone = Body { bytes: None, ..body(b"{}") };
        let cause = "its bodies were removed".to_owned();
        assert_eq!(
            decode(&claimed(vec![gone])).unwrap_err(),
            AttemptResult::Undecodable { seen: 1, cause }
        );
    }

    #[test]
    fn the_first_intact_body_of_a_failure_is_chosen_whatever_it_says() {
        let html = body(b"<html>");
        let chosen = intact(&claimed(vec![damaged(b"{}"), html.clone(), body(b"{}")]));
        assert_eq!(chosen, Ok(html));
        let gone = Body { bytes: None, ..body(b"{}") };
        let cause = REMOVED.to_owned();
        assert_eq!(
            intact(&claimed(vec![gone.clone()])),
            Err(AttemptResult::Undecodable { seen: 1, cause })
        );
        let none = intact(&claimed(vec![gone, damaged(b"{}")]));
        assert_eq!(none, Err(AttemptResult::Damaged { seen: 2 }));
    }
}
