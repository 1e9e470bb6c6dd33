//! Requests without the token: who sends them is not the service.

use super::super::{
    case::{Act, Case},
    finding::Verdict,
    judge::Expect,
    request::Request,
    sample::Sample,
    site::Site,
};

fn stranger(name: &'static str, sent: &'static str, request: fn(&Sample) -> Request) -> Case {
    Case {
        name,
        sent,
        expect: Expect::Refused(401),
        otherwise: Verdict::Fail,
        why: "a 2xx means that whoever sends this can put articles of his own into the application",
        fix: "refuse unless there is one Authorization header and the whole of it equals the auth_token; \
              compare in constant time, before anything else",
        act: Act::Send(request),
    }
}

/// Who sends this knows the secret, and is no stranger. The service would not send it so.
fn careless(name: &'static str, sent: &'static str, request: fn(&Sample) -> Request) -> Case {
    let why = "a receiver that takes this reads the header in another way than it was told, and perhaps in \
               another than the proxy in front of it";
    Case { why, ..stranger(name, sent, request) }.advising()
}

pub(super) fn quick(site: &Site) -> Vec<Case> {
    [any_token(), tokens_with_letters(site), tokens_with_a_scheme(site)]
        .into_iter()
        .flatten()
        .collect()
}

fn any_token() -> Vec<Case> {
    vec![
        stranger("no token", "the delivery without Authorization", |sample| {
            sample.delivery().without("Authorization")
        }),
        stranger("an empty token", "Authorization with nothing behind the colon", |sample| {
            authorized(sample, "")
        }),
        stranger("another token", "Authorization: Bearer and a wrong secret", |sample| {
            authorized(sample, "Bearer 00000000-not-the-token")
        }),
        stranger("another last character", "the token with its last character changed", |sample| {
            let (start, last) = parted(&sample.site.token);
            authorized(sample, &[start, if last == "x" { "y" } else { "x" }].concat())
        }),
        stranger("all but the last character", "the token without its last character", |sample| {
            authorized(sample, parted(&sample.site.token).0)
        }),
        stranger("the token and more", "the token with a character behind it", |sample| {
            authorized(sample, &[&sample.site.token, "x"].concat())
        }),
        careless("the token twice", "two Authorization headers, both with the token", |sample| {
            sample.delivery().and("Authorization", &sample.site.token)
        }),
        careless(
            "the token, then another",
            "two Authorization headers, the first right",
            |sample| sample.delivery().and("Authorization", "Bearer another"),
        ),
        careless(
            "another, then the token",
            "two Authorization headers, the last right",
            |sample| authorized(sample, "Bearer another").and("Authorization", &sample.site.token),
        ),
        careless("the token in another header", "X-Authorization with the token", |sample| {
            sample.delivery().without("Authorization").and("X-Authorization", &sample.site.token)
        }),
        stranger(
            "undefined",
            "Authorization: Bearer undefined, as an unset variable gives",
            |sample| authorized(sample, "Bearer undefined"),
        ),
        stranger("the first half", "the first half of the token", |sample| {
            let token = &sample.site.token;
            authorized(sample, token[..token.len() / 2].trim_end())
        }),
        stranger("the first character", "the first character of the token", |sample| {
            let token = &sample.site.token;
            authorized(sample, &token[..token.len().saturating_sub(1).min(1)])
        }),
    ]
}

fn tokens_with_letters(site: &Site) -> Vec<Case> {
    if !site.secret().contains(char::is_alphabetic) {
        return Vec::new();
    }
    vec![stranger(
        "the secret in the other case",
        "the token's letters in the other case",
        |sample| {
            let (scheme, secret) = sample.site.scheme_and_secret();
            authorized(sample, &[scheme, &other_case(secret)].concat())
        },
    )]
}

fn tokens_with_a_scheme(site: &Site) -> Vec<Case> {
    let (scheme, _) = site.scheme_and_secret();
    if !scheme.contains(char::is_alphabetic) {
        return Vec::new();
    }
    vec![
        stranger("the scheme alone", "the token's scheme word and nothing else", |sample| {
            authorized(sample, sample.site.scheme_and_secret().0.trim_end())
        }),
        careless("the secret without its scheme", "the token without its scheme word", |sample| {
            authorized(sample, sample.site.secret())
        }),
        careless(
            "the scheme in the other case",
            "the scheme word's letters in the other case",
            |sample| {
                let (scheme, secret) = sample.site.scheme_and_secret();
                authorized(sample, &[&other_case(scheme), secret].concat())
            },
        ),
    ]
}

pub(super) fn slow() -> Vec<Case> {
    vec![
        Case {
            why: "whoever waits for a stranger's body lets strangers hold memory and connections",
            fix: "judge the headers before the body is read",
            ..stranger(
                "a stranger's body that does not come",
                "no token, 1 MiB declared, and nothing of it",
                |sample| sample.delivery().without("Authorization").declaring(1 << 20),
            )
        }
        .advising(),
    ]
}

fn authorized(sample: &Sample, token: &str) -> Request {
    sample.delivery().with("Authorization", token)
}

fn parted(token: &str) -> (&str, &str) {
    token.split_at(token.len().saturating_sub(1))
}

fn other_case(text: &str) -> String {
    let swap = |letter: char| {
        if letter.is_ascii_lowercase() {
            letter.to_ascii_uppercase()
        } else {
            letter.to_ascii_lowercase()
        }
    };
    text.chars().map(swap).collect()
}
