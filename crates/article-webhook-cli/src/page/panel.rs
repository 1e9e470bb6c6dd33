use std::pin::Pin;

use maud::Markup;

/// Actions that a command adds to the page, such as the demonstration's: order an article, break the receiver.
///
/// It is shown above the list of entries, and not at all where the page is read-only.
pub(crate) trait Panel: Send + Sync + 'static {
    /// Its heading.
    fn title(&self) -> &'static str;

    /// What can be seen now: a sentence or two. It is read again whenever the page is drawn.
    fn text(&self) -> String;

    /// What can be done now, in this order. It is read again whenever the page is drawn.
    fn actions(&self) -> Vec<Action>;

    /// What happened, the latest first. It is read again whenever the page is drawn.
    fn rows(&self) -> Markup;

    /// Does what the action of this name says. What came of it is seen in [`text`](Self::text); the error says why it
    /// could not be done.
    fn press<'a>(
        &'a self,
        name: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;
}

/// A button of a panel.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Action {
    /// What [`Panel::press`] is called with: lower-case letters and `-`.
    pub(crate) name: &'static str,
    /// The words on the button.
    pub(crate) label: &'static str,
    /// What it does, in a sentence.
    pub(crate) note: &'static str,
}
