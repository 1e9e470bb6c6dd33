use std::{
    io::{self, Write},
    time::Duration,
};

use article_webhook_client::NewArticle;
use article_webhook_simulator::Simulator;
use article_webhook_tests::serve::Framework;

use crate::story::Story;

const OUTAGES: [(&str, u64); 12] = [
    ("1 s", 1),
    ("9 s", 9),
    ("11 s", 11),
    ("60 s", 60),
    ("69 s", 69),
    ("71 s", 71),
    ("5 min", 300),
    ("369 s", 369),
    ("371 s", 371),
    ("10 min", 600),
    ("1 h", 3600),
    ("24 h", 86_400),
];

/// The receiver goes down just before the article is done. Either the service delivers it once the receiver is up,
/// or the client reads it: none is lost, however long the outage.
#[tokio::test]
async fn an_outage_of_any_length_loses_nothing() {
    let mut table = String::from("\n  outage   attempts   how the article came, after\n");
    for (name, seconds) in OUTAGES {
        let mut rows = Vec::new();
        for framework in Framework::ALL {
            let story = Story::begin(framework, Simulator::builder()).await;
            let job_id = story.order(&NewArticle::new("How to choose running shoes")).await;
            story.generate(&job_id).await;
            story.shop.close();
            story.simulator.advance(Duration::from_secs(seconds)).await;
            story.shop.open();
            story.simulator.advance(Duration::from_secs(3600)).await;

            let attempts = story.attempts();
            let times: Vec<_> = attempts.iter().map(|(at, _)| *at).collect();
            assert_eq!(times, [0, 10, 70, 370][..times.len()], "{framework:?}, {name}");
            let (last, status) = *attempts.last().expect("the service tried");
            let kept = story.shop.article(job_id.as_str());
            let is_pushed = kept.is_some();
            assert_eq!(is_pushed, status == Some(200), "{framework:?}, {name}");
            assert_eq!(is_pushed, seconds < 370, "{framework:?}, {name}");
            let complete = story.complete(&job_id).await;
            assert_eq!(complete.result.job_id, job_id);
            let came = if let Some(kept) = kept {
                assert_eq!((kept.times, kept.body), (1, complete.body));
                format!("pushed, +{last} s")
            } else {
                "never pushed; read by the client".to_owned()
            };
            rows.push(format!("  {name:>6}   {:>8}   {came}\n", attempts.len()));
        }
        assert!(rows.iter().all(|row| *row == rows[0]), "the frameworks differ");
        table += &rows[0];
    }
    table += "\nend_to_end: outages: 1 s to 24 h: delivered up to 369 s, then read by the client: 0 lost\n";
    // Unlike what `println!` writes, it is seen when the tests pass.
    io::stdout().write_all(table.as_bytes()).expect("there is an output");
}
