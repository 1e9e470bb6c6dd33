//! What the environment, named files and standard input say.

pub(crate) mod input;

use std::{
    collections::HashMap,
    env, fs,
    path::{Path, PathBuf},
};

use article_webhook::AuthToken;
use zeroize::Zeroizing;

use crate::{failure::Failure, secrets};
use input::awaited;

/// The environment variables, and those of the file that `--env-file` names. A variable that is set goes before one of
/// the file.
#[derive(Default)]
pub(crate) struct Environment {
    file: HashMap<String, Zeroizing<String>>,
    path: Option<PathBuf>,
}

impl Environment {
    pub(crate) fn new(file: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = file else { return Ok(Self::default()) };
        if path.as_os_str().as_encoded_bytes().contains(&b'=') && !path.exists() {
            // It may be a secret, so it is not repeated.
            return Err(Failure::usage("--env-file is given a variable and not a file")
                .fix("write NAME='VALUE' into a file, and name that: --env-file PATH"));
        }
        let wrong = |error| match error {
            dotenvy::Error::Io(error) => {
                Failure::usage(format!("--env-file: {} cannot be read", path.display()))
                    .because(&error)
                    .fix("name a file that you may read: --env-file PATH")
            }
            // The error of a line is not shown, because it quotes the line.
            _ => Failure::usage(format!(
                "--env-file: {} has a line that is no NAME=VALUE",
                path.display()
            ))
            .fix("write each variable as NAME='VALUE' on a line of its own"),
        };
        let variables = dotenvy::from_path_iter(path).map_err(wrong)?;
        let file =
            variables.map(|variable| variable.map(|(name, value)| (name, Zeroizing::new(value))));
        let file = file.collect::<Result<_, _>>().map_err(wrong)?;
        Ok(Self { file, path: Some(path.to_owned()) })
    }

    /// The file that `--env-file` names.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(crate) fn get(&self, name: &str) -> Option<Zeroizing<String>> {
        let set = env::var(name).ok().map(Zeroizing::new);
        set.or_else(|| self.file.get(name).cloned()).filter(|value| !value.is_empty())
    }

    /// Refuses a change of an inbox where that is forbidden.
    pub(crate) fn may_change_inbox(&self) -> Result<(), Failure> {
        match self.get("ARTICLE_INBOX_READ_ONLY") {
            None => Ok(()),
            Some(_) => Err(Failure::usage(
                "this command changes the inbox, and ARTICLE_INBOX_READ_ONLY forbids that",
            )
            .fix("unset ARTICLE_INBOX_READ_ONLY, or remove it from the file of --env-file")),
        }
    }

    /// A secret from a file, or from the environment. Never from an argument, which other users of the machine can read.
    pub(crate) fn secret(
        &self,
        name: &str,
        option: &str,
        file: Option<&Path>,
    ) -> Result<Zeroizing<String>, Failure> {
        let Some(path) = file else {
            let secret = self.get(name).ok_or_else(|| {
                Failure::usage(format!("{name} is not set"))
                    .fix(format!("set {name}, name a file with {option} PATH, or a .env file with --env-file PATH"))
            })?;
            secrets::note(&secret);
            return Ok(secret);
        };
        // The path is not repeated: it may be the secret itself, given by mistake.
        let text = awaited(|| fs::read_to_string(path)).map(Zeroizing::new);
        let text = text.map_err(|error| {
            Failure::usage(format!("{option}: the file cannot be read"))
                .because(&error)
                .fix(format!("name a file that has the secret: {option} PATH"))
        })?;
        let secret = Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned());
        secrets::note(&secret);
        Ok(secret)
    }
}

const VARIABLE: &str = "ARTICLE_WEBHOOK_TOKEN";
const OPTION: &str = "--token-file";

/// How a token is given.
pub(crate) const WHOLE_TOKEN: &str =
    "give the whole auth_token of the publish target, as in `Bearer <token>`";

/// The token that deliveries carry, as it is set.
pub(crate) fn read_token(
    file: Option<&Path>,
    environment: &Environment,
) -> Result<Zeroizing<String>, Failure> {
    environment.secret(VARIABLE, OPTION, file)
}

/// The same, if a receiver can have it. The refusal names the setting, and not the token.
pub(crate) fn usable_token(
    file: Option<&Path>,
    environment: &Environment,
) -> Result<AuthToken, Failure> {
    let token = read_token(file, environment)?;
    let setting = if file.is_some() { OPTION } else { VARIABLE };
    AuthToken::new(&token)
        .map_err(|error| Failure::of_setting(&error.to_string(), WHOLE_TOKEN).after(setting))
}
