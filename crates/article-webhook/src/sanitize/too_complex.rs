use thiserror::Error;

/// HTML that would take too long or too much memory: a limit that is far above what articles have was reached.
///
/// The time of a call grows with the length of the HTML alone, up to the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TooComplex {
    /// It is longer than 8 MiB.
    #[error("the HTML has more than 8 MiB: show it as escaped text, or its beginning")]
    Bytes,
    /// Its elements are nested more than 256 deep.
    #[error("the HTML has elements that are nested more than 256 deep: show it as escaped text")]
    Depth,
    /// A tag has more than 100 attributes, or is not closed and looks as if it had thousands.
    #[error("the HTML has a tag with more than 100 attributes: show it as escaped text")]
    Attributes,
    /// It has more than 100,000 elements and pieces of text.
    #[error("the HTML has more than 100,000 elements and pieces of text: show it as escaped text")]
    Nodes,
    /// To read it takes more steps than its length allows: wrongly nested elements that open each other again and again.
    #[error("the HTML has elements that are wrongly nested too often: show it as escaped text")]
    Operations,
}
