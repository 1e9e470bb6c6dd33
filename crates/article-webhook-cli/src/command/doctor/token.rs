use std::{collections::BTreeSet, path::Path};

use article_webhook::{AuthToken, TokenError};
use zeroize::Zeroizing;

use super::finding::{Finding, Severity};
use crate::settings::{self, Environment};

/// What stands in the examples of this project, which all can read.
const EXAMPLES: [&str; 6] = [
    "5f2b9c0e7a1d4e38",
    "5f2b9c0e7a1d",
    "a84be02f71c6",
    "my-secret-token",
    "another-token",
    "not-the-token",
];

/// Words that stand for a secret which was never filled in, without what joins them.
const PLACEHOLDERS: &str = "\
    authtoken changeme changethis example exampletoken fixme inserttokenhere insertyourtokenhere \
    mytoken mysecret mysecrettoken password replaceme secret secrettoken test testtoken todo token \
    yoursecret yourtoken yourtokenhere";

/// Fewer different characters than this are a pattern and no random secret.
const FEW_CHARACTERS: usize = 6;

const RANDOM: &str = "take a random token, such as `Bearer $(openssl rand -hex 32)`, and give it to the service with \
     `article-webhook targets`, which replaces all publish targets of the brand";

/// The token, if there is one that can be used, and what was found about it.
pub(super) fn examine(
    file: Option<&Path>,
    environment: &Environment,
) -> (Option<Zeroizing<String>>, Vec<Finding>) {
    let value = match settings::read_token(file, environment) {
        Ok(value) => value,
        Err(failure) => {
            let finding = match file {
                Some(_) => Finding::of_failure("token.unreadable", Severity::Fail, &failure),
                None => Finding::of_failure("token.not_set", Severity::Warn, &failure)
                    .because("a receiver does not start without the token that the service sends"),
            };
            return (None, vec![finding]);
        }
    };
    match AuthToken::new(&value) {
        Ok(token) => {
            let findings = doubts(&token, &value);
            (Some(value), findings)
        }
        Err(error) => {
            let code = match error {
                TokenError::Quoted => "token.quoted",
                TokenError::Placeholder { .. } => "token.placeholder",
                _ => "token.invalid",
            };
            (None, vec![Finding::of_message(code, &error.to_string(), RANDOM)])
        }
    }
}

/// What is doubtful about a token that could be right.
fn doubts(token: &AuthToken, value: &str) -> Vec<Finding> {
    let (has_scheme, secret) = match value.split_once(' ') {
        Some((_, secret)) => (true, secret.trim_start()),
        None => (false, value),
    };
    let mut findings = Vec::new();
    if let Some(doubt) = token.warning() {
        let found = doubt.split_once(": ").map_or(doubt, |(found, _)| found);
        let cause = "the service sends the auth_token of the publish target as it is, and all of it is compared";
        findings.push(match has_scheme {
            true => Finding::warn("token.quoted", found)
                .because(cause)
                .fix("remove the quotation marks, unless they are part of the auth_token"),
            false => {
                Finding::warn("token.no_scheme", found).because(cause).fix(settings::WHOLE_TOKEN)
            }
        });
    }
    let known = "anyone can deliver articles with it";
    let doubt = if is_placeholder(secret) {
        let found = "the token is a placeholder that was never filled in";
        Some(Finding::fail("token.placeholder", found).because(known))
    } else if EXAMPLES.iter().any(|example| secret.contains(example)) {
        let found = "the token is one of the examples in this project's documentation";
        Some(Finding::fail("token.example", found).because(known))
    } else if token.is_short() {
        let found = "the token has fewer than 16 characters after its scheme word";
        Some(Finding::warn("token.short", found).because("a short token can be guessed"))
    } else if secret.chars().collect::<BTreeSet<_>>().len() < FEW_CHARACTERS {
        let found = "the token repeats a few characters";
        Some(Finding::warn("token.weak", found).because("a pattern can be guessed"))
    } else {
        None
    };
    findings.extend(doubt.map(|doubt| doubt.fix(RANDOM)));
    if findings.is_empty() {
        let found = "the token has its scheme word, and is not short";
        findings.push(Finding::ok("token.sound", found));
    }
    findings
}

fn is_placeholder(secret: &str) -> bool {
    let is_template = [("<", ">"), ("${", "}"), ("{{", "}}"), ("[", "]"), ("%", "%")]
        .iter()
        .any(|(start, end)| secret.starts_with(start) && secret.ends_with(end));
    let letters: String = secret.chars().filter(char::is_ascii_alphanumeric).collect();
    let letters = letters.to_ascii_lowercase();
    is_template
        || PLACEHOLDERS.split(' ').any(|placeholder| placeholder == letters)
        || letters.len() > 2 && letters.bytes().all(|letter| letter == b'x')
}
