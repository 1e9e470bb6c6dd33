//! An inbox with one of everything.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use article_webhook::{Reply, Sink, fixture::DeliveryRequest};
use article_webhook_inbox::{
    Clock, Inbox, Reason, SqliteSettings, SqliteStore,
    store::{Expect, Outcome, Store},
};
use article_webhook_inbox_contract::settle_one;
use serde_json::json;

/// Articles of a shop for sports, as a developer would order them.
const TITLES: [&str; 12] = [
    "How to Choose Running Shoes",
    "Ten Stretches for Cold Mornings",
    "What a Marathon Does to Your Knees",
    "A Beginner’s Guide to Interval Training",
    "Wie man im Winter draußen läuft",
    "Trail Running: Maps, Shoes and Common Sense",
    "Correr de noche: guía de seguridad",
    "Carbon Plates, Explained Without the Hype",
    "The Long Run: Pace, Food and Patience",
    "Why Rest Days Make You Faster",
    "Buying a Watch: GPS, Heart Rate and Battery",
    "Your First Ten Kilometres",
];

/// How many seconds ago each came.
const AGES: [u64; 12] = [15_300, 12_900, 9_000, 7_800, 6_120, 3_900, 2_700, 1_380, 48, 35, 22, 9];

pub(crate) fn article(job: &str, title: &str) -> DeliveryRequest {
    let html = format!(
        "<article><h1>{title}</h1><p>A good shoe is the one you do not notice. “Fit first,” says every coach, and most \
         of them mean the width at the toe.</p><h2>Measure your feet</h2><ul><li>Measure in the evening</li><li>Leave a \
         thumb’s width at the toe</li></ul><p>Read <a href=\"https://example.com/guide\">the guide</a> before you \
         buy.</p><img src=\"https://example.com/shoe.jpg\" alt=\"A running shoe from the side\"><h2>Try them on the \
         road</h2><p>{}</p></article>",
        "Ten minutes on a treadmill say little. Take the pair that feels right around the block, and listen. ".repeat(6),
    );
    let body = json!({
        "job_id": job,
        "status": "complete",
        "article": {
            "title": title,
            "html": html,
            "meta_title": format!("{title} (2026 Guide)"),
            "meta_description": "Measure, try, run: three steps to a pair that fits.",
            "eeat_score": 87,
            "word_count": 1450,
        },
        "featured_image": { "url": "https://example.com/images/shoe.jpg", "alt_text": "A running shoe" },
        "social_posts": { "short": "Fit first.", "long": ["One.", "Two."] },
        "credits_used": 1,
    });
    DeliveryRequest::new(body.to_string()).job_id(job)
}

/// Entries in every state, and a ledger. No process has the file open afterwards.
pub(crate) async fn inbox(path: &Path) {
    let now = SystemTime::now();
    let clock = Clock::stepped(now - Duration::from_secs(AGES[0]));
    let settings = SqliteSettings::default().clock(clock.clone());
    let store = SqliteStore::open_with(path, settings).unwrap();
    let inbox = Inbox::new(store.clone());
    for ((number, title), age) in (0_u32..).zip(TITLES).zip(AGES) {
        let since = now.duration_since(clock.now()).unwrap();
        clock.advance(since.saturating_sub(Duration::from_secs(age)));
        let job = format!("job_{:08x}", 0x7c1e_4a52_u32.wrapping_mul(number * 2 + 1));
        assert_eq!(inbox.accept(article(&job, title).delivery().unwrap()).await, Reply::Stored);
        let retry = |cause: &str, after| Outcome::Retry { after, cause: cause.to_owned() };
        let down = "the blog answered 503 Service Unavailable";
        match number {
            3 => {
                for cause in [down, "connection refused: 127.0.0.1:8080"] {
                    settle_one(&store, retry(cause, Duration::ZERO)).await;
                }
                settle_one(
                    &store,
                    Outcome::Dead { cause: "the blog has no category “training”".to_owned() },
                )
                .await;
            }
            7 => settle_one(&store, retry(down, Duration::from_secs(1500))).await,
            8..=11 => {}
            _ => settle_one(&store, Outcome::Done).await,
        }
        if number == 5 {
            let broken = DeliveryRequest::new("{\"job_id\":\"job_half\",\"note\":\"no article\"}")
                .job_id("job_half");
            assert_eq!(inbox.accept(broken.delivery().unwrap()).await, Reply::Stored);
            settle_one(
                &store,
                Outcome::Unhandled { seen: 1, cause: "missing field `article`".to_owned() },
            )
            .await;
        }
    }
    let mut expect = Expect::job("job_5d0b7f11".parse().unwrap(), now - Duration::from_secs(90));
    expect.reason = Reason::Refused { code: "malformed_json".into() };
    let second = Expect::job("job_66aa01c9".parse().unwrap(), now + Duration::from_secs(240));
    store.expect(vec![expect, second]).await.unwrap();
    clock.advance(now.duration_since(clock.now()).unwrap());
    inbox.close().await.unwrap();
}
