//! The tool as a process: what it prints, how it ends, and what it never shows.

mod examples;
mod pipes;
mod sample;
mod signals;
mod tool;
