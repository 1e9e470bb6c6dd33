//! The command line tool. Its README is the documentation.

mod secrets;

mod text;

mod failure;

mod output;
mod settings;

mod calls;
mod store;

mod page;

mod context;

mod command;

mod arguments;

use std::process::ExitCode;

use crate::{
    arguments::Arguments,
    context::Context,
    failure::{Exit, Failure},
    output::Output,
};

fn main() -> ExitCode {
    secrets::note_arguments();
    let arguments = match Arguments::of_command_line() {
        Ok(arguments) => arguments,
        Err(error) => return arguments::shown(&error).into(),
    };
    let output = Output::new(arguments.format());
    let ended = run(arguments, output.clone());
    match ended {
        Ok(exit) => exit.into(),
        Err(failure) => output.failure(&failure).into(),
    }
}

fn run(arguments: Arguments, output: Output) -> Result<Exit, Failure> {
    let context = Context::new(output, arguments.env_file())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::of_threads(&error))?;
    let ended = runtime.block_on(arguments.run(&context));
    // A thread may wait for a line on standard input, which cannot be interrupted.
    runtime.shutdown_background();
    ended
}
