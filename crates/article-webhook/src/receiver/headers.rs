use http::{HeaderMap, header};

/// Looks up the headers of a request.
///
/// This is a trait because frameworks have different map types: actix-web has its own, most others use
/// [`http::HeaderMap`], and some environments have plain pairs. Implemented for `HeaderMap` and for
/// slices, arrays and vectors of name and value pairs.
///
/// ```
/// use article_webhook::adapter::Headers;
///
/// let pairs = [("X-Service-Job-Id", "job_1"), ("x-service-job-id", "job_2")];
/// let values: Vec<_> = pairs.values("X-SERVICE-JOB-ID").collect();
/// assert_eq!(values, [&b"job_1"[..], b"job_2"]);
/// assert_eq!(pairs.values("Authorization").count(), 0);
/// ```
pub trait Headers {
    /// All values of the header `name`, in the order received. Names are compared in any letter case.
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]>;
}

impl Headers for HeaderMap {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        // These names are constants, which `http` need not parse.
        let values = match name {
            "authorization" => self.get_all(header::AUTHORIZATION),
            "content-type" => self.get_all(header::CONTENT_TYPE),
            "content-encoding" => self.get_all(header::CONTENT_ENCODING),
            "content-length" => self.get_all(header::CONTENT_LENGTH),
            "transfer-encoding" => self.get_all(header::TRANSFER_ENCODING),
            other => self.get_all(other),
        };
        values.iter().map(|value| value.as_bytes())
    }
}

impl<N: AsRef<[u8]>, V: AsRef<[u8]>> Headers for [(N, V)] {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.iter()
            .filter(move |(own, _)| own.as_ref().eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value.as_ref())
    }
}

impl<N: AsRef<[u8]>, V: AsRef<[u8]>, const LENGTH: usize> Headers for [(N, V); LENGTH] {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self[..].values(name)
    }
}

impl<N: AsRef<[u8]>, V: AsRef<[u8]>> Headers for Vec<(N, V)> {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self[..].values(name)
    }
}

/// The header is repeated.
pub(super) struct Repeated;

/// The only value of a header, without the surrounding white space, which is not part of the value.
pub(super) fn single<'a>(
    headers: &'a (impl Headers + ?Sized),
    name: &'a str,
) -> Result<Option<&'a [u8]>, Repeated> {
    let mut values = headers.values(name);
    let value = values.next();
    match values.next() {
        Some(_) => Err(Repeated),
        None => Ok(value.map(<[u8]>::trim_ascii)),
    }
}
