use serde::Serialize;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Severity {
    Ok,
    Warn,
    Fail,
    /// Nothing that it needs was named.
    NotChecked,
}

/// What was found, why it matters, and what fixes it. Its texts are not escaped, and hold no secret.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Finding {
    /// The group, a dot, and a name: `token.short`. It stays the same from version to version.
    pub(super) code: &'static str,
    pub(super) severity: Severity,
    pub(super) found: String,
    pub(super) cause: Option<String>,
    pub(super) fix: Option<String>,
}

impl Finding {
    fn new(code: &'static str, severity: Severity, found: impl Into<String>) -> Self {
        Self { code, severity, found: found.into(), cause: None, fix: None }
    }

    pub(super) fn ok(code: &'static str, found: impl Into<String>) -> Self {
        Self::new(code, Severity::Ok, found)
    }

    pub(super) fn warn(code: &'static str, found: impl Into<String>) -> Self {
        Self::new(code, Severity::Warn, found)
    }

    pub(super) fn fail(code: &'static str, found: impl Into<String>) -> Self {
        Self::new(code, Severity::Fail, found)
    }

    pub(super) fn not_checked(code: &'static str, found: impl Into<String>) -> Self {
        Self::new(code, Severity::NotChecked, found)
    }

    /// A message of a crate: what is wrong, a colon, and what fixes it. One without a colon gets the other fix.
    pub(super) fn of_message(
        code: &'static str,
        severity: Severity,
        message: &str,
        otherwise: &str,
    ) -> Self {
        match message.rsplit_once(": ") {
            Some((found, fix)) => Self::new(code, severity, found).fix(fix),
            None => Self::new(code, severity, message).fix(otherwise),
        }
    }

    /// Adds why it is so, or why it matters.
    pub(super) fn because(self, cause: impl Into<String>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    /// Adds what fixes it.
    pub(super) fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }

    pub(super) fn group(&self) -> &'static str {
        self.code.split('.').next().unwrap_or(self.code)
    }
}
