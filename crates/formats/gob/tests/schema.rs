//! What is said of types: holes that are filled in later, new versions, types learned before
//! there is a value.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]
#![allow(clippy::items_after_statements, reason = "a type stands beside its values")]

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wiremark_datasets::Dataset;
use wiremark_datasets::seeded::log::{Log, LogRecord};
use wiremark_datasets::seeded::{people::People, todos::Todos};
use wiremark_gob::{Complex, Deserializer, Encoder, Enums, Time, TypeKind, WriteOptions};

/// The names of the fields of the stream's struct types, by the types' names, in order.
fn fields(stream: &[u8]) -> Vec<(String, Vec<String>)> {
    let mut deserializer = Deserializer::from_slice(stream);
    while deserializer.skip_value().unwrap() {}
    let schema = deserializer.schema();
    let structs = schema.types().filter_map(|ty| match ty.kind() {
        TypeKind::Struct(fields) => {
            let names = fields.iter().map(|(name, _)| name.to_string()).collect();
            Some((ty.name().to_owned(), names))
        }
        _ => None,
    });
    structs.collect()
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Note {
    id: u32,
    tags: Vec<String>,
    by: Option<String>,
    links: BTreeMap<String, u8>,
}

#[test]
fn a_hole_keeps_its_place_until_its_type_is_seen() {
    let empty = Note { id: 1, ..Note::default() };
    let full =
        Note { id: 2, tags: vec!["a".into()], by: Some("b".into()), ..empty.clone() };
    let mut encoder = Encoder::new(Vec::new());
    for note in [&empty, &full, &empty] {
        encoder.encode(note).unwrap();
    }
    let stream = encoder.into_inner();
    let name = |names: &[&str]| {
        ("Note".to_owned(), names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(
        fields(&stream),
        [
            name(&["id", "_[tags", "_?by", "_{links"]),
            name(&["id", "tags", "by", "_{links", "_?by"]),
        ]
    );
    let mut deserializer = Deserializer::from_slice(&stream);
    for note in [&empty, &full, &empty] {
        assert_eq!(&deserializer.read::<Note>().unwrap(), note);
    }
}

#[track_caller]
fn traced<T>(types: usize, values: &[T])
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let options = WriteOptions::new().with_lossless(true);
    let mut encoder = Encoder::with_options(Vec::new(), options).traced::<T>().unwrap();
    for value in values {
        encoder.encode(value).unwrap();
    }
    let stream = encoder.into_inner();
    let mut deserializer = Deserializer::from_slice(&stream);
    for value in values {
        assert_eq!(&deserializer.read::<T>().unwrap(), value);
    }
    // All types are known from the start, so there are no versions and no holes.
    let schema = deserializer.schema();
    assert_eq!(schema.types().count(), types, "{schema:?}");
    for (name, fields) in fields(&stream) {
        let is_hole =
            |field: &&String| field.starts_with("_[") || field.starts_with("_{");
        assert_eq!(fields.iter().find(is_hole), None, "{name}");
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Tree {
    Node(Vec<Tree>),
    Named { left: Box<Tree>, right: Option<Box<Tree>> },
    Pair(i32, String),
    Leaf,
}

#[test]
fn a_type_is_learned_before_there_is_a_value() {
    let full = Note { by: Some("b".into()), ..Note::default() };
    traced(3, &[Note::default(), full]);
    traced::<Vec<String>>(1, &[vec![], vec!["a".into()]]);
    traced::<Vec<Vec<u16>>>(2, &[vec![], vec![vec![]]]);
    traced::<[[f64; 2]; 3]>(2, &[[[0.0; 2]; 3]]);
    traced::<(i32, String)>(1, &[(0, String::new())]);
    traced::<Vec<Option<(u8, bool)>>>(3, &[vec![], vec![None]]);
    let right = Some(Box::new(Tree::Pair(0, "x".into())));
    let named = Tree::Named { left: Box::new(Tree::Leaf), right };
    traced::<Tree>(5, &[Tree::Leaf, Tree::Node(vec![named, Tree::Node(vec![])])]);
    traced::<(Complex, Time, i128, char)>(3, &[(Complex::default(), Time::ZERO, 0, 'x')]);
    // `Sex` with its variants, which are structs without fields, is the third type.
    traced::<Vec<_>>(5, &[People::with(1, 20).value().clone()]);
    traced::<Vec<_>>(2, &[Todos::with(1, 20).value().clone()]);
    let log = Log::with(1, 100);
    let options = WriteOptions::new().with_lossless(true);
    let mut encoder =
        Encoder::with_options(Vec::new(), options).traced::<Vec<LogRecord>>().unwrap();
    encoder.encode(log.value()).unwrap();
    let stream = encoder.into_inner();
    let back: Vec<LogRecord> = wiremark_gob::from_slice(&stream).unwrap();
    assert_eq!(back, *log.value());
}

#[test]
fn a_type_that_writes_itself_otherwise_than_it_reads_itself_is_learned_from_values() {
    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Renamed {
        #[serde(rename(serialize = "new", deserialize = "old"))]
        field: i32,
    }
    let mut encoder = Encoder::new(Vec::new()).traced::<Renamed>().unwrap();
    encoder.encode(&Renamed { field: 1 }).unwrap();
    let stream = encoder.into_inner();
    assert_eq!(fields(&stream), [("Renamed".to_owned(), vec!["new".to_owned()])]);

    // What takes anything cannot be learned, and says so.
    assert!(Encoder::new(Vec::new()).traced::<wiremark_datasets::Value>().is_err());
}

#[test]
fn enums_are_written_as_wanted() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Level {
        Low,
        High,
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Shape {
        Circle(f64),
        Square { side: f64 },
        Nothing,
    }
    let write = |enums| WriteOptions::new().with_enums(enums);
    let mut encoder = Encoder::with_options(Vec::new(), write(Enums::Names));
    encoder.encode(&vec![Level::Low, Level::High]).unwrap();
    assert!(encoder.encode(&Shape::Circle(1.0)).is_err());
    let stream = encoder.into_inner();
    let names: Vec<String> = wiremark_gob::from_slice(&stream).unwrap();
    assert_eq!(names, ["Low", "High"]);
    let levels: Vec<Level> = wiremark_gob::from_slice(&stream).unwrap();
    assert_eq!(levels, [Level::Low, Level::High]);

    let shapes = vec![Shape::Circle(0.0), Shape::Square { side: 1.0 }, Shape::Nothing];
    let mut encoder = Encoder::with_options(Vec::new(), write(Enums::Interfaces));
    encoder.encode(&shapes).unwrap();
    let stream = encoder.into_inner();
    assert_eq!(wiremark_gob::from_slice::<Vec<Shape>>(&stream).unwrap(), shapes);
}

#[test]
fn what_go_leaves_out_is_left_out_on_demand() {
    #[derive(Serialize)]
    struct One {
        some: Option<i32>,
        minus_zero: f64,
    }
    let one = One { some: Some(0), minus_zero: -0.0 };
    let body = |options| {
        let mut encoder = Encoder::with_options(Vec::new(), options);
        encoder.encode(&One { some: Some(1), minus_zero: 1.0 }).unwrap();
        let first = encoder.get_ref().len();
        encoder.encode(&one).unwrap();
        encoder.into_inner()[first..].to_vec()
    };
    let id = [0xff, 0x82];
    let wanted = [&[8], &id[..], &[1, 0, 1, 0xff, 0x80, 0]].concat();
    assert_eq!(body(WriteOptions::new()), wanted);
    let wanted = [&[3], &id[..], &[0]].concat();
    assert_eq!(body(WriteOptions::new().with_go_exact(true)), wanted);
}

#[test]
fn equal_values_have_equal_bytes_whatever_was_written_before() {
    use wiremark_core::Codec;
    let notes = [
        Note::default(),
        Note { tags: vec!["a".into()], ..Note::default() },
        Note { by: Some(String::new()), ..Note::default() },
        Note {
            id: 3,
            tags: vec!["b".into()],
            by: Some("c".into()),
            links: [("d".into(), 1)].into(),
        },
    ];
    let fresh = |note: &Note| {
        let mut out = Vec::new();
        wiremark_gob::Gob::new().encode_into(note, &mut out).unwrap();
        out
    };
    let mut kept = wiremark_gob::Gob::new();
    for index in [3, 0, 1, 3, 3, 2, 0, 0, 3, 1] {
        let mut out = Vec::new();
        kept.encode_into(&notes[index], &mut out).unwrap();
        assert_eq!(out, fresh(&notes[index]), "{index}");
    }
}
