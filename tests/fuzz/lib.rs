//! The properties as fuzz targets. See `run`.

pub use article_webhook_tests::properties;
pub use libfuzzer_sys;

/// A fuzz target of a property. Every other input is changed by a mutator that knows JSON and headers, the
/// rest by libFuzzer, byte by byte.
#[macro_export]
macro_rules! fuzz {
    ($property:path) => {
        $crate::libfuzzer_sys::fuzz_target!(|data: &[u8]| $property(data));
        $crate::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8],
                                              size: usize,
                                              most: usize,
                                              seed: u32| {
            if seed % 2 == 0 {
                return $crate::libfuzzer_sys::fuzzer_mutate(data, size, most);
            }
            $crate::change(data, size, most, seed)
        });
    };
}

/// Changes the input where it stands, and returns its new size.
pub fn change(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut input = data[..size].to_vec();
    properties::mutate::mutate(&mut input, seed.into());
    let size = input.len().min(most);
    data[..size].copy_from_slice(&input[..size]);
    size
}
