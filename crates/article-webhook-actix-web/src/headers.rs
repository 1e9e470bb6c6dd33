use actix_web::http::header::HeaderMap;
use article_webhook::adapter::Headers;

/// actix-web's headers, for the core.
pub(crate) struct ActixHeaders<'a>(pub(crate) &'a HeaderMap);

impl Headers for ActixHeaders<'_> {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.get_all(name).map(|value| value.as_bytes())
    }
}
