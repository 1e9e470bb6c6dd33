use std::fmt;

use article_webhook::JobId;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::{Host, Url};

use crate::error::{Error, Kind};

/// Everything but the unreserved characters of RFC 3986, section 2.3.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Where the service is: scheme, host, and the path before `/v1`.
#[derive(Clone)]
pub(crate) struct BaseUrl(Url);

/// To which hosts the key may be sent without TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlainHttp {
    LoopbackOnly,
    Anywhere,
}

impl BaseUrl {
    pub(crate) fn new(text: &str, plain_http: PlainHttp) -> Result<Self, Error> {
        let refuse = |why| Error::new(Kind::BaseUrl(why));
        let mut url = Url::parse(text).map_err(|_| refuse("is not a URL"))?;
        let is_safe = match url.scheme() {
            "https" => true,
            "http" => plain_http == PlainHttp::Anywhere || is_loopback(&url),
            _ => return Err(refuse("is neither https nor http")),
        };
        if !is_safe {
            return Err(refuse("is http, which sends the key unencrypted: use https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse("holds credentials: the API key is a separate setting"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("has a query or a fragment: end it with the path before /v1"));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(Self(url))
    }

    pub(crate) fn is_http(&self) -> bool {
        self.0.scheme() == "http"
    }

    /// The URL of a call. `path` is a constant; a text from outside becomes one segment after it.
    pub(crate) fn call(&self, path: &str, segment: Option<&JobId>) -> Result<Url, Error> {
        let base = self.0.path().trim_end_matches('/');
        let mut whole = [base, path].concat();
        if let Some(segment) = segment {
            whole.push('/');
            whole.extend(utf8_percent_encode(segment.as_str(), ESCAPED));
        }
        let mut url = self.0.clone();
        url.set_path(&whole);
        // A path that the parser changed would be another call.
        if url.path() != whole { Err(Error::new(Kind::Path)) } else { Ok(url) }
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0.as_str(), f)
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(base: &str, id: &str) -> String {
        let base = BaseUrl::new(base, PlainHttp::LoopbackOnly).unwrap();
        let id: JobId = id.parse().unwrap();
        base.call("/v1/content/articles", Some(&id)).unwrap().into()
    }

    #[test]
    fn a_job_id_is_one_segment_of_the_path() {
        for (id, segment) in [
            ("job_1", "job_1"),
            ("a/../b", "a%2F..%2Fb"),
            ("...", "..."),
            ("%2e%2e", "%252e%252e"),
            ("a?b#c", "a%3Fb%23c"),
            ("\\", "%5C"),
            ("ż", "%C5%BC"),
        ] {
            let url = call("https://service.test/api/", id);
            assert_eq!(url, format!("https://service.test/api/v1/content/articles/{segment}"));
        }
    }

    #[test]
    fn http_is_for_the_loopback() {
        for base in ["http://127.0.0.1:3001", "http://localhost", "http://[::1]:1/api"] {
            assert!(BaseUrl::new(base, PlainHttp::LoopbackOnly).is_ok(), "{base}");
        }
        for base in [
            "http://service.test",
            "http://localhost.service.test",
            "http://10.0.0.1",
            "http://127.0.0.1.nip.io",
            "http://0.0.0.0",
        ] {
            assert!(BaseUrl::new(base, PlainHttp::LoopbackOnly).is_err(), "{base}");
            assert!(BaseUrl::new(base, PlainHttp::Anywhere).is_ok(), "{base}");
        }
    }
}
