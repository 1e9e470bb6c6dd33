//! The results of jobs: generated articles.

use article_webhook::{ArticleResult, fixture};
use article_webhook_simulator::Settings;
use http::Method;
use serde_json::{Value, json};

use crate::common::{Api, request, seconds, settings, shoes};

/// The result of the only job of a service with this seed, as it is served.
fn served(seed: u64, order: &Value) -> bytes::Bytes {
    let mut api = Api::new(Settings { seed, price: 3, ..settings() });
    let job_id = api.ordered(order);
    let path = format!("/v1/content/articles/{job_id}");
    api.service.call(seconds(180), &request(Method::GET, &path, "")).into_body()
}

fn result(seed: u64, order: &Value) -> ArticleResult {
    ArticleResult::from_json(&served(seed, order)).expect("it is a result")
}

/// The visible words, without scripts and tags.
fn words(html: &str) -> Vec<String> {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let end = if tag.starts_with("script") { "</script>" } else { ">" };
        rest = tag.split_once(end).expect("each tag has an end").1;
    }
    text.push_str(rest);
    // The sanitiser may escape characters differently.
    let text = text.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&");
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_fields_are_in_the_order_of_the_document() {
    let body = served(7, &shoes());
    let body = std::str::from_utf8(&body).unwrap();
    let names = "job_id status article title html meta_title meta_description eeat_score word_count \
                 featured_image url alt_text social_posts linkedin x credits_used";
    let place = |name| body.find(&format!("\"{name}\":")).expect(name);
    assert!(names.split(' ').map(place).is_sorted(), "{body}");
}

#[test]
fn a_receiver_accepts_it_and_knows_every_field() {
    for seed in 0..50 {
        let body = served(seed, &shoes());
        let job_id = result(seed, &shoes()).job_id;
        let post = fixture::DeliveryRequest::new(body).header("X-Service-Job-Id", job_id.as_str());
        let delivery = post.delivery().unwrap();
        assert_eq!(delivery.drift(), []);

        let result = delivery.decode().unwrap();
        assert!((60.0..100.0).contains(&result.article.eeat_score.unwrap()));
        assert_eq!(result.credits_used, Some(3.0));
        assert_eq!([result.social_posts.linkedin.len(), result.social_posts.x.len()], [2, 2]);
        assert!(result.social_posts.x[0].text().is_some());
        let image = result.featured_image.unwrap();
        let url = image.http_url().unwrap();
        assert!(url.starts_with("http://simulator.test/images/"), "{url}");
        assert!(image.alt_text.is_some_and(|text| text.len() > 10));
        assert!(result.article.meta_title.is_some() && result.article.meta_description.is_some());
    }
}

#[test]
fn a_drawn_article_has_500_to_3000_words_and_the_usual_elements() {
    let (mut shortest, mut longest) = (usize::MAX, 0);
    for seed in 0..300 {
        let html = result(seed, &shoes()).article.html.into_untrusted_string();
        let words = words(&html).len();
        (shortest, longest) = (shortest.min(words), longest.max(words));
        assert!(html.starts_with("<article>") && html.ends_with("</article>"));
        assert!(html.contains(r#"<script type="application/ld+json">{"@context""#));
        assert!(!html.is_ascii());
    }
    // The length is that of the HTML, so that the number of words is not exact.
    assert!(
        (450..600).contains(&shortest) && (2900..3300).contains(&longest),
        "{shortest} {longest}"
    );

    let order = json!({ "topic": "Shoes", "words": 3000 });
    let html = result(7, &order).article.html.into_untrusted_string();
    for tag in
        ["<h1>", "<h2 id=\"", "<ul ", "<ol ", "<li>", "<table>", "<a href=\"", "<blockquote "]
    {
        assert!(html.contains(tag), "{tag}");
    }
}

#[test]
fn the_word_count_is_correct() {
    for seed in 0..100 {
        let topic = "Shoes & <b>boots</b>\u{2003}for\n\"us\" </script> żółć";
        let article = result(seed, &json!({ "topic": topic })).article;
        let counted = words(article.html.as_untrusted_str()).len();
        assert_eq!(u64::try_from(counted).ok(), article.word_count);
    }
}
