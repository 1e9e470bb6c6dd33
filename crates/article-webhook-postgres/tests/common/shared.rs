//! The server that the tests of a process share.

use std::{env, panic::catch_unwind, sync::OnceLock};

use super::Server;

/// Names a server that is there, by the URL of a superuser: `postgresql://postgres@HOST:PORT/DATABASE`. Tests add parameters to it,
/// and put other databases and other roles in it, of which none has a password; and the tool takes no password in its arguments. So
/// the server trusts every role.
pub(super) const URL: &str = "ARTICLE_TEST_POSTGRES_URL";

/// The URL of the server that tests share, and the server if it is a private one; an error if it cannot be used.
#[allow(dead_code, reason = "a test may need a server of its own alone")]
type Shared = Result<Option<(String, Option<Server>)>, ()>;

/// The URL of the server that the tests of this process share. `None` if there are no programs to start one, which is reported.
#[allow(dead_code, reason = "a test may need a server of its own alone")]
pub(crate) fn shared_url() -> Option<String> {
    static SHARED: OnceLock<Shared> = OnceLock::new();
    // A server that does not start is not tried again by each test.
    let shared = SHARED.get_or_init(|| {
        catch_unwind(|| {
            if let Ok(url) = env::var(URL) {
                return Some((url, None));
            }
            let server = Server::start(&[])?;
            Some((server.url(), Some(server)))
        })
        .map_err(drop)
    });
    let shared = shared.as_ref().expect("there is a server, or the first test reported why not");
    shared.as_ref().map(|(url, _)| url.clone())
}
