//! The promises of generated articles.

use article_webhook::{ArticleResult, fixture};
use article_webhook_simulator::articles::{ArticleSpec, Length, generate, image};

fn order(length: Length) -> ArticleSpec<'static> {
    ArticleSpec {
        image_base: "http://127.0.0.1:4000/images",
        credits_used: 3,
        length,
        ..ArticleSpec::new("job_1", "")
    }
}

fn result(seed: u64, order: &ArticleSpec<'_>) -> ArticleResult {
    ArticleResult::from_json(&generate(seed, order)).expect("it is a result")
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
fn the_same_seed_and_specification_give_the_same_bytes() {
    for length in [Length::Drawn, Length::Words(700), Length::Bytes(16_384)] {
        let order = order(length);
        assert_eq!(generate(7, &order), generate(7, &order));
        assert_ne!(generate(7, &order), generate(8, &order));
        assert_ne!(generate(7, &order), generate(7, &ArticleSpec { topic: "Boots", ..order }));
    }
    assert_eq!(image(7), image(7));
    assert_ne!(image(7), image(8));
}

#[test]
fn the_fields_are_in_the_order_of_the_document() {
    let body = generate(7, &order(Length::Drawn));
    let body = std::str::from_utf8(&body).unwrap();
    let names = "job_id status article title html meta_title meta_description eeat_score word_count \
                 featured_image url alt_text social_posts linkedin x credits_used";
    let place = |name| body.find(&format!("\"{name}\":")).expect(name);
    assert!(names.split(' ').map(place).is_sorted(), "{body}");
}

#[test]
fn a_receiver_accepts_it_and_knows_every_field() {
    for seed in 0..50 {
        let order = ArticleSpec { job_id: "job_7c1e4a52", ..order(Length::Drawn) };
        let post = fixture::DeliveryRequest::new(generate(seed, &order));
        let envelope = fixture::receiver().open(post.headers()).unwrap();
        let delivery = envelope.read(post.bytes().clone()).unwrap();
        assert_eq!(delivery.drift(), []);

        let result = delivery.decode().unwrap();
        assert!((60.0..100.0).contains(&result.article.eeat_score.unwrap()));
        assert_eq!(result.credits_used, Some(3.0));
        assert_eq!([result.social_posts.linkedin.len(), result.social_posts.x.len()], [2, 2]);
        assert!(result.social_posts.x[0].text().is_some());
        let image = result.featured_image.unwrap();
        let url = format!("http://127.0.0.1:4000/images/{seed}.png");
        assert_eq!(image.http_url(), Some(&*url));
        assert!(image.alt_text.is_some_and(|text| text.len() > 10));
        assert!(result.article.meta_title.is_some() && result.article.meta_description.is_some());
    }
}

#[test]
fn a_drawn_article_has_500_to_3000_words_and_the_usual_elements() {
    let (mut shortest, mut longest) = (usize::MAX, 0);
    for seed in 0..300 {
        let html = result(seed, &order(Length::Drawn)).article.html.into_untrusted_string();
        let words = words(&html).len();
        (shortest, longest) = (shortest.min(words), longest.max(words));
        assert!(html.starts_with("<article>") && html.ends_with("</article>"));
        assert!(html.contains(r#"<script type="application/ld+json">{"@context""#));
        assert!(!html.is_ascii());
    }
    assert!((500..600).contains(&shortest) && (2900..=3000).contains(&longest));

    let html = result(7, &order(Length::Words(3000))).article.html.into_untrusted_string();
    for tag in
        ["<h1>", "<h2 id=\"", "<ul ", "<ol ", "<li>", "<table>", "<a href=\"", "<blockquote "]
    {
        assert!(html.contains(tag), "{tag}");
    }
}

#[test]
fn the_word_count_is_correct() {
    for seed in 0..100 {
        for length in [Length::Drawn, Length::Words(1234), Length::Bytes(30_000)] {
            let topic = "Shoes & <b>boots</b>\u{2003}for\n\"us\" </script> żółć";
            let article = result(seed, &ArticleSpec { topic, ..order(length) }).article;
            let counted = words(article.html.as_untrusted_str()).len();
            let word_count = article.word_count.unwrap();
            assert_eq!(u64::try_from(counted), Ok(word_count));
            if let Length::Words(words) = length {
                assert_eq!(counted, words);
            }
        }
    }
}

#[test]
fn a_size_is_met_within_one_percent_and_never_exceeded() {
    for bytes in [4_096, 16_384, 65_536, 1 << 20, 8 << 20] {
        for seed in 0..if bytes > 1 << 18 { 3 } else { 100 } {
            let size = generate(seed, &order(Length::Bytes(bytes))).len();
            assert!((bytes * 99 / 100..=bytes).contains(&size), "{size} of {bytes}, seed {seed}");
        }
    }
    // Below the minimum, the article is as short as possible.
    assert!(generate(7, &order(Length::Bytes(0))).len() < 4_096);
    assert!(result(7, &order(Length::Words(0))).article.word_count.unwrap() < 20);
}

#[test]
fn the_sanitiser_keeps_the_text_and_drops_the_script() {
    for seed in 0..30 {
        let topic = "Shoes & <b>boots</b> </script> żółć";
        let html = result(seed, &ArticleSpec { topic, ..order(Length::Words(900)) }).article.html;
        let safe = html.sanitized().unwrap();
        assert!(!safe.contains("<script") && !safe.contains("@context"));
        assert_eq!(words(&safe), words(html.as_untrusted_str()));
    }
}

#[test]
fn a_topic_with_markup_stays_text() {
    let hostile = r#"a "quoted" \ topic <img src=x onerror=alert(1)>"#;
    let order = ArticleSpec { job_id: "a\"b", topic: hostile, ..order(Length::Words(500)) };
    let result = result(7, &order);
    assert_eq!(result.job_id.as_str(), "a\"b");
    assert_eq!(result.article.title, hostile);
    assert!(!result.article.html.as_untrusted_str().contains("<img"));
}

#[test]
fn an_image_is_a_valid_png() {
    for seed in 0..20 {
        let bytes = image(seed);
        let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((frame.width, frame.height, pixels.len()), (64, 36, 64 * 36 * 3));
        assert_ne!(pixels[..3], pixels[pixels.len() - 3..], "a gradient");
    }
}
