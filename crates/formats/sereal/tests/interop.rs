//! Documents of ours read by Perl and written again by Perl, and those read by us.
//!
//! Needs `perl` with `Sereal` (Debian: `libsereal-perl`); skipped with a word where it is not.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use support::{document, notation, plain, shorten, text, vectors};
use wiremark_conform::samples::{self, Sample, SampleVisitor};
use wiremark_datasets::{Dataset, DatasetVisitor, IDS, Value};
use wiremark_sereal::{
    Compression, Decoder, Dedupe, Encoder, Frozen, KeyOrder, Object, ReadOptions, Ref,
    Regexp, Version, WriteOptions,
};

/// The first way of a version before 5, and those of version 1.
const FIRST_OLD: usize = 9;
const V1: std::ops::RangeInclusive<usize> = 9..=11;

/// Ways in which we write, and those in which Perl does: the options of its encoder.
fn ways() -> Vec<(WriteOptions, &'static str)> {
    let new = WriteOptions::new;
    let packed =
        |compression| new().with_compression(compression).with_compress_threshold(0);
    vec![
        (new(), ""),
        (new().with_shared_keys(false), "no_shared_hashkeys => 1"),
        (new().with_canonical(), "canonical => 1"),
        (new().with_key_order(KeyOrder::CharactersReversed), "sort_keys => 3"),
        (new().with_dedupe(Dedupe::Copy), "dedupe_strings => 1"),
        (new().with_dedupe(Dedupe::Alias), "aliased_dedupe_strings => 1"),
        (packed(Compression::Snappy), "compress => 1, compress_threshold => 0"),
        (packed(Compression::Zlib(6)), "compress => 2, compress_threshold => 0"),
        (packed(Compression::Zstd(3)), "compress => 3, compress_threshold => 0"),
        (
            packed(Compression::Snappy).with_version(Version::V1),
            "protocol_version => 1, snappy => 1, compress_threshold => 0",
        ),
        (
            packed(Compression::SnappyIncremental).with_version(Version::V1),
            "protocol_version => 1, snappy_incr => 1, compress_threshold => 0",
        ),
        (new().with_version(Version::V1), "protocol_version => 1"),
        (new().with_version(Version::V2), "protocol_version => 2"),
        (new().with_version(Version::V3), "protocol_version => 3"),
        (new().with_version(Version::V4), "protocol_version => 4"),
    ]
}

/// Reads each document, says what it cannot, and writes what it read.
const PROGRAM: &str = r"
use strict; use warnings;
use Sereal::Encoder; use Sereal::Decoder;
package Fz { sub FREEZE { @{ $_[0] } } sub THAW { my ($c, $w, @a) = @_; bless [@a], $c } }
package main;
my @ways = (WAYS);
my %encoders;
for my $file (sort glob '*.ours') {
    my ($way) = $file =~ /-(\d+)\.ours$/ or die;
    open my $in, '<:raw', $file or die; my $bytes = do { local $/; <$in> };
    my $old = $way >= 9 && $way <= 11;
    my $encoder = $encoders{$way} //= Sereal::Encoder->new(
        { ($old ? () : (freeze_callbacks => 1)), %{ $ways[$way] } });
    my $decoder = Sereal::Decoder->new({ validate_utf8 => 1 });
    my $out = eval {
        my $value; $decoder->decode($bytes, $value);
        die 'used ' . $decoder->bytes_consumed . ' of ' . length $bytes
            if $decoder->bytes_consumed != length $bytes;
        $encoder->encode($value);
    };
    if (!defined $out) { print qq{$file: $@}; next }
    open my $to, '>:raw', $file =~ s/ours$/perls/r or die; print {$to} $out; close $to or die;
}
print qq{done\n};
";

/// What is asked of Perl, and how its answers are checked.
struct Exchange {
    folder: PathBuf,
    checks: Vec<Check>,
}

/// Looks at what Perl left in the folder.
type Check = Box<dyn Fn(&Path) -> Result<(), String>>;

/// Before version 5 Perl writes its booleans as 1 and the empty string, which a type that asks
/// for one takes for it. Without types they are no booleans any more.
fn without_booleans(value: Value) -> Value {
    match value {
        Value::Bool(true) => Value::U64(1),
        Value::Bool(false) => Value::from(""),
        Value::Array(values) => {
            Value::Array(values.into_iter().map(without_booleans).collect())
        }
        Value::Map(pairs) => Value::Map(
            pairs
                .into_iter()
                .map(|(key, value)| (key, without_booleans(value)))
                .collect(),
        ),
        other => other,
    }
}

/// The same for equal values, whatever the order of their pairs.
fn telling<T: Serialize + ?Sized>(way: usize, value: &T) -> Vec<u8> {
    if way >= FIRST_OLD {
        let value = without_booleans(wiremark_datasets::to_value(value).unwrap());
        return canonical(&value);
    }
    canonical(value)
}

fn canonical<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let options = WriteOptions::new().with_key_order(KeyOrder::Characters);
    Encoder::with_options(options).encode_to_vec(value).unwrap()
}

impl Exchange {
    fn add(
        &mut self,
        way: usize,
        what: &str,
        bytes: &[u8],
        check: impl Fn(&[u8]) -> Result<(), String> + 'static,
    ) {
        let name = format!("{:05}-{way}", self.checks.len());
        std::fs::write(self.folder.join(format!("{name}.ours")), bytes).unwrap();
        let what = what.to_owned();
        self.checks.push(Box::new(move |folder| {
            let bytes = std::fs::read(folder.join(format!("{name}.perls")))
                .map_err(|error| format!("{name}, {what}: {error}"))?;
            check(&bytes).map_err(|error| format!("{name}, {what}: {error}"))
        }));
    }

    /// A value that Perl reads and writes, and that we read again.
    fn value<T>(&mut self, way: usize, what: &str, value: &T)
    where
        T: Serialize + DeserializeOwned + 'static,
    {
        let (options, _) = ways()[way];
        let bytes = match Encoder::with_options(options).encode_to_vec(value) {
            Ok(bytes) => bytes,
            Err(error) => panic!("{what}: {error}"),
        };
        // Held as bytes, so that the check needs no copy of the value.
        let ours = telling(way, value);
        self.add(way, what, &bytes, move |bytes| {
            // Perl writes each string of a list once if it may.
            let options = ReadOptions::new().with_max_copied_bytes(usize::MAX);
            let back = Decoder::with_options(options)
                .decode::<T>(bytes)
                .map_err(|error| error.to_string())?;
            if telling(way, &back) == ours {
                Ok(())
            } else {
                Err(format!("another value, in {}", shorten(&support::hex(bytes))))
            }
        });
    }

    fn shape<T>(&mut self, value: T)
    where
        T: Serialize + DeserializeOwned + Debug + 'static,
    {
        for way in 0..ways().len() {
            self.value(way, &shorten(&format!("{value:?}")), &value);
        }
        drop(value);
    }
}

impl SampleVisitor for Exchange {
    fn visit<T: Sample>(&mut self, _: bool, value: T) {
        // Samples are owned and live for ever, but the trait does not say so: they are read back
        // without their type, and into it here.
        let dynamic = wiremark_datasets::to_value(&value).unwrap();
        for way in 0..ways().len() {
            let (options, _) = ways()[way];
            let bytes = Encoder::with_options(options).encode_to_vec(&value).unwrap();
            let back = Decoder::new().decode::<T>(&bytes).unwrap();
            assert_eq!(back, value);
            let (ours, what) = (telling(way, &value), format!("{dynamic:?}"));
            self.add(way, &shorten(&what), &bytes, move |bytes| {
                let back = Decoder::new()
                    .decode::<Value>(bytes)
                    .map_err(|error| error.to_string())?;
                if telling(way, &back) == ours {
                    Ok(())
                } else {
                    Err(format!("{back:?}"))
                }
            });
        }
    }
}

impl DatasetVisitor for Exchange {
    fn visit<D: Dataset>(&mut self, dataset: &D) {
        let id = dataset.about().id;
        for way in 0..ways().len() {
            self.value(way, &id, &dataset.items()[0]);
        }
        for way in [0, 2, 4, 8] {
            self.value(way, &id, dataset.value());
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Tree {
    name: String,
    kids: Vec<Tree>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Nothing,
    Circle(f64),
    Rectangle { width: f64, height: Option<f64> },
    Line(i64, i64),
}

fn shapes(perl: &mut Exchange) {
    perl.shape(true);
    perl.shape(vec![0_i64, -1, -16, -17, 15, 16, i64::MIN, i64::MAX]);
    perl.shape(vec![0_u64, 127, 128, 16_383, 16_384, u64::MAX]);
    perl.shape(vec![0.0, -0.0, 0.1, 1.5, 1e300, f64::INFINITY, f64::NEG_INFINITY]);
    perl.shape(vec![0.1_f32, -1.5]);
    perl.shape(
        ["", "a", "größe 水 😀", &"x".repeat(31), &"x".repeat(300)].map(str::to_owned),
    );
    perl.shape(['a', 'é', '😀']);
    perl.shape(serde_bytes::ByteBuf::from(vec![0, 0xff, 0x80]));
    perl.shape((None::<u8>, Some(1_u8), (), "text".to_owned()));
    perl.shape((0..40).collect::<Vec<u32>>());
    perl.shape(vec![vec![vec![1_u8], vec![]], vec![]]);
    perl.shape(BTreeMap::from([
        (1_u8, "one".to_owned()),
        (200, "two hundred".to_owned()),
    ]));
    let many = (0..100).map(|n| (format!("key {n}"), n)).collect::<HashMap<_, u32>>();
    perl.shape(vec![many.clone(), many]);
    let leaf = Tree { name: "leaf".to_owned(), kids: vec![] };
    let kids = vec![leaf.clone(), Tree { name: String::new(), kids: vec![leaf] }];
    perl.shape(Tree { name: "root".to_owned(), kids });
    perl.shape(vec![
        Shape::Nothing,
        Shape::Circle(1.5),
        Shape::Rectangle { width: 1.0, height: None },
        Shape::Line(0, 1),
    ]);
    let object =
        |class: &str, value: u8| Object { class: class.to_owned(), value: vec![value] };
    perl.shape(vec![object("A", 1), object("B::C", 2), object("A", 3)]);
    perl.shape(Object { class: "Number".to_owned(), value: 5 });
    perl.shape(Regexp { pattern: "^a.*é$".to_owned(), flags: "msix".to_owned() });
    perl.shape(vec![Ref(1), Ref(2)]);
    // Version 1 has no frozen objects.
    let frozen = Frozen { class: "Fz".to_owned(), arguments: ("Sereal".to_owned(), 42) };
    for way in (0..ways().len()).filter(|way| !V1.contains(way)) {
        perl.value(way, "frozen", &vec![frozen.clone(), frozen.clone()]);
    }
}

/// What Perl wrote once is read, written by us, read by Perl, and written and read again.
fn golden(perl: &mut Exchange) {
    for vector in vectors() {
        let name = text(&vector, "name").to_owned();
        let bytes = document(&vector);
        let value = Decoder::new().decode_value(&bytes).unwrap();
        let wanted = plain(&notation(&value), false);
        // Perl 5.36 is not built for it, or checks that the characters are Unicode's.
        if wanted.to_string().contains("utf8x") {
            continue;
        }
        let bytes = Encoder::new().encode_value_to_vec(&value).unwrap();
        perl.add(0, &name, &bytes, move |bytes| {
            let back =
                Decoder::new().decode_value(bytes).map_err(|error| error.to_string())?;
            let found = plain(&notation(&back), false);
            if found == wanted {
                Ok(())
            } else {
                Err(format!("\n  want {}\n  have {}", shorten(&wanted), shorten(&found)))
            }
        });
    }
}

#[test]
fn perl_reads_our_documents_and_we_read_perls() {
    let version = "print qq{Sereal $Sereal::Encoder::VERSION, perl $^V}";
    let asked = Command::new("perl")
        .args(["-MSereal::Encoder", "-MSereal::Decoder", "-e", version])
        .output();
    match asked {
        Ok(asked) if asked.status.success() => {
            println!("{}", String::from_utf8_lossy(&asked.stdout));
        }
        _ => {
            println!("skipped: no `perl` with Sereal (Debian: libsereal-perl)");
            return;
        }
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("sereal-interop-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut perl = Exchange { folder: folder.clone(), checks: Vec::new() };
    shapes(&mut perl);
    samples::visit(&mut perl);
    golden(&mut perl);
    for id in IDS {
        assert!(wiremark_datasets::visit(id, true, &mut perl), "{id}");
    }
    let options =
        ways().iter().map(|(_, perl)| format!("{{ {perl} }}")).collect::<Vec<_>>();
    let program = PROGRAM.replace("WAYS", &options.join(", "));
    std::fs::write(folder.join("main.pl"), program).unwrap();
    let ran = Command::new("perl").arg("main.pl").current_dir(&folder).output().unwrap();
    let (said, wrong) = (
        String::from_utf8_lossy(&ran.stdout).into_owned(),
        String::from_utf8_lossy(&ran.stderr).into_owned(),
    );
    let mut bad: Vec<_> =
        said.lines().filter(|line| *line != "done").map(shorten).collect();
    if !ran.status.success() || !said.ends_with("done\n") {
        bad.push(wrong);
    }
    bad.extend(perl.checks.iter().filter_map(|check| check(&folder).err()));
    let rows = perl.checks.len();
    std::fs::remove_dir_all(&folder).unwrap();
    let few = bad.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
    assert!(bad.is_empty(), "{} of {rows}:\n{few}", bad.len());
    println!("{rows} exchanges");
}
