//! The secrets that the process has loaded. They are removed from every text that the tool prints and from every page that it
//! serves: a service may echo a token, and a page for debugging may echo a request. Exact copies of what is stored are not changed.

use std::{
    borrow::Cow,
    env,
    sync::{PoisonError, RwLock},
};

use percent_encoding::percent_decode_str;
use zeroize::Zeroizing;

/// The longest come first, because one may be a part of another.
static SECRETS: RwLock<Vec<Zeroizing<String>>> = RwLock::new(Vec::new());

/// A shorter secret may be in any text by chance.
const MIN_LENGTH: usize = 8;

/// What stands in the place of a secret.
const HIDDEN: &str = "[secret]";

/// Notes a secret: what follows its scheme, such as `Bearer`, if it has one.
pub(crate) fn note(secret: &str) {
    let value = secret.split_once(' ').map_or(secret, |(_, value)| value).trim();
    // A placeholder of a page, which is refused by its name, is none.
    if !(value.starts_with('<') && value.ends_with('>')) {
        note_value(value);
    }
}

/// Notes a value, and how it stands in JSON.
fn note_value(value: &str) {
    let quoted = Zeroizing::new(serde_json::Value::from(value).to_string());
    add([value, &quoted[1..quoted.len() - 1]]);
}

/// Notes the password in the URL of a database, as it stands there and as the database knows it.
pub(crate) fn note_password(url: &str) {
    let Some((_, rest)) = url.split_once("://") else { return };
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let userinfo = authority.rsplit_once('@').and_then(|(before, _)| before.split_once(':'));
    // One that is the name of its user is a word of every other line.
    let in_front =
        userinfo.filter(|(user, password)| user != password).map(|(_, password)| password);
    let parameters = rest.split(['?', '&']).skip(1);
    let named = parameters.filter_map(|parameter| parameter.strip_prefix("password="));
    for password in in_front.into_iter().chain(named).filter(|password| !password.is_empty()) {
        note_value(password);
        note_value(&percent_decode_str(password).decode_utf8_lossy());
        // A short one too, where it stands in a URL.
        add([&*format!(":{password}@"), &format!("password={password}")]);
    }
}

/// Notes what is a password in an argument, so that no error that quotes the argument repeats it.
pub(crate) fn note_arguments() {
    env::args_os().filter_map(|argument| argument.into_string().ok()).for_each(|argument| {
        note_password(&argument);
    });
}

fn add(new: [&str; 2]) {
    let mut secrets = SECRETS.write().unwrap_or_else(PoisonError::into_inner);
    for secret in new {
        if secret.len() >= MIN_LENGTH && secrets.iter().all(|known| **known != secret) {
            secrets.push(Zeroizing::new(secret.to_owned()));
        }
    }
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
}

/// The text without secrets.
pub(crate) fn removed(text: &str) -> Cow<'_, str> {
    let secrets = SECRETS.read().unwrap_or_else(PoisonError::into_inner);
    secrets.iter().fold(Cow::Borrowed(text), |text, secret| {
        if text.contains(&***secret) { text.replace(&***secret, HIDDEN).into() } else { text }
    })
}
