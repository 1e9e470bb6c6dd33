//! One body of an entry: to be saved, and as the article looks.

use std::sync::Arc;

use article_webhook::{ArticleResult, ArticleSanitizer, UntrustedHtml};
use axum::{
    extract::{Path, State},
    response::IntoResponse,
};
use bytes::Bytes;
use http::header;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use tokio::task::spawn_blocking;

use super::missed::Missed;
use crate::page::{entry_path::key_of, shared::Shared};

/// No script, no form, no link that leads away, and nothing is loaded. The frame's own `sandbox` says the same: each of the two would do.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox; form-action 'none'; base-uri 'none'; \
    frame-ancestors 'self'";

/// How much of an article's HTML is shown. The rest is in the download.
const SHOWN: usize = 512 * 1024;

/// The style of an article, which has none of its own.
const STYLE: &str = include_str!("../asset/article.css");

/// The job and the event of an entry, and the number of a body, counted from 1.
type BodyPath = Path<(String, String, usize)>;

async fn bytes(
    shared: &Shared,
    (job, event, number): (String, String, usize),
) -> Result<Bytes, Missed> {
    let key = key_of(&job, &event).ok_or(Missed::Gone)?;
    let (_, bodies) = shared.inbox.show(key).await?.ok_or(Missed::Gone)?;
    let body = number.checked_sub(1).and_then(|index| bodies.into_iter().nth(index));
    body.and_then(|body| body.bytes).ok_or(Missed::Gone)
}

/// A body as it came, to be saved. No browser shows it as a page.
pub(in crate::page) async fn download(
    State(shared): State<Arc<Shared>>,
    Path(path): BodyPath,
) -> Result<impl IntoResponse, Missed> {
    let name = format!("attachment; filename=\"body-{}.json\"", path.2);
    let headers = [
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, bytes(&shared, path).await?))
}

/// The HTML of an article, for the frame of its page.
pub(in crate::page) async fn article(
    State(shared): State<Arc<Shared>>,
    Path(path): BodyPath,
) -> Result<impl IntoResponse, Missed> {
    let bytes = bytes(&shared, path).await?;
    let result = ArticleResult::from_json(&bytes).map_err(|_| Missed::Gone)?;
    let all = result.article.html.as_untrusted_str();
    let mut ends = (0..=SHOWN.min(all.len())).rev();
    let end = ends.find(|end| all.is_char_boundary(*end)).unwrap_or_default();
    let is_cut = end < all.len();
    let shown = all[..end].to_owned();
    let shown = spawn_blocking(move || shown_html(shown)).await;
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
                @match shown {
                    Ok(shown) => (shown),
                    Err(_) => p { em { "It cannot be shown. It is in the download." } },
                }
                @if is_cut { p { em { "The rest is in the download." } } }
            }
        }
    };
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_DNS_PREFETCH_CONTROL, "off"),
    ];
    Ok((headers, page))
}

/// The HTML without anything that runs, loads or leads away: of an image its description stays, of a link its text. If that would take
/// too long, the HTML as text.
fn shown_html(html: String) -> Markup {
    let html = UntrustedHtml::new(html);
    match html.sanitized_by(&ArticleSanitizer::new().without_urls()) {
        Ok(sanitized) => PreEscaped(sanitized),
        Err(_) => html! {
            p { em { "This is its source. It is too complex to be shown as a page: its elements are nested too deep, or too many." } }
            pre { (html.as_untrusted_str()) }
        },
    }
}
