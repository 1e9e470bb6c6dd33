//! What the page consists of besides HTML. All of it is in the program.

use axum::response::{IntoResponse, Response};
use http::header;

/// A file of the page, which needs no key.
pub(super) struct Asset {
    kind: &'static str,
    text: &'static str,
}

pub(super) const STYLE: Asset =
    Asset { kind: "text/css; charset=utf-8", text: include_str!("asset/page.css") };

pub(super) const SCRIPT: Asset =
    Asset { kind: "text/javascript; charset=utf-8", text: include_str!("asset/page.js") };

pub(super) const ICON: Asset =
    Asset { kind: "image/svg+xml", text: include_str!("asset/icon.svg") };

impl IntoResponse for Asset {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, self.kind)], self.text).into_response()
    }
}
