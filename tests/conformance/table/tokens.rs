use crate::{
    request::{Request, TOKEN, delivery},
    row::{Row, let_in, stranger},
    site::{BLOG, NO_SCHEME, SHOP, Site, long_token},
};

pub(super) fn rows() -> Vec<Row> {
    [accepted(), wrong(), repeated(), configured()].concat()
}

fn presenting(token: impl AsRef<[u8]>) -> Request {
    delivery().with("Authorization", token)
}

fn accepted() -> Vec<Row> {
    let named = |name| delivery().without("Authorization").and(name, TOKEN);
    vec![
        let_in("the token", delivery()),
        let_in(
            "the token with white space around it",
            presenting("  \tBearer conformance-5f2b9c0e7a1d \t "),
        ),
        let_in("authorization in lower case", named("authorization")),
        let_in("AUTHORIZATION in upper case", named("AUTHORIZATION")),
    ]
}

fn wrong() -> Vec<Row> {
    let missing = delivery().without("Authorization");
    let elsewhere = missing.clone().and("Proxy-Authorization", TOKEN);
    vec![
        stranger("no Authorization", missing),
        stranger("the token in Proxy-Authorization", elsewhere),
        stranger("Authorization is empty", presenting("")),
        stranger("Authorization is white space", presenting("  \t ")),
        stranger("another token", presenting("Bearer guess")),
        stranger("the token's first half", presenting("Bearer conformance-5")),
        stranger("the scheme word alone", presenting("Bearer")),
        stranger("all but the last byte", presenting("Bearer conformance-5f2b9c0e7a1")),
        stranger("another last byte", presenting("Bearer conformance-5f2b9c0e7a1e")),
        stranger("one byte more", presenting("Bearer conformance-5f2b9c0e7a1dd")),
        stranger("the token and a parameter", presenting("Bearer conformance-5f2b9c0e7a1d;a=b")),
        stranger("the secret without its scheme word", presenting("conformance-5f2b9c0e7a1d")),
        stranger("the scheme word in lower case", presenting("bearer conformance-5f2b9c0e7a1d")),
        stranger("the secret in upper case", presenting("Bearer CONFORMANCE-5F2B9C0E7A1D")),
        stranger("the scheme word twice", presenting("Bearer Bearer conformance-5f2b9c0e7a1d")),
        stranger("two spaces in the middle", presenting("Bearer  conformance-5f2b9c0e7a1d")),
        stranger("a tab in the middle", presenting("Bearer\tconformance-5f2b9c0e7a1d")),
        stranger("the token in quotes", presenting(r#""Bearer conformance-5f2b9c0e7a1d""#)),
        stranger(
            "the secret as a Basic password",
            presenting("Basic OmNvbmZvcm1hbmNlLTVmMmI5YzBlN2ExZA=="),
        ),
        stranger("a byte that is not ASCII", presenting(b"Bearer conformance-5f2b9c0e7a1d\xa0")),
        stranger("more than the longest token", presenting("x".repeat(5000))),
        stranger("a wrong token in a chunked request", presenting("Bearer guess").chunked(16)),
        stranger("a wrong token and no body", presenting("Bearer guess").bodyless()),
    ]
}

fn repeated() -> Vec<Row> {
    let again = |token| delivery().and("Authorization", token);
    let first = |token| presenting(token).and("Authorization", TOKEN);
    vec![
        stranger("the token twice", again(TOKEN)),
        stranger("the token, then another", again("Bearer guess")),
        stranger("another, then the token", first("Bearer guess")),
        stranger("the token, then nothing", again("")),
        stranger("nothing, then the token", first("")),
        stranger(
            "the token in two letter cases of the header",
            delivery().and("authorization", TOKEN),
        ),
        stranger(
            "the token twice in one header",
            presenting("Bearer conformance-5f2b9c0e7a1d, Bearer conformance-5f2b9c0e7a1d"),
        ),
    ]
}

fn configured() -> Vec<Row> {
    let two = |row: Row| row.at(Site::TwoTargets);
    let both = presenting(BLOG).and("Authorization", SHOP);
    let prefixed = presenting("Bearer conformance-5f2b9c0e7a1d");
    let longer = presenting(long_token() + "x");
    vec![
        two(let_in("the token of one target", presenting(BLOG))).target("blog"),
        two(let_in("the token of another target", presenting(SHOP))).target("shop"),
        two(stranger("the token of no target", delivery())),
        two(stranger("the tokens of two targets", both)),
        let_in("a token that has no scheme word", presenting(NO_SCHEME)).at(Site::NoScheme),
        stranger("a scheme word that the token has not", prefixed).at(Site::NoScheme),
        let_in("the longest token", presenting(long_token())).at(Site::LongToken),
        stranger("one byte more than the longest token", longer).at(Site::LongToken),
    ]
}
