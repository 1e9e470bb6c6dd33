//! Whether the time of a refusal shows anything about the secret.
//!
//! dudect's test (Reparaz, Balasch, Verbauwhede, 2017): two classes of secrets, drawn at random,
//! against one presented token; if the mean times of the classes differ by more than chance would
//! have it, |t| grows with the number of samples. Below 4.5 there is no evidence of a leak.
//!
//! In the long form (`-- --long`, 10⁷ samples a run) a case passes if |t| stays below 4.5 in three
//! of three runs, and the control, which compares with `==`, must exceed it five times in each: a test
//! that finds nothing there proves nothing here. In the short form, for machines that do other work as
//! well, a leak is what shows in three of three runs, as chance does not come three times; the control
//! must show in the three runs together: their sum, divided by the root of three, is the |t| of all.

#![allow(clippy::print_stdout)] // a program may

mod case;
mod comparison;
mod form;
mod run;
mod welch;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use article_webhook::Receiver;
use fastrand::Rng;

use case::CASES;
use comparison::{Comparison, Equality};
use form::Form;

/// Above it, chance is no explanation any more.
const LEAK: f64 = 4.5;

fn main() -> ExitCode {
    run::stay_on_one_processor();
    let form = Form::from_args();
    let samples = match form {
        Form::Short => 100_000,
        Form::Long => 10_000_000,
    };
    println!("\n|t| of two classes of secrets, {samples} samples a run");
    let (tight, [_, most]) = table::<Receiver>("the receiver", samples, |t| match form {
        Form::Short => t.iter().any(|&t| t < LEAK),
        Form::Long => t.iter().all(|&t| t < LEAK),
    });
    let (found, [least, _]) =
        table::<Equality>("the control, ==, which must leak", samples, |t| match form {
            Form::Short => t.iter().sum::<f64>() / 3_f64.sqrt() >= LEAK,
            Form::Long => t.iter().all(|&t| t >= 5.0 * LEAK),
        });
    println!(
        "\ntiming: |t| at most {most:.2} of {samples} samples (a leak: {LEAK}); the control, ==, at least {least:.0}"
    );
    if tight && found { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether every case is as it should be, and the least and the largest |t|.
fn table<D: Comparison>(
    title: &str,
    samples: usize,
    is_right: impl Fn([f64; 3]) -> bool,
) -> (bool, [f64; 2]) {
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    let rule = "─".repeat(6);
    println!("\n  {title:<51}   run 1   run 2   run 3");
    println!("  {}  {rule}  {rule}  {rule}", "─".repeat(51));
    let rights = CASES.map(|case| {
        print!("  {:<51}", case.name);
        let t = [(); 3].map(|()| {
            let t = run::run::<D>(&case, samples, &mut Rng::new());
            print!("  {t:>6.2}");
            (least, most) = (least.min(t), most.max(t));
            // A run takes some seconds.
            io::stdout().flush().expect("there is an output");
            t
        });
        let right = is_right(t);
        println!("  {}", if right { '✓' } else { '✗' });
        right
    });
    (!rights.contains(&false), [least, most])
}
