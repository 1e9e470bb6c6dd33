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

/// How many attributes a tag may have. The time to read them grows with the square of it, too.
const ATTRIBUTES: usize = 1000;

/// Elements that have no end, or may be written without one. They do not count as nested, except an item of one kind of list
/// in an item of the other, which does not end it.
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
                    Ok(clean) => {
                        (PreEscaped(clean))
                        @if is_cut { p { em { "The rest is in the download." } } }
                    }
                    Err(why) => p { em { (why) } },
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

const TOO_COSTLY: &str = "It is not shown, because that would take too long: its elements are nested too deep, or a tag has too many attributes. It is in the download.";
const TOO_LONG: &str = "It is not shown, because that takes too long. It is in the download.";
const BUSY: &str =
    "It is not shown yet: another article is being made harmless. Load the page again.";

/// The same as [`harmless`], on a thread of its own, or why not. The permit is kept until the thread has ended, so that there is
/// one at a time whatever is asked for.
async fn clean(cleaning: Arc<Semaphore>, html: String) -> Result<String, &'static str> {
    let Ok(Ok(permit)) = timeout(PATIENCE, cleaning.acquire_owned()).await else {
        return Err(BUSY);
    };
    let cleaned = spawn_blocking(move || {
        let _permit = permit;
        let is_cheap = depth(&html) <= DEEPEST && attributes(&html) <= ATTRIBUTES;
        if is_cheap { Ok(harmless(&html)) } else { Err(TOO_COSTLY) }
    });
    timeout(PATIENCE, cleaned).await.ok().and_then(Result::ok).unwrap_or(Err(TOO_LONG))
}

/// About how deep elements are nested. Comments and attributes count as if they were elements.
fn depth(html: &str) -> usize {
    let (mut open, mut deepest, mut item) = (0_usize, 0, None);
    for tag in html.split('<').skip(1) {
        let name = tag.trim_start_matches('/');
        let end = name.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(name.len());
        let name = &name[..end];
        let is = |other: &str| other.eq_ignore_ascii_case(name);
        if name.is_empty() {
            continue;
        }
        if UNENDED.into_iter().any(is) {
            let kind = if is("li") { "li" } else { "dd" };
            if (is("li") || is("dd") || is("dt")) && item.replace(kind).is_some_and(|it| it != kind)
            {
                open += 1;
            }
        } else if tag.starts_with('/') {
            (open, item) = (open.saturating_sub(1), None);
        } else {
            open += 1;
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// About how many attributes the tag has that has the most. Text before a `>` counts as if it were attributes.
fn attributes(html: &str) -> usize {
    let of_tag = |tag: &str| {
        let end = tag.rfind('>').unwrap_or(tag.len());
        tag[..end].split(|it: char| it.is_ascii_whitespace() || it == '=').count()
    };
    html.split('<').skip(1).map(of_tag).max().unwrap_or_default()
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
        assert_eq!(depth("<ul><li>a<li>b</ul><dl><dt>c<dd>d</dl><ol><li>e</ol>"), 1);
        // The items of one kind of list do not end those of the other.
        assert_eq!(depth(&"<li><p><dd>".repeat(9)), 17);
    }

    #[test]
    fn the_attributes_of_a_tag_are_counted() {
        let many = "<p>a b c</p><i a0 a1=1 a2>";
        assert_eq!(attributes(many), 5);
        assert_eq!(attributes("<p a=\"<\" b c d e f>"), 6);
        assert_eq!(attributes("no tag > at all"), 0);
    }

    #[tokio::test]
    async fn deep_nesting_is_refused_and_what_follows_is_shown() {
        let cleaning = Arc::new(Semaphore::new(1));
        let attributes: String = (0..60_000).map(|number| format!(" a{number}")).collect();
        for costly in
            ["<div>".repeat(SHOWN / 5), "<li><p><dd>".repeat(40_000), format!("<p{attributes}>")]
        {
            assert_eq!(clean(Arc::clone(&cleaning), costly).await, Err(TOO_COSTLY));
        }
        assert_eq!(clean(cleaning, "<p>a</p>".to_owned()).await.as_deref(), Ok("<p>a</p>"));
    }

    #[tokio::test]
    async fn one_that_waits_for_another_is_not_called_deep() {
        let cleaning = Arc::new(Semaphore::new(0));
        assert_eq!(clean(cleaning, "<p>a</p>".to_owned()).await, Err(BUSY));
    }
}
