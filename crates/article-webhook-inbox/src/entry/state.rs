/// The state of the work on an entry.
///
/// ```text
///              record             claim              Ok(())
///   (nothing) ────────► waiting ──────────► leased ──────────► done
///                        ▲  ▲                 │ │
///                        │  └── Err, or the ──┘ │ no attempt left,
///                        │      lease ended     │ or Failed::dead
///                        │                      ▼
///                        └────── requeue ───── dead
///
///   requeued, in any state but leased; a done one only while its body is there ──► waiting
///   claimed, and no body decodes:              unhandled ── a body that decodes is delivered ──► waiting
///   claimed, and a body differs from its hash: corrupt ──── the body is delivered again ───────► waiting
///
///   refused or reporting a failure, and kept beside the entry of the article: quarantined ── a good copy comes ──► (nothing)
/// ```
///
/// | state | what ends it |
/// |---|---|
/// | `waiting` | a worker claims it, when its time has come or it was requeued |
/// | `leased` | the handler's result, the end of the lease, or a shutdown, which costs no attempt |
/// | `done` | retention, or [`Inbox::requeue`](crate::Inbox::requeue) while its body is there |
/// | `dead` | [`Inbox::requeue`](crate::Inbox::requeue) or [`Inbox::erase`](crate::Inbox::erase), or retention if it [has a limit for them](crate::Retention::dead) |
/// | `unhandled` | a body that decodes, [`Inbox::requeue`](crate::Inbox::requeue), or retention |
/// | `corrupt` | a delivery of the same body, or [`Inbox::requeue`](crate::Inbox::requeue) |
/// | `quarantined` | a good copy of what was delivered, which may be what a later version reads in it, the failure that it reports and the API confirms, [`Inbox::discard`](crate::Inbox::discard) or [`Inbox::erase`](crate::Inbox::erase); never its age |
///
/// ```
/// use article_webhook_inbox::State;
///
/// assert_eq!(State::Waiting.to_string(), "waiting");
/// assert_eq!(State::from_name("dead"), Some(State::Dead));
/// assert_eq!(State::from_name("Dead"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive] // there may be more states
pub enum State {
    /// Stored, and due now or at the time of its next attempt.
    #[default]
    Waiting,
    /// A worker holds a lease on it.
    Leased,
    /// The handler succeeded, or the application completed it in a transaction of its own.
    Done,
    /// Given up, because no attempt is left or because the handler or an operator gave it up. Kept until
    /// requeued.
    Dead,
    /// None of its bodies decodes, or its event is unknown, and the worker has no
    /// [handler](crate::Worker::on_undecodable) for that. A later body that decodes supersedes those before it.
    Unhandled,
    /// A stored body differs from what was received. Storing the same body again repairs it.
    Corrupt,
    /// It holds the bodies of refused deliveries: the latest and the longest. No worker claims it. Its job is expected.
    Quarantined,
}

impl State {
    /// All states, in the order of an entry's life.
    pub const ALL: &'static [Self] = &[
        Self::Waiting,
        Self::Leased,
        Self::Done,
        Self::Dead,
        Self::Unhandled,
        Self::Corrupt,
        Self::Quarantined,
    ];

    /// The name of the state in databases, logs and tools.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Leased => "leased",
            Self::Done => "done",
            Self::Dead => "dead",
            Self::Unhandled => "unhandled",
            Self::Corrupt => "corrupt",
            Self::Quarantined => "quarantined",
        }
    }

    /// Whether an entry in this state stays there until a person, or another delivery, does something.
    ///
    /// ```
    /// use article_webhook_inbox::State;
    ///
    /// let needs_person = State::ALL.iter().copied().filter(|state| state.needs_person());
    /// let names = needs_person.map(State::as_str).collect::<Vec<_>>();
    /// assert_eq!(names, ["dead", "unhandled", "corrupt", "quarantined"]);
    /// ```
    #[must_use]
    pub fn needs_person(self) -> bool {
        matches!(self, Self::Dead | Self::Unhandled | Self::Corrupt | Self::Quarantined)
    }
}

named!(State, "not a state of an entry");
