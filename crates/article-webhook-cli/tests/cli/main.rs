//! The tool as a process: what it prints, how it ends, and what it never shows.
#![allow(clippy::unwrap_used)] // an unwrap here is the assertion

mod damaged;
mod demo;
mod doctor;
mod examples;
mod listening;
mod pipes;
mod sample;
mod signals;
mod terminal;
mod tool;
