use std::time::{Duration, SystemTime};

use article_webhook_client::NewArticle;
use article_webhook_simulator::{Fault, Rule, Simulator};
use article_webhook_tests::serve::{Framework, capability_key};

use crate::story::Story;

const HOUR: Duration = Duration::from_secs(3600);

/// Orders one article, lets an hour pass, and says when the service tried and what it was answered. The article
/// that the shop has is what the service has, byte for byte.
async fn delivered(framework: Framework, faults: Vec<Rule>) -> Vec<(u64, Option<u16>)> {
    let story = Story::begin(framework, Simulator::builder()).await;
    story.simulator.set_faults(faults);
    let job_id = story.order(&NewArticle::new("How to choose running shoes")).await;
    story.simulator.advance(HOUR).await;
    let kept = story.shop.article(job_id.as_str()).expect("the article arrived");
    assert_eq!(kept.body, story.complete(&job_id).await.body, "{framework:?}");
    story.attempts()
}

#[tokio::test]
async fn an_article_is_delivered_the_first_time() {
    for framework in Framework::ALL {
        assert_eq!(delivered(framework, vec![]).await, [(0, Some(200))], "{framework:?}");
    }
}

/// The service did not see the answer, so it comes again; the article is there once.
#[tokio::test]
async fn an_answer_that_was_lost_makes_a_duplicate_of_the_same_bytes() {
    for framework in Framework::ALL {
        let lost = Rule::new(Fault::AnswerLost).attempt(1);
        let attempts = delivered(framework, vec![lost]).await;
        assert_eq!(
            attempts.iter().map(|&(at, _)| at).collect::<Vec<_>>(),
            [0, 10],
            "{framework:?}"
        );
        assert_eq!(attempts[1].1, Some(200));
    }
}

/// What is wrong with the first attempt is refused, and the retry is let in.
#[tokio::test]
async fn a_spoiled_attempt_is_refused_and_the_next_one_stored() {
    let spoiled = [
        (Fault::WrongToken, Some(401)),
        (Fault::MissingToken, Some(401)),
        (Fault::Truncated, Some(400)),
        (Fault::JobIdMismatch, Some(422)),
        (Fault::Cut, None),
    ];
    for framework in Framework::ALL {
        for (fault, status) in spoiled {
            let attempts = delivered(framework, vec![Rule::new(fault).attempt(1)]).await;
            let expected = [(0, status), (10, Some(200))];
            assert_eq!(attempts, expected, "{framework:?}, {fault:?}");
        }
    }
}

/// No receiver reads nine megabytes to refuse them: a service that goes on writing may see the connection break
/// instead of the 413.
#[tokio::test]
async fn a_body_over_the_limit_is_refused_and_the_next_one_stored() {
    for framework in Framework::ALL {
        let oversized = Rule::new(Fault::Oversized(9 << 20)).attempt(1);
        let attempts = delivered(framework, vec![oversized]).await;
        let [(0, None | Some(413)), (10, Some(200))] = attempts[..] else {
            panic!("{framework:?}: {attempts:?}");
        };
    }
}

/// Nothing is wrong with them.
#[tokio::test]
async fn chunks_a_slow_sender_and_an_unknown_event_are_let_in() {
    for framework in Framework::ALL {
        for fault in [Fault::Chunked, Fault::Slow(Duration::from_millis(100)), Fault::UnknownEvent]
        {
            let attempts = delivered(framework, vec![Rule::new(fault)]).await;
            assert_eq!(attempts, [(0, Some(200))], "{framework:?}, {fault:?}");
        }
    }
}

/// The brand's publish target and the order's own URL: both are delivered to, and the article is there once.
#[tokio::test]
async fn both_routes_lead_to_one_article() {
    for framework in Framework::ALL {
        let story = Story::begin(framework, Simulator::builder()).await;
        let expires = SystemTime::now() + HOUR;
        let capability = capability_key().mint("order-17", expires).expect("it is a legal intent");
        let url = format!("{}/orders/{}", story.url, capability.as_str());
        let order = NewArticle::new("How to choose running shoes").webhook_url(&url);
        let job_id = story.order(&order).await;
        story.simulator.advance(HOUR).await;
        assert_eq!(story.attempts(), [(0, Some(200)), (0, Some(200))], "{framework:?}");
        let kept = story.shop.article(job_id.as_str()).expect("the article arrived");
        assert_eq!((kept.times, kept.body), (2, story.complete(&job_id).await.body));
    }
}
