use std::ffi::OsStr;

use clap::{
    Arg, Command, Error,
    builder::{TypedValueParser, ValueParserFactory},
    error::ErrorKind,
};
use reqwest::Url;

/// A URL on the command line: of a receiver, of an application or of the service. It is http or https, and has no user and
/// no password, which other users of the machine could read. What is refused is not repeated, because it may have them.
#[derive(Debug, Clone)]
pub(crate) struct WebUrl(Url);

impl WebUrl {
    fn new(text: &OsStr) -> Result<Self, &'static str> {
        let url = text.to_str().and_then(|text| Url::parse(text).ok());
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = url.ok_or("expected a URL such as http://127.0.0.1:3000/webhooks/articles")?;
        match url.username().is_empty() && url.password().is_none() {
            true => Ok(Self(url)),
            false => Err(
                "a user or a password in a URL can be read by other users of this machine: leave it out, \
                 a delivery is authenticated by its token, and a call by the API key",
            ),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn as_url(&self) -> &Url {
        &self.0
    }
}

/// Makes it the parser of every argument of the type.
impl ValueParserFactory for WebUrl {
    type Parser = WebUrlParser;

    fn value_parser() -> Self::Parser {
        WebUrlParser
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct WebUrlParser;

impl TypedValueParser for WebUrlParser {
    type Value = WebUrl;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<WebUrl, Error> {
        WebUrl::new(value).map_err(|why| {
            let name = argument.map(ToString::to_string).unwrap_or_default();
            let text = format!(
                "invalid value for '{name}': {why}\n\nFor more information, try '--help'.\n"
            );
            Error::raw(ErrorKind::ValueValidation, text).with_cmd(command)
        })
    }
}
