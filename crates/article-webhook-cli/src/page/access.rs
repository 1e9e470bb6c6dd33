//! Who may see the page, and who may press its buttons.
//!
//! | who tries | what refuses |
//! |---|---|
//! | a program or a person without the URL that the terminal showed | the path, then the key, then a cookie |
//! | a page that had its own name resolved to this machine (DNS rebinding) | `Host` must be an address or `localhost` |
//! | a page of another origin that sends a form, or embeds this page | `Sec-Fetch-Site`, else `Origin`; `SameSite=Strict` |
//! | a page of another port of this machine, which a browser counts as the same site | the same, and the token of each form |
//! | another server on this machine that the person opens in the same browser | the path |
//!
//! A browser sends a cookie to every port of its host. So every path of the page begins with a random part, and the cookie is
//! for paths below it: a server that does not know it is not asked for them, and does not get the cookie. No page of another
//! origin gets it either, because the page sends no `Referer` to others.

use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions},
    io::{ErrorKind, Write},
    net::{IpAddr, SocketAddr},
    path::Path,
};

use http::{HeaderMap, HeaderName, Method, Uri, header};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{failure::Failure, text::command::quoted};

/// Sec-Fetch headers, which every current browser sends and no page can set.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The name of the cookie. Pages of several starts have several, by their paths.
const COOKIE: &str = "article-webhook";

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Host,
    ForeignPage,
    NoKey,
    ReadOnly,
    Token,
}

/// How many different digits a secret has. Of a hundred million that are random, one has fewer.
const MIN_DIGITS: usize = 8;

/// A random text that only who reads this process's terminal or its pages has.
#[derive(Clone)]
pub(super) struct Secret(String);

impl Secret {
    fn random() -> Self {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the system has random numbers");
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// `None`: a person made it up, or it is not one.
    fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_random = text.bytes().collect::<BTreeSet<_>>().len() >= MIN_DIGITS;
        let is_secret = text.len() == 32 && text.bytes().all(is_digit) && is_random;
        is_secret.then(|| Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }
}

pub(super) struct Access {
    /// The first part of every path.
    root: Secret,
    /// In the URL at the start.
    pub(super) key: Secret,
    /// In the cookie that the key is exchanged for.
    session: Secret,
    /// In every form.
    pub(super) token: Secret,
}

impl Access {
    pub(super) fn new() -> Self {
        let random = Secret::random;
        Self { root: random(), key: random(), session: random(), token: random() }
    }

    /// The secrets in a file, which is made if there is none. Only its owner may read it.
    pub(super) fn of_file(path: &Path) -> Result<Self, Failure> {
        let (file, shown) = (path.display(), quoted(&path.display().to_string()));
        let cannot = |what: &str, error: &std::io::Error| {
            Failure::usage(format!("--page-key-file: {file} cannot be {what}")).because(error).fix(
                "name a file of your own, in a folder that you may write: --page-key-file FILE",
            )
        };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(path) {
            Ok(mut made) => {
                let access = Self::new();
                let Self { root, key, session, token } = &access;
                let lines = [root, key, session, token].map(|it| format!("{}\n", it.as_str()));
                let lines = Zeroizing::new(lines.concat());
                made.write_all(lines.as_bytes()).map_err(|error| cannot("written", &error))?;
                return Ok(access);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot("made", &error)),
        }
        let status = fs::metadata(path).map_err(|error| cannot("read", &error))?;
        #[cfg(unix)]
        if std::os::unix::fs::PermissionsExt::mode(&status.permissions()) & 0o077 != 0 {
            return Err(Failure::usage(format!(
                "--page-key-file: others than its owner have rights on {file}, which opens the page"
            ))
            .fix(format!(
                "chmod 600 {shown}, if no other user has read it; otherwise rm {shown}, and a new one is made"
            )));
        }
        let weak = || {
            Failure::usage(format!("--page-key-file: {file} is not a key that this program made"))
                .fix(format!("rm {shown}, and a new one is made; or name another file"))
        };
        if !status.is_file() {
            return Err(weak());
        }
        let text =
            Zeroizing::new(fs::read_to_string(path).map_err(|error| cannot("read", &error))?);
        let secrets: Option<Vec<_>> = text.lines().map(Secret::parse).collect();
        let secrets: Option<[Secret; 4]> = secrets.and_then(|secrets| secrets.try_into().ok());
        let [root, key, session, token] = secrets.ok_or_else(weak)?;
        let all: BTreeSet<_> = [&root, &key, &session, &token].map(Secret::as_str).into();
        if all.len() < 4 {
            return Err(weak());
        }
        Ok(Self { root, key, session, token })
    }

    /// The URL that opens the page.
    pub(super) fn url(&self, address: SocketAddr) -> String {
        let address = match address.ip().is_unspecified() {
            true => SocketAddr::from(([127, 0, 0, 1], address.port())),
            false => address,
        };
        format!("http://{address}{}?key={}", self.path("/"), self.key.as_str())
    }

    /// A path of the page, below its random part.
    pub(super) fn path(&self, path: &str) -> String {
        format!("/{}{path}", self.root.as_str())
    }

    /// The `Set-Cookie` for a browser that has the key.
    pub(super) fn cookie(&self) -> String {
        let (session, path) = (self.session.as_str(), self.path("/"));
        format!("{COOKIE}={session}; Path={path}; HttpOnly; SameSite=Strict")
    }

    /// Checks what every request must fulfil, whatever it asks for.
    pub(super) fn check_origin(
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), Refusal> {
        let host = single(headers, header::HOST).ok_or(Refusal::Host)?;
        if uri.authority().is_some() || !is_host_of_this_machine(host) {
            return Err(Refusal::Host);
        }
        let is_change = method != Method::GET && method != Method::HEAD;
        match single(headers, FETCH_SITE) {
            Some("same-origin") => Ok(()),
            // The address bar, a bookmark, or a link in another page or program.
            Some(site)
                if !is_change
                    && (site == "none" || single(headers, FETCH_DEST) == Some("document")) =>
            {
                Ok(())
            }
            Some(_) => Err(Refusal::ForeignPage),
            None if headers.contains_key(FETCH_SITE) => Err(Refusal::ForeignPage),
            None if !is_change => Ok(()),
            None => match single(headers, header::ORIGIN) {
                Some(origin) if origin.strip_prefix("http://") == Some(host) => Ok(()),
                _ => Err(Refusal::ForeignPage),
            },
        }
    }

    /// Whether the request has the cookie.
    pub(super) fn check_cookie(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let cookies = headers.get_all(header::COOKIE).iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        let found = cookies.flat_map(|value| value.split(';')).any(|cookie| {
            let cookie = cookie.trim().split_once('=');
            cookie.is_some_and(|(found, value)| found == COOKIE && self.session.is(value))
        });
        if found { Ok(()) } else { Err(Refusal::NoKey) }
    }
}

/// The value of a header that is there once.
fn single(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// An address, or `localhost`. A name that a stranger chose is never one, wherever it leads to. The port is free, because
/// the page may be seen through a tunnel.
fn is_host_of_this_machine(host: &str) -> bool {
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match bare {
        Some(bare) => bare.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            host.eq_ignore_ascii_case("localhost")
                || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv4())
        }
    }
}
