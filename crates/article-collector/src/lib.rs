#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod schedule;

mod meaning;

pub use schedule::Schedule;
