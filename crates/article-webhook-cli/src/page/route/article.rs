use std::{sync::Arc, time::Duration};

use article_webhook::ArticleResult;
use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::header;
use maud::{DOCTYPE, PreEscaped, html};
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

use super::answer::{BodyPath, Page, failed, gone, key};

/// No script, no form, no link, and nothing is loaded. The frame's own `sandbox` says the same: each of the two would do.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox; form-action 'none'; base-uri 'none'; \
    frame-ancestors 'self'";

/// How much of an article's HTML is shown. The rest is in the download.
const SHOWN: usize = 512 * 1024;

/// How long a request waits for harmless HTML.
const PATIENCE: Duration = Duration::from_secs(5);

/// How deep its elements may be nested. The time to make them harmless grows with the square of it.
const DEEPEST: usize = 500;

/// Elements that have no end, or may be written without one. They do not count as nested.
const UNENDED: [&str; 18] = [
    "area", "br", "col", "dd", "dt", "hr", "img", "input", "li", "link", "meta", "option", "p",
    "source", "td", "th", "tr", "wbr",
];

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
    let is_cut = end < all.len();
    let shown = all[..end].to_owned();
    let clean = clean(Arc::clone(&shared.cleaning), shown).await;
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
                @match clean {
                    Some(clean) => {
                        (PreEscaped(clean))
                        @if is_cut { p { em { "The rest is in the download." } } }
                    }
                    None => p { em { "It is not shown, because that would take too long: its elements are nested too deep. It is in the download." } },
                }
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

/// The same as [`harmless`], on a thread of its own, or `None` where that takes too long. The permit is kept until the thread
/// has ended, so that there is one at a time whatever is asked for.
async fn clean(cleaning: Arc<Semaphore>, html: String) -> Option<String> {
    let cleaned = async {
        let permit = cleaning.acquire_owned().await.ok()?;
        let cleaned = spawn_blocking(move || {
            let _permit = permit;
            (depth(&html) <= DEEPEST).then(|| harmless(&html))
        });
        cleaned.await.ok()?
    };
    timeout(PATIENCE, cleaned).await.ok()?
}

/// About how deep elements are nested. Comments and attributes count as if they were elements.
fn depth(html: &str) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let name = tag.trim_start_matches('/');
        let end = name.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(name.len());
        let name = &name[..end];
        if name.is_empty() || UNENDED.iter().any(|it| it.eq_ignore_ascii_case(name)) {
            continue;
        }
        open = if tag.starts_with('/') { open.saturating_sub(1) } else { open + 1 };
        deepest = deepest.max(open);
    }
    deepest
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

    #[test]
    fn elements_without_an_end_are_not_nested() {
        assert_eq!(depth("<ul><li>a<li>b<br></ul><p>c<p><b>d</b> 1 < 2"), 1);
        assert_eq!(depth(&"<div>".repeat(9)), 9);
    }

    #[tokio::test]
    async fn deep_nesting_is_refused_and_what_follows_is_shown() {
        let cleaning = Arc::new(Semaphore::new(1));
        let nested = "<div>".repeat(SHOWN / 5);
        assert_eq!(clean(Arc::clone(&cleaning), nested).await, None);
        assert_eq!(clean(cleaning, "<p>a</p>".to_owned()).await.as_deref(), Some("<p>a</p>"));
    }
}
