use std::path::Path;

use zeroize::Zeroizing;

use super::environment::Environment;
use crate::failure::Failure;

/// The token that deliveries carry.
pub(crate) fn read(
    file: Option<&Path>,
    environment: &Environment,
) -> Result<Zeroizing<String>, Failure> {
    environment.secret("ARTICLE_WEBHOOK_TOKEN", "--token-file", file)
}
