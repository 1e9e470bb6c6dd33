use article_webhook::ArticleResult;
use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::header;
use maud::{DOCTYPE, PreEscaped, html};

use super::answer::{BodyPath, Page, failed, gone, key};

/// No script, no form, no link, and nothing is loaded. The frame's own `sandbox` says the same: each of the two would do.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox; form-action 'none'; base-uri 'none'; \
    frame-ancestors 'self'";

/// How much of an article's HTML is shown. The rest is in the download.
const SHOWN: usize = 512 * 1024;

/// The style of an article, which has none of its own.
const STYLE: &str = include_str!("../asset/article.css");

/// The HTML of an article, for the frame of its page.
pub(super) async fn article(State(shared): Page, Path((job, event, number)): BodyPath) -> Response {
    let Some(key) = key(&job, &event) else { return gone(&shared) };
    let found = match shared.inbox.show(key).await {
        Ok(found) => found,
        Err(error) => return failed(&shared, error),
    };
    let bodies = found.map(|(_, bodies)| bodies).unwrap_or_default();
    let body = number.checked_sub(1).and_then(|index| bodies.get(index));
    let bytes = body.and_then(|body| body.bytes.as_ref());
    let Some(Ok(result)) = bytes.map(|bytes| ArticleResult::from_json(bytes)) else {
        return gone(&shared);
    };
    let all = result.article.html.as_untrusted_str();
    let mut ends = (0..=SHOWN.min(all.len())).rev();
    let end = ends.find(|end| all.is_char_boundary(*end)).unwrap_or_default();
    let shown = &all[..end];
    let page = html! {
        (DOCTYPE)
        html {
            head {
                meta charset="utf-8";
                meta name="color-scheme" content="light dark";
                title { "Article" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (PreEscaped(harmless(shown)))
                @if shown.len() < all.len() { p { em { "The rest is in the download." } } }
            }
        }
    };
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_DNS_PREFETCH_CONTROL, "off"),
    ];
    (headers, page).into_response()
}

/// HTML without anything that runs, loads or leads away. Of an image its description stays, of a link its text.
fn harmless(html: &str) -> String {
    ammonia::Builder::new()
        .rm_tag_attributes("img", ["src"])
        .rm_tag_attributes("a", ["href", "hreflang"])
        .clean(html)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_article_keeps_its_text_and_nothing_that_loads() {
        let html = "<h1>A</h1><p onclick=x>b <a href='http://x'>c</a><img src='http://x' alt='d'><script>e</script>\
            <link rel=preconnect href='http://x'><style>@import 'http://x'</style>";
        let clean = harmless(html);
        assert!(!clean.contains("http") && !clean.contains("onclick"), "{clean}");
        assert!(
            clean.starts_with("<h1>A</h1><p>b <a rel=\"noopener noreferrer\">c</a><img alt=\"d\">")
        );
    }
}
