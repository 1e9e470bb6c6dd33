/// The title of every article of a check.
pub const TITLE: &str = "A check of the receiver";

/// How long an article is.
#[derive(Clone, Copy)]
pub(super) enum Length {
    /// At least this number of words.
    Words(usize),
    /// A body of exactly this number of bytes, if it has room for the fields.
    Bytes(usize),
}

/// Sentences as articles have them: several scripts, quotation marks, an emoji.
const SENTENCES: [&str; 6] = [
    "A good coach can teach you more than any table of sizes. ",
    "Your left foot should be measured in the evening, when feet are at their largest. ",
    "Zażółć gęślą jaźń will feel different on asphalt and on gravel. ",
    "The label “日本製” may look better than it is, even at −5 °C. ",
    "The evening run 🏃 will show what the advertisement left out. ",
    "A worn sole can ruin a careful plan for 89 € or less. ",
];

const SENTENCES_IN_A_PARAGRAPH: usize = 5;

/// The result of a job as JSON, with every field that the service documents.
pub(super) fn result(job_id: &str, length: Length) -> Vec<u8> {
    let before = format!(
        r#"{{"job_id":"{job_id}","status":"complete","article":{{"title":"{TITLE}","html":"<article>\n<h1>{TITLE}</h1>\n"#
    );
    let after = r#"</article>","meta_title":"A check","meta_description":"An article that checks the receiver.","eeat_score":80,"word_count":500},"featured_image":{"url":"http://127.0.0.1/images/check.png","alt_text":"An image"},"social_posts":{"linkedin":["A post"],"x":["A post"]},"credits_used":0}"#;
    let mut html = String::new();
    let (mut words, mut sentences) = (0, SENTENCES.iter().cycle());
    loop {
        let mut paragraph = "<p>".to_owned();
        for sentence in sentences.by_ref().take(SENTENCES_IN_A_PARAGRAPH) {
            paragraph.push_str(sentence);
        }
        paragraph.push_str(r"</p>\n");
        let is_enough = match length {
            Length::Words(wanted) => words >= wanted,
            Length::Bytes(wanted) => {
                before.len() + html.len() + paragraph.len() + after.len() > wanted
            }
        };
        if is_enough {
            break;
        }
        words += paragraph.split_whitespace().count();
        html.push_str(&paragraph);
    }
    if let Length::Bytes(wanted) = length {
        let missing = wanted.saturating_sub(before.len() + html.len() + after.len());
        html.extend(std::iter::repeat_n('.', missing));
    }
    [before.as_bytes(), html.as_bytes(), after.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use article_webhook::{AuthToken, Receiver};

    use super::*;

    #[test]
    fn a_receiver_accepts_it_and_knows_every_field() {
        let receiver = Receiver::new(AuthToken::new("Bearer secret").unwrap());
        let headers = [
            ("Authorization", "Bearer secret"),
            ("Content-Type", "application/json"),
            ("X-Service-Event", "article.complete"),
            ("X-Service-Job-Id", "check-1"),
        ];
        for length in [Length::Words(500), Length::Bytes(30_000)] {
            let body = result("check-1", length);
            let delivery = receiver.open(&headers[..]).unwrap().read(body).unwrap();
            assert_eq!(delivery.drift(), []);
            let article = delivery.decode().unwrap().article;
            let words = article.html.as_untrusted_str().split_whitespace().count();
            assert!(words >= 500, "{words}");
        }
    }

    #[test]
    fn it_has_as_many_bytes_as_it_is_to_have() {
        for bytes in [4096, 1 << 20, 7 << 20] {
            assert_eq!(result("check-1", Length::Bytes(bytes)).len(), bytes);
        }
    }
}
