//! How long Sereal and Storable take for the values `small` and `large`: processor time, lower
//! quartile of batches, as lines of name and nanoseconds. `../bench.pl` does the same in Perl;
//! `../compare` runs both in turn.
//!
//! What is decoded is dropped inside the clock, as Perl frees the last result in the next call.
//! `cargo run --release -- [PART OF NAME]`

use std::hint::black_box;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use wiremark_meter::clock::Instant;
use wiremark_storable::Order;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Small {
    a: i64,
    b: i64,
    c: i64,
    d: String,
    e: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Large {
    a: i64,
    b: i64,
    c: i64,
    d: String,
    e: f64,
    f: Vec<i64>,
}

/// Times `work` in batches of 2 ms at least.
fn time<T>(name: &str, mut work: impl FnMut() -> T) {
    if std::env::args().nth(1).is_some_and(|only| !name.contains(&only)) {
        return;
    }
    let mut each = Vec::new();
    let mut count = 1_u32;
    while each.len() < 60 {
        let start = Instant::now();
        for _ in 0..count {
            drop(black_box(work()));
        }
        let took = start.elapsed().cpu_ns;
        if took < 2_000_000 {
            count *= 2;
            each.clear();
            continue;
        }
        each.push(took as f64 / f64::from(count));
    }
    each.sort_by(f64::total_cmp);
    println!("{name} {:.1}", each[each.len() / 4]);
}

fn sereal<T>(size: &str, value: &T) -> wiremark_sereal::Result<()>
where
    T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let unshared = wiremark_sereal::WriteOptions::new().with_shared_keys(false);
    let mut decoder = wiremark_sereal::Decoder::new();
    let mut out = Vec::new();
    for (name, options) in
        [("encode", unshared), ("encode-shared", wiremark_sereal::WriteOptions::new())]
    {
        let mut encoder = wiremark_sereal::Encoder::with_options(options);
        time(&format!("sereal/{name}/{size}"), || {
            out.clear();
            encoder.encode_into(black_box(value), &mut out)
        });
    }
    let bytes = wiremark_sereal::to_vec(value)?;
    assert_eq!(decoder.decode::<T>(&bytes)?, *value);
    time(&format!("sereal/decode-typed/{size}"), || decoder.decode::<T>(black_box(&bytes)));
    time(&format!("sereal/decode-dynamic/{size}"), || {
        decoder.decode_value(black_box(&bytes)).map(drop)
    });
    Ok(())
}

fn storable<T>(size: &str, value: &T) -> wiremark_storable::Result<()>
where
    T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    for (name, order) in [
        ("native", Order::Native),
        ("network", Order::Network),
    ] {
        let options = wiremark_storable::WriteOptions::new().with_order(order);
        let mut encoder = wiremark_storable::Encoder::with_options(options);
        let mut decoder = wiremark_storable::Decoder::new();
        let mut out = Vec::new();
        time(&format!("storable/encode-{name}/{size}"), || {
            out.clear();
            encoder.encode(black_box(value), &mut out)
        });
        out.clear();
        encoder.encode(value, &mut out)?;
        assert_eq!(decoder.decode::<T>(&out)?, *value);
        time(&format!("storable/decode-{name}-typed/{size}"), || {
            decoder.decode::<T>(black_box(&out))
        });
        time(&format!("storable/decode-{name}-dynamic/{size}"), || {
            decoder.value(black_box(&out)).map(drop)
        });
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let small = Small { a: 1, b: 2, c: 3, d: "four".to_owned(), e: 5.018 };
    let f = (1..=1000).collect();
    let large = Large { a: 1, b: 2, c: 3, d: "four".to_owned(), e: 5.018, f };
    sereal("small", &small)?;
    sereal("large", &large)?;
    storable("small", &small)?;
    storable("large", &large)?;
    Ok(())
}
