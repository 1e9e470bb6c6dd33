use article_webhook::{AuthToken, Receiver, Targets};

/// The headers of a request, as far as strangers need them.
pub(crate) type Headers = [(&'static str, &'static str); 2];

/// What compares a presented token with the accepted ones.
pub(crate) trait Comparison {
    fn new() -> Self;

    fn accept(&mut self, tokens: Vec<String>);

    /// The work that is timed. What it leaves behind is dropped after the clock was read.
    fn open(&self, headers: &Headers) -> impl Sized;

    fn is_open(&self, headers: &Headers) -> bool;
}

impl Comparison for Receiver {
    fn new() -> Self {
        Self::new(token("no-token-that-is-ever-presented"))
    }

    fn accept(&mut self, tokens: Vec<String>) {
        let mut targets = tokens.iter().map(|secret| token(secret));
        let first = Targets::from(targets.next().expect("a case has a token"));
        let all = targets.try_fold(first, |all, one| all.and("another", one));
        self.replace_targets(all.expect("no two labels have the same token"));
    }

    fn open(&self, headers: &Headers) -> impl Sized {
        Self::open(self, headers)
    }

    fn is_open(&self, headers: &Headers) -> bool {
        Self::open(self, headers).is_ok()
    }
}

fn token(token: &str) -> AuthToken {
    AuthToken::new(token).expect("the token is a legal one")
}

/// The control: the same decision by `==`, which the test must find out.
pub(crate) struct Equality(Vec<String>);

impl Comparison for Equality {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn accept(&mut self, tokens: Vec<String>) {
        // As much memory for a short secret as for a long one, so that only `==` can distinguish them.
        let padded = |token: &String| {
            let mut padded = String::with_capacity(4096);
            padded.push_str(token);
            padded
        };
        self.0 = tokens.iter().map(padded).collect();
    }

    fn open(&self, headers: &Headers) -> impl Sized {
        let presented = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        presented.is_some_and(|(_, value)| self.0.iter().any(|token| token == value.trim_ascii()))
    }

    fn is_open(&self, headers: &Headers) -> bool {
        self.0.iter().any(|token| token == headers[0].1)
    }
}
