use std::path::Path;

use article_webhook::AuthToken;
use zeroize::Zeroizing;

use super::environment::Environment;
use crate::failure::Failure;

const VARIABLE: &str = "ARTICLE_WEBHOOK_TOKEN";
const OPTION: &str = "--token-file";

/// How a token is given.
pub(crate) const WHOLE: &str =
    "give the whole auth_token of the publish target, as in `Bearer <token>`";

/// The token that deliveries carry, as it is set.
pub(crate) fn read(
    file: Option<&Path>,
    environment: &Environment,
) -> Result<Zeroizing<String>, Failure> {
    environment.secret(VARIABLE, OPTION, file)
}

/// The same, if a receiver can have it. The refusal names the setting, and not the token.
pub(crate) fn usable(file: Option<&Path>, environment: &Environment) -> Result<AuthToken, Failure> {
    let token = read(file, environment)?;
    let setting = if file.is_some() { OPTION } else { VARIABLE };
    AuthToken::new(&token)
        .map_err(|error| Failure::of_setting(&error.to_string(), WHOLE).after(setting))
}
