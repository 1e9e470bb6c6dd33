use std::fmt;

/// What a [check](crate::Inbox::check) of a store found. It shows itself as a sentence.
///
/// ```
/// use article_webhook_inbox::{Finding, Inbox};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), article_webhook_inbox::Error> {
///     let findings = Inbox::memory().check().await?;
///     assert!(!findings.iter().any(Finding::is_damage));
///
///     let finding = Finding::Damage("job_1 (article.complete) is corrupt".into());
///     assert!(finding.is_damage());
///     assert_eq!(finding.to_string(), "job_1 (article.complete) is corrupt");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // there may be more kinds
pub enum Finding {
    /// Something is not what was stored, or is missing.
    Damage(String),
    /// A setting under which what was acknowledged may be lost later. What is stored is not damaged by it.
    Setting(String),
}

impl Finding {
    /// Whether something is damaged.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damage(_))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Damage(finding) | Self::Setting(finding)) = self;
        f.write_str(finding)
    }
}
