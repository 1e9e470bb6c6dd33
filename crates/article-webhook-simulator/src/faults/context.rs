/// Where a fault happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultSite {
    Delivery,
    Call,
    Pipeline,
}

/// The delivery, call or order to which a fault can happen.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FaultContext<'a> {
    pub(crate) job_id: Option<&'a str>,
    pub(crate) topic: Option<&'a str>,
    pub(crate) attempt: Option<u8>,
    /// Its number among all of its kind, for the draw.
    pub(crate) number: [u64; 3],
}
