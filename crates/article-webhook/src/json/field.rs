use super::Kind;

/// What the JSON holds at a key that a reader knows.
#[derive(Default, PartialEq)]
pub(crate) enum Field<T> {
    /// The key is absent.
    #[default]
    Absent,
    /// A value that could be read as `T`.
    Value(T),
    /// A value that could not be read as `T`, and its kind.
    OtherKind(Kind),
}

impl<T> Field<T> {
    pub(super) fn new(value: Option<T>, kind: Kind) -> Self {
        value.map_or(Self::OtherKind(kind), Self::Value)
    }
}
