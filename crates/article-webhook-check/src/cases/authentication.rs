//! Requests that do not carry the token as the service sends it.

use super::{
    case::{Action, Case},
    expectation::Expectation,
    sample::Sample,
};
use crate::{Verdict, endpoint::Endpoint, http::Request};

fn stranger(name: &'static str, sent: &'static str, request: fn(&Sample) -> Request) -> Case {
    Case {
        name,
        sent,
        expect: Expectation::Refused(401),
        severity: Verdict::Fail,
        why: "a 2xx means that a stranger can put articles into the application",
        fix: "refuse unless there is exactly one Authorization header, equal to the whole auth_token; \
              compare in constant time, before anything else",
        action: Action::Send(request),
    }
}

/// The sender knows the secret, but the service does not send it in this form: advice only.
fn malformed(name: &'static str, sent: &'static str, request: fn(&Sample) -> Request) -> Case {
    let why = "a receiver that accepts this does not compare the whole header, and may read it differently than \
               the proxy in front of it";
    Case { why, ..stranger(name, sent, request) }.advisory()
}

pub(super) fn quick(endpoint: &Endpoint) -> Vec<Case> {
    [any_token(), tokens_with_letters(endpoint), tokens_with_a_scheme(endpoint)]
        .into_iter()
        .flatten()
        .collect()
}

fn any_token() -> Vec<Case> {
    vec![
        stranger("no token", "the delivery without Authorization", |sample| {
            sample.delivery().without("Authorization")
        }),
        stranger("an empty token", "Authorization with an empty value", |sample| {
            authorized(sample, "")
        }),
        stranger("another token", "Authorization: Bearer with a wrong secret", |sample| {
            authorized(sample, "Bearer 00000000-not-the-token")
        }),
        stranger("another last character", "the token with its last character changed", |sample| {
            let (start, last) = split_last(&sample.endpoint.token);
            authorized(sample, &[start, if last == "x" { "y" } else { "x" }].concat())
        }),
        stranger("all but the last character", "the token without its last character", |sample| {
            authorized(sample, split_last(&sample.endpoint.token).0)
        }),
        stranger("the token and more", "the token with one more character", |sample| {
            authorized(sample, &[&sample.endpoint.token, "x"].concat())
        }),
        malformed("the token twice", "two Authorization headers, both with the token", |sample| {
            sample.delivery().and("Authorization", &sample.endpoint.token)
        }),
        malformed(
            "the token, then another",
            "two Authorization headers, the first right",
            |sample| sample.delivery().and("Authorization", "Bearer another"),
        ),
        malformed(
            "another, then the token",
            "two Authorization headers, the last right",
            |sample| {
                authorized(sample, "Bearer another").and("Authorization", &sample.endpoint.token)
            },
        ),
        malformed("the token in another header", "X-Authorization with the token", |sample| {
            sample
                .delivery()
                .without("Authorization")
                .and("X-Authorization", &sample.endpoint.token)
        }),
        stranger(
            "undefined",
            "Authorization: Bearer undefined, as an unset variable gives it",
            |sample| authorized(sample, "Bearer undefined"),
        ),
        stranger("the first half", "the first half of the token", |sample| {
            let token = &sample.endpoint.token;
            authorized(sample, token[..token.len() / 2].trim_end())
        }),
        stranger("the first character", "the first character of the token", |sample| {
            let token = &sample.endpoint.token;
            authorized(sample, &token[..token.len().saturating_sub(1).min(1)])
        }),
    ]
}

fn tokens_with_letters(endpoint: &Endpoint) -> Vec<Case> {
    if !endpoint.secret().contains(char::is_alphabetic) {
        return Vec::new();
    }
    vec![stranger(
        "the secret in the other case",
        "the token's letters in the other case",
        |sample| {
            let (scheme, secret) = sample.endpoint.scheme_and_secret();
            authorized(sample, &[scheme, &other_case(secret)].concat())
        },
    )]
}

fn tokens_with_a_scheme(endpoint: &Endpoint) -> Vec<Case> {
    let (scheme, _) = endpoint.scheme_and_secret();
    if !scheme.contains(char::is_alphabetic) {
        return Vec::new();
    }
    vec![
        stranger("the scheme alone", "only the scheme word of the token", |sample| {
            authorized(sample, sample.endpoint.scheme_and_secret().0.trim_end())
        }),
        malformed("the secret without its scheme", "the token without its scheme word", |sample| {
            authorized(sample, sample.endpoint.secret())
        }),
        malformed(
            "the scheme in the other case",
            "the scheme word's letters in the other case",
            |sample| {
                let (scheme, secret) = sample.endpoint.scheme_and_secret();
                authorized(sample, &[&other_case(scheme), secret].concat())
            },
        ),
    ]
}

pub(super) fn slow() -> Vec<Case> {
    vec![
        Case {
            why: "a receiver that waits for such a body lets strangers hold memory and connections",
            fix: "check the headers before the body is read",
            ..stranger(
                "a stranger's body that does not come",
                "no token, a declared length of 1 MiB, and no body",
                |sample| sample.delivery().without("Authorization").declaring(1 << 20),
            )
        }
        .advisory(),
    ]
}

fn authorized(sample: &Sample, token: &str) -> Request {
    sample.delivery().with("Authorization", token)
}

fn split_last(token: &str) -> (&str, &str) {
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
