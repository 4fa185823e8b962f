//! Images of ours read by Perl and written again by Perl in all its ways, and those read by us.
//!
//! Needs `perl` on the path, whose core has Storable; skipped with a word where it is not.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use support::{hex, image, none_bad, notation, options, plain, text, vectors};
use wiremark_core::Codec;
use wiremark_datasets::Dataset;
use wiremark_datasets::seeded::event::{Entry, Events};
use wiremark_datasets::seeded::large::Larges;
use wiremark_datasets::seeded::log::Log;
use wiremark_datasets::seeded::people::People;
use wiremark_datasets::seeded::small::Smalls;
use wiremark_datasets::seeded::todos::Todos;
use wiremark_storable::{Blessed, Booleans, Encoder, Storable, Value, from_slice};

const MODES: [&str; 4] = ["freeze", "nfreeze", "store", "nstore"];

/// Reads each image and writes what it read in all four ways.
const PROGRAM: &str = r#"use strict;
use warnings;
no warnings 'recursion';
use Storable qw(freeze nfreeze store nstore thaw retrieve);

$Storable::canonical = 1;
my ($folder) = @ARGV;
opendir my $list, $folder or die $!;
for my $name (sort grep { /\.(?:freeze|nfreeze|store|nstore)\z/ } readdir $list) {
    my $path = "$folder/$name";
    my $data = eval {
        return retrieve($path) if $name =~ /store\z/;
        open my $in, '<:raw', $path or die $!;
        my $image = do { local $/; <$in> };
        thaw($image);
    };
    if (!defined $data) {
        print "$name: Perl does not read it: ", $@ || "undef\n";
        next;
    }
    eval {
        for my $way ([ freeze => \&freeze ], [ nfreeze => \&nfreeze ]) {
            open my $out, '>:raw', "$path-$way->[0]" or die $!;
            print {$out} $way->[1]->($data);
            close $out or die $!;
        }
        store($data, "$path-store");
        nstore($data, "$path-nstore");
        1;
    } or print "$name: Perl does not write it again: $@";
}
"#;

/// Writes structures by chance, seeded: a byte for the mode, the length, the image.
const CHANCE: &str = r#"use strict;
use warnings;
no warnings qw(once recursion);
use Hash::Util qw(lock_hash lock_keys);
use Scalar::Util qw(weaken);
use Storable qw(freeze nfreeze store nstore);

# Classes that write themselves, overload, and tie.
package Self;
sub STORABLE_freeze {
    my ($object) = @_;
    my @refs = "$object" =~ /HASH/ ? grep { ref } values %$object : ();
    return ('s' x (rand() < 0.1 ? 300 : rand 9), @refs);
}
sub STORABLE_thaw { }
package Over;
use overload '""' => sub { 'over' }, fallback => 1;
package TiedHash;
require Tie::Hash;
our @ISA = 'Tie::StdHash';
package TiedArray;
require Tie::Array;
our @ISA = 'Tie::StdArray';
package main;

my ($folder, $count) = @ARGV;
srand 42;
my @seen;

sub text { join '', map { chr rand $_[0] } 1 .. rand 9 }

sub key {
    my $kind = rand 5;
    return 'k' . int rand 5 if $kind < 2;
    return text(0x80) if $kind < 3;
    my $key = $kind < 4 ? "caf\xe9" : text(0x400);
    utf8::upgrade($key) if rand() < 0.5;
    return $key;
}

sub plain {
    my $kind = rand 12;
    return int(rand 300) - 150 if $kind < 3;
    return int(rand 2**33) - 2**32 if $kind < 4;
    return rand() * 10**(int(rand 40) - 20) if $kind < 5;
    return undef if $kind < 6;
    return text($kind < 7 ? 0x80 : $kind < 8 ? 0x100 : 0x400) if $kind < 9;
    return 'y' x (250 + rand 10) if $kind < 10;
    return 18446744073709551615 - int rand 5 if $kind < 11;
    return $kind < 11.5 ? !!1 : v1.22.333;
}

sub structure {
    my ($depth) = @_;
    return plain() if $depth <= 0;
    return $seen[rand @seen] if @seen && rand() < 0.15;
    my $kind = rand 14;
    my $made;
    if ($kind < 4) {
        $made = [ map { structure($depth - 1) } 1 .. rand 6 ];
        $#$made += 2 if rand() < 0.1;
    }
    elsif ($kind < 8) {
        # A key once: a hash remembers that it had others with flags.
        my %had;
        my @keys = grep { !$had{$_}++ } map { key() } 1 .. rand 6;
        $made = {};
        $made->{$_} = structure($depth - 1) for @keys;
        lock_keys(%$made, keys %$made, 'spare') if rand() < 0.05;
        lock_hash(%$made) if rand() < 0.05;
    }
    elsif ($kind < 8.3) { tie my %tied, 'TiedHash'; $tied{ key() } = structure($depth - 1); $made = \%tied }
    elsif ($kind < 8.6) { tie my @tied, 'TiedArray'; push @tied, structure($depth - 1); $made = \@tied }
    elsif ($kind < 10) { my $inner = structure($depth - 1); $made = \$inner }
    elsif ($kind < 11) {
        my $pattern = ('abc', '^a.b$', 'x' x 300, "\xe9")[ rand 4 ];
        $made = (qr/$pattern/, qr/$pattern/i, qr/$pattern/msix)[ rand 3 ];
    }
    else { return plain() }
    if (rand() < 0.3) {
        my $class = ('Foo', 'C' x 130, 'Number' . int rand 200, 'Self', 'Over')[ rand 5 ];
        eval { bless $made, $class };
    }
    push @seen, $made if rand() < 0.4;
    return $made;
}

open my $out, '>:raw', "$folder/chance" or die $!;
for (1 .. $count) {
    @seen = ();
    my $root;
    do { $root = structure(4) } until ref $root;
    if (ref $root eq 'ARRAY' && rand() < 0.3) {
        push @$root, $root;
        push @$root, $seen[0], $seen[0] if @seen;
        weaken($root->[-1]) if ref $root->[-1];
    }
    for my $mode (0 .. 3) {
        # What a hook cannot be of is refused.
        my $image = eval { (\&freeze, \&nfreeze)[$mode]->($root) } if $mode < 2;
        if ($mode >= 2 && eval { (\&store, \&nstore)[ $mode - 2 ]->($root, "$folder/one") }) {
            open my $in, '<:raw', "$folder/one" or die $!;
            $image = do { local $/; <$in> };
        }
        print {$out} pack('C N/a*', $mode, $image) if defined $image;
    }
}
close $out or die $!;
"#;

/// Looks at what Perl left in the folder.
type Check = Box<dyn Fn(&Path) -> Result<(), String>>;

/// What is asked of Perl, and how its answers are checked.
struct Exchange {
    folder: PathBuf,
    checks: Vec<Check>,
}

impl Exchange {
    /// A name for a case's files.
    fn name(&self, mode: &str) -> String {
        format!("case{:04}.{mode}", self.checks.len())
    }

    fn put(&self, name: &str, image: &[u8]) {
        std::fs::write(self.folder.join(name), image).unwrap();
    }

    /// A value that goes to Perl and comes back.
    #[expect(clippy::needless_pass_by_value, reason = "values are written in place")]
    fn add<T>(&mut self, value: T)
    where
        T: Serialize + DeserializeOwned + PartialEq + Debug + Clone + 'static,
    {
        self.add_as(&value, false);
    }

    /// The same; floats of many digits lose some where Perl writes them as text.
    fn add_as<T>(&mut self, value: &T, has_digits: bool)
    where
        T: Serialize + DeserializeOwned + PartialEq + Debug + Clone + 'static,
    {
        for mode in MODES {
            for booleans in [Booleans::Immortal, Booleans::Text] {
                let name = self.name(mode);
                let mut out = Vec::new();
                Encoder::with_options(options(mode).with_booleans(booleans))
                    .encode(value, &mut out)
                    .unwrap();
                assert_eq!(from_slice::<T>(&out).unwrap(), *value);
                self.put(&name, &out);
                let value = value.clone();
                let is_native = !mode.starts_with('n');
                self.checks.push(Box::new(move |folder| {
                    for back in MODES {
                        let file = format!("{name}-{back}");
                        let bytes = std::fs::read(folder.join(&file))
                            .map_err(|error| format!("{file}: {error}"))?;
                        let read = from_slice::<T>(&bytes)
                            .map_err(|error| format!("{file}: {error}"))?;
                        let loses = has_digits && is_native && back.starts_with('n');
                        if read != value && !loses {
                            return Err(format!(
                                "{file}:\n  want {}\n  have {}",
                                shorten(&format!("{value:?}")),
                                shorten(&format!("{read:?}"))
                            ));
                        }
                    }
                    Ok(())
                }));
            }
        }
    }

    /// A value that goes through the codecs, which tell numbers that are text from text.
    fn add_codec<T>(&mut self, value: &T)
    where
        T: Serialize + DeserializeOwned + PartialEq + Clone + 'static,
    {
        for (mode, mut codec) in
            [("nfreeze", Storable::network()), ("freeze", Storable::native())]
        {
            let name = self.name(mode);
            let mut out = Vec::new();
            codec.encode_into(value, &mut out).unwrap();
            self.put(&name, &out);
            let value = value.clone();
            self.checks.push(Box::new(move |folder| {
                for back in MODES {
                    // A float that was text once is text for Perl, in native order too.
                    if mode == "nfreeze" && !back.starts_with('n') {
                        continue;
                    }
                    let file = format!("{name}-{back}");
                    let bytes = std::fs::read(folder.join(&file))
                        .map_err(|error| format!("{file}: {error}"))?;
                    match codec.clone().decode::<T>(&bytes) {
                        Ok(read) if read == value => {}
                        Ok(_) => return Err(format!("{file}: another value")),
                        Err(error) => return Err(format!("{file}: {error}")),
                    }
                }
                Ok(())
            }));
        }
    }

    /// A value with all that Perl tells apart.
    fn add_value(&mut self, label: &str, value: &Value<'_>) {
        for mode in MODES {
            let name = self.name(mode);
            let mut out = Vec::new();
            Encoder::with_options(options(mode)).encode_value(value, &mut out).unwrap();
            self.put(&name, &out);
            let wanted = plain(&notation(&Value::from_slice(&out).unwrap()));
            let label = label.to_owned();
            self.checks.push(Box::new(move |folder| {
                let file = format!("{name}-{mode}");
                let bytes = std::fs::read(folder.join(&file))
                    .map_err(|error| format!("{label} {file}: {error}"))?;
                let read = Value::from_slice(&bytes)
                    .map_err(|error| format!("{label} {file}: {error}"))?;
                let found = plain(&notation(&read));
                if found == wanted {
                    Ok(())
                } else {
                    Err(format!("{label} {file}:\n  want {wanted}\n  have {found}"))
                }
            }));
        }
    }

    /// Perl writes the value in as many bytes as we do.
    fn add_size<T: Serialize>(&mut self, value: &T, network: usize, native: usize) {
        for (mode, size) in [("nfreeze", network), ("freeze", native)] {
            let name = self.name(mode);
            let mut out = Vec::new();
            Encoder::with_options(options(mode)).encode(value, &mut out).unwrap();
            assert_eq!(out.len(), size, "{mode}");
            self.put(&name, &out);
            self.checks.push(Box::new(move |folder| {
                let file = format!("{name}-{mode}");
                let bytes = std::fs::read(folder.join(&file))
                    .map_err(|error| format!("{file}: {error}"))?;
                if bytes.len() == size {
                    Ok(())
                } else {
                    Err(format!("{file}: {} bytes by Perl, {size} by us", bytes.len()))
                }
            }));
        }
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(600).collect()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Nothing,
    Circle(f64),
    Line(i16, i16),
    Rectangle { width: u32, height: Option<u32> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    unit: (),
    bytes: serde_bytes::ByteBuf,
    letter: char,
    tuple: (u8, String, bool),
    nested: Vec<Vec<Option<i64>>>,
    keys: BTreeMap<i32, String>,
    letters: BTreeMap<char, bool>,
    shapes: Vec<Shape>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Tree {
    name: String,
    kids: Vec<Tree>,
}

/// The value that the third task freezes; the large one has `f` too.
#[derive(Serialize)]
struct Small {
    a: u8,
    b: u8,
    c: u8,
    d: &'static str,
    e: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    f: Option<Vec<u16>>,
}

fn scalars(perl: &mut Exchange) {
    perl.add(true);
    perl.add(false);
    perl.add(());
    perl.add(None::<u8>);
    perl.add(Some(7_u8));
    perl.add('é');
    for value in [0, 1, -1, 127, 128, -128, -129, 255, 65_536] {
        perl.add(value);
    }
    for value in [i64::MIN, i64::MAX, 1 << 31, (1 << 31) - 1, -(1 << 31), -(1 << 31) - 1]
    {
        perl.add(value);
    }
    perl.add(vec![u64::MAX, 1 << 63, (1 << 63) - 1, 4_294_967_296]);
    perl.add(vec![i128::MIN, i128::MAX, 0]);
    perl.add(u128::MAX);
    perl.add(vec![0.5, 5.018, -0.1, 3.0, 1e300, 1e-5, 123_456_789.125, 0.0]);
    perl.add(vec![f64::INFINITY, f64::NEG_INFINITY]);
    perl.add_as(&vec![1.0 / 3.0, f64::MIN_POSITIVE, f64::MAX, 5e-324], true);
    perl.add(vec![0.5_f32, -1.25, 1e10]);
    for length in [0, 1, 127, 128, 255, 256, 70_000] {
        perl.add("x".repeat(length));
        perl.add("水".repeat(length / 3));
    }
    perl.add("5.018".to_owned());
    perl.add("quote\" back\\ tab\t nul\0".to_owned());
    perl.add(serde_bytes::ByteBuf::from((0..=255).collect::<Vec<u8>>()));
}

fn containers(perl: &mut Exchange) {
    perl.add(Vec::<u8>::new());
    perl.add((0..300).collect::<Vec<u16>>());
    perl.add(vec![vec![Some(true), None], vec![]]);
    perl.add(vec![(); 20]);
    perl.add(BTreeMap::<String, u8>::new());
    let keys = ["", " ", "a", "café", "水", "😀", "a\0b", "0", "-1"];
    perl.add(keys.iter().map(|key| ((*key).to_owned(), 1)).collect::<BTreeMap<_, _>>());
    perl.add((0..300).map(|key| (key, format!("v{key}"))).collect::<BTreeMap<_, _>>());
    let leaf = Tree { name: "leaf".into(), kids: vec![] };
    let tree = (0..20).fold(leaf.clone(), |kid, level| Tree {
        name: format!("größe {level}"),
        kids: vec![kid, leaf.clone()],
    });
    perl.add(tree);
    let shapes = vec![
        Shape::Nothing,
        Shape::Circle(0.25),
        Shape::Line(-1, 1),
        Shape::Rectangle { width: 300, height: Some(4) },
        Shape::Rectangle { width: 3, height: None },
    ];
    for shape in &shapes {
        perl.add(shape.clone());
    }
    perl.add(Everything {
        unit: (),
        bytes: serde_bytes::ByteBuf::from(vec![0, 0xff, 0x80]),
        letter: '水',
        tuple: (1, "one".into(), true),
        nested: vec![vec![], vec![None, Some(i64::MIN)]],
        keys: BTreeMap::from([(-1, "a".to_owned()), (70_000, "b".to_owned())]),
        letters: BTreeMap::from([('a', true), ('é', false), ('水', true)]),
        shapes,
    });
}

fn objects(perl: &mut Exchange) {
    let point =
        |x| Blessed::new("Point".to_owned(), BTreeMap::from([("x".to_owned(), x)]));
    perl.add(point(1));
    perl.add(vec![point(1), point(300), point(-1)]);
    perl.add(vec![Blessed::new("Größe".to_owned(), vec![1, 2])]);
    perl.add(vec![Blessed::new("Truth".to_owned(), true)]);
    perl.add((0..200).map(|n| Blessed::new(format!("K{n}"), n)).collect::<Vec<_>>());
    perl.add(Blessed::new("C".repeat(200), vec![Blessed::new("D".to_owned(), 5)]));
    let some =
        |class: Option<&str>, value| Blessed { class: class.map(str::to_owned), value };
    perl.add(vec![some(Some("A"), vec![1]), some(None, vec![2])]);
}

fn datasets(perl: &mut Exchange) {
    perl.add(People::new().value()[..300].to_vec());
    perl.add(People::new().items()[..3].to_vec());
    perl.add(Log::new().value().clone());
    perl.add(Smalls::new().value().clone());
    perl.add(Larges::new().value().clone());
    perl.add(Todos::new().value()[..300].to_vec());
    perl.add(Events::<Entry>::new().value().clone());
    perl.add(Events::<Entry>::new().items()[..50].to_vec());
    perl.add_codec(Events::<wiremark_datasets::Value>::new().value());
    perl.add_codec(&Events::<wiremark_datasets::Value>::new().items()[..50].to_vec());
    perl.add_codec(Log::new().value());
    // As many bytes as Perl takes, which the format's description tells for these values.
    let small = Small { a: 1, b: 2, c: 3, d: "string", e: 5.018, f: None };
    perl.add_size(&small, 53, 68);
    let large = Small { f: Some((1..=1000).collect()), ..small };
    perl.add_size(&large, 4_683, 8_190);
}

/// The images of the vectors, written by us, but those that Perl reads only with classes of
/// its own or in newer versions.
fn values(perl: &mut Exchange) {
    for vector in vectors() {
        let (name, bytes) = (text(&vector, "name"), image(&vector));
        let Ok(value) = Value::from_slice(&bytes) else { continue };
        let node = notation(&value).to_string();
        let needs_class =
            ["\"hook\"", "\"tied\"", "\"Ov\""].iter().any(|it| node.contains(it));
        let is_new =
            node.contains("{\"bool\":true}") || node.contains("{\"bool\":false}");
        // Nothing holds the target of the weak reference, once it is read.
        let is_lost = name.starts_with("weak-only-f") || name.starts_with("weak-only-n");
        if needs_class || is_new || is_lost || name == "asm-utf8str-invalid" {
            continue;
        }
        perl.add_value(name, &value);
    }
}

/// A new folder; none, with a word, where there is no Perl with Storable.
fn folder(name: &str) -> Option<PathBuf> {
    let version = Command::new("perl")
        .args(["-MStorable", "-e", "print \"perl $^V, Storable $Storable::VERSION\""])
        .output();
    #[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
    match version {
        Ok(output) if output.status.success() => {
            println!("{}", String::from_utf8_lossy(&output.stdout));
        }
        _ => {
            println!("skipped: no `perl` with Storable on the path (Debian: perl)");
            return None;
        }
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("storable-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    Some(folder)
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let file = folder.join("program.pl");
    std::fs::write(&file, program).unwrap();
    Command::new("perl").arg(&file).arg(folder).args(arguments).output().unwrap()
}

#[test]
fn perl_reads_our_images_and_we_read_perls() {
    let Some(folder) = folder("exchange") else { return };
    let mut perl = Exchange { folder: folder.clone(), checks: Vec::new() };
    scalars(&mut perl);
    containers(&mut perl);
    objects(&mut perl);
    datasets(&mut perl);
    values(&mut perl);
    let ran = run(&folder, PROGRAM, &[]);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let mut bad: Vec<_> = said.lines().map(str::to_owned).collect();
    if !ran.status.success() {
        bad.push(String::from_utf8_lossy(&ran.stderr).into_owned());
    }
    bad.extend(perl.checks.iter().filter_map(|check| check(&folder).err()));
    let rows = perl.checks.len();
    assert!(bad.is_empty(), "{} of {rows}:\n{}", bad.len(), bad.join("\n"));
    println!("{rows} exchanges");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_perl_writes_we_write_again_byte_for_byte() {
    const STRUCTURES: &str = "1000";
    let Some(folder) = folder("chance") else { return };
    let ran = run(&folder, CHANCE, &[STRUCTURES]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let all = std::fs::read(folder.join("chance")).unwrap();
    let (mut rest, mut rows, mut bad) = (&all[..], 0, Vec::new());
    while let Some((&mode, after)) = rest.split_first() {
        let (length, after) = after.split_first_chunk().unwrap();
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap();
        let (image, after) = after.split_at(length);
        rest = after;
        rows += 1;
        let mut out = Vec::new();
        let written = Value::from_slice(image).and_then(|value| {
            from_slice::<IgnoredAny>(image)?;
            let options = options(MODES[usize::from(mode)]);
            Encoder::with_options(options).encode_value(&value, &mut out)
        });
        if written.is_err() || out != image {
            bad.push(format!("{written:?}\n  want {}\n  have {}", hex(image), hex(&out)));
        }
    }
    println!("{rows} images");
    none_bad(rows, &bad);
    std::fs::remove_dir_all(&folder).unwrap();
}
