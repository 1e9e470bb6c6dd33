//! Prints the public interface that a file of rustdoc's JSON describes, one item a line.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: list-interface FILE")?;
    // Without what every type has, and without Send and Sync. What is derived, such as Clone, is a promise too.
    let interface = public_api::Builder::from_rustdoc_json(path)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .build()?;
    for item in interface.items() {
        println!("{item}");
    }
    Ok(())
}
