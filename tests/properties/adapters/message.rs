use std::io;

use axum::body::Body;
use bytes::Bytes;
use futures_util::{Stream, stream};
use http::{HeaderName, HeaderValue, Method};

use super::application::Entry;
use crate::properties::{request::Request, site::Site};

/// A request, without what no HTTP parser lets through.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) method: Method,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) site: Site,
    pieces: Vec<Bytes>,
    whole: bool,
}

/// How an application mounts the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Receive,
    Extract,
}

impl From<&Request<'_>> for Message {
    fn from(request: &Request<'_>) -> Self {
        let headers = request.headers.iter().filter_map(|(name, value)| {
            Some((HeaderName::from_bytes(name).ok()?, HeaderValue::from_bytes(value).ok()?))
        });
        Self {
            method: method(request.method).unwrap_or(Method::POST),
            headers: headers.collect(),
            site: request.site,
            pieces: request.pieces().map(Bytes::copy_from_slice).collect(),
            whole: request.whole,
        }
    }
}

/// One that both versions of `http` let through: the older one knows fewer characters.
fn method(name: &str) -> Option<Method> {
    actix_web::http::Method::from_bytes(name.as_bytes()).ok()?;
    name.parse().ok()
}

impl Message {
    pub(super) fn path(&self, style: Style) -> String {
        path(self.site, style)
    }

    /// The body as it arrives, piece by piece.
    pub(super) fn pieces(&self) -> impl Stream<Item = Result<Bytes, io::Error>> + use<> {
        let end = (!self.whole).then(|| Err(io::ErrorKind::UnexpectedEof.into()));
        stream::iter(self.pieces.clone().into_iter().map(Ok).chain(end))
    }

    /// As the frameworks on `http` 1 take it.
    pub(super) fn request(&self, style: Style) -> http::Request<Body> {
        let mut request = http::Request::new(Body::from_stream(self.pieces()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.path(style).parse().expect("the path is a legal one");
        for (name, value) in &self.headers {
            request.headers_mut().append(name, value.clone());
        }
        request
    }
}

pub(super) fn path(site: Site, style: Style) -> String {
    format!("/{site:?}/{style:?}")
}

/// What came of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    closes: bool,
    body: Bytes,
    ledger: Vec<Entry>,
}

/// The headers that an answer may have, apart from the end of the connection.
const OURS: [&str; 4] = ["allow", "content-type", "retry-after", "www-authenticate"];

impl Exchange {
    pub(super) fn new<'a>(
        message: &Message,
        status: u16,
        headers: impl Iterator<Item = (&'a str, &'a [u8])>,
        body: Bytes,
        ledger: Vec<Entry>,
    ) -> Self {
        let headers = headers.filter(|(name, _)| OURS.contains(name));
        let mut headers: Vec<_> =
            headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        headers.sort();
        Self {
            // A handler's `Ok(())`, as actix-web writes it.
            status: if status == 204 { 200 } else { status },
            headers,
            closes: false,
            // axum removes it here, actix-web when it writes.
            body: if message.method == Method::HEAD { Bytes::new() } else { body },
            ledger,
        }
    }

    pub(super) fn closing(self) -> Self {
        Self { closes: true, ..self }
    }
}
