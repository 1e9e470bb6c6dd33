use bytes::Bytes;
use fastrand::Rng;
use png::{BitDepth, ColorType, Compression, Encoder};

const WIDTH: u8 = 64;
const HEIGHT: u8 = 36;

/// A small PNG: a gradient between two colours that are drawn from the seed.
///
/// ```
/// use article_webhook_simulator::articles::image;
///
/// assert!(image(7).starts_with(b"\x89PNG\r\n\x1a\n"));
/// assert_eq!(image(7), image(7));
/// assert_ne!(image(7), image(8));
/// ```
#[must_use]
#[expect(clippy::missing_panics_doc, reason = "the image has as many pixels as its header says")]
pub fn image(seed: u64) -> Bytes {
    let mut dice = Rng::with_seed(seed);
    let [from, to]: [[u8; 3]; 2] = [(); 2].map(|()| [(); 3].map(|()| dice.u8(..)));
    let rows = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| u16::from(x) + u16::from(y)));
    let longest = u16::from(WIDTH) + u16::from(HEIGHT);
    let pixels: Vec<u8> = rows
        .flat_map(|at| {
            [0, 1, 2].map(|colour| {
                let mixed = u16::from(from[colour]) * (longest - at) + u16::from(to[colour]) * at;
                u8::try_from(mixed / longest).unwrap_or(u8::MAX)
            })
        })
        .collect();
    let mut png = Vec::new();
    let mut encoder = Encoder::new(&mut png, WIDTH.into(), HEIGHT.into());
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    let written = encoder.write_header().and_then(|mut png| png.write_image_data(&pixels));
    written.expect("the image has as many pixels as its header says");
    png.into()
}
