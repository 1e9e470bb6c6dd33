mod profile;
mod read;
mod sanitizer;
mod too_complex;
mod tree;
mod url;

pub use sanitizer::{ArticleSanitizer, InvalidSetting};
pub use too_complex::TooComplex;
