use std::{path::PathBuf, sync::Arc};

use crate::{
    Clock,
    store::sqlite::{damage::Findings, reader::Reader, writer::status::Status},
};

/// What the calls share with the writer.
#[derive(Clone)]
pub(in crate::store::sqlite) struct Shared {
    pub(in crate::store::sqlite) path: PathBuf,
    pub(in crate::store::sqlite) clock: Clock,
    pub(in crate::store::sqlite) reader: Arc<Reader>,
    pub(in crate::store::sqlite) status: Arc<Status>,
    pub(in crate::store::sqlite) findings: Arc<Findings>,
}

impl Shared {
    pub(in crate::store::sqlite) fn new(path: PathBuf, clock: Clock) -> Self {
        Self {
            reader: Arc::new(Reader::new(path.clone())),
            status: Arc::default(),
            findings: Arc::default(),
            path,
            clock,
        }
    }
}
