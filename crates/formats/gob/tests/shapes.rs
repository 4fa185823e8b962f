//! Every shape of serde's data model, written and read again: alone, in a stream, from a
//! reader, twice by one encoder.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]
#![allow(clippy::items_after_statements, reason = "a type stands beside its values")]

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use wiremark_gob::{
    Complex, Decoder, Deserializer, Encoder, Interface, Opaque, OpaqueKind, Time, Value,
    WriteOptions, from_slice, to_vec,
};

#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(values: &[T]) {
    let lossless = WriteOptions::new().with_lossless(true);
    for value in values {
        let bytes = match to_vec(value) {
            Ok(bytes) => bytes,
            Err(error) => panic!("{value:?}: {error}"),
        };
        let mut encoder = Encoder::with_options(Vec::new(), lossless);
        encoder.encode(value).unwrap();
        let alone = encoder.into_inner();
        match from_slice::<T>(&alone) {
            Ok(back) => assert_eq!(&back, value, "{}", hex(&alone)),
            Err(error) => panic!("{value:?}: {error}\n{}", hex(&alone)),
        }
        let any = from_slice::<Value>(&bytes);
        assert!(any.is_ok(), "{value:?}: {any:?}\n{}", hex(&bytes));
        from_slice::<IgnoredAny>(&bytes).unwrap();
    }
    let mut encoder = Encoder::with_options(Vec::new(), lossless);
    for _ in 0..2 {
        for value in values {
            encoder.encode(value).unwrap();
        }
    }
    let stream = encoder.into_inner();
    let mut deserializer = Deserializer::from_slice(&stream);
    let mut decoder = Decoder::new(&stream[..]);
    for value in values.iter().chain(values) {
        let back = deserializer.next_value::<T>();
        assert_eq!(back.unwrap().as_ref(), Some(value), "{}", hex(&stream));
        assert_eq!(decoder.next_value::<T>().unwrap().as_ref(), Some(value));
    }
    deserializer.end().unwrap();
    decoder.end().unwrap();
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Person {
    name: String,
    age: i32,
    sex: bool,
    hobbies: Vec<String>,
}

fn person(name: &str, hobbies: &[&str]) -> Person {
    let hobbies = hobbies.iter().map(|&hobby| hobby.to_owned()).collect();
    Person { name: name.to_owned(), age: 31, sex: true, hobbies }
}

#[test]
fn scalars() {
    check(&[true, false]);
    check(&[0_i8, -1, i8::MIN, i8::MAX]);
    check(&[0_i64, -1, i64::MIN, i64::MAX]);
    check(&[0_u8, 200, u8::MAX]);
    check(&[0, 1, u64::MAX]);
    check(&[0, 1, u128::MAX, 1 << 64]);
    check(&[0, -1, i128::MIN, i128::MAX]);
    check(&[0.0, -0.5, f64::INFINITY, f64::MIN_POSITIVE]);
    check(&[0.1_f32, f32::MAX]);
    check(&['a', 'é', '\0', '🦀']);
    check(&[String::new(), "text".to_owned()]);
    check(&[()]);
    check(&[serde_bytes::ByteBuf::from(vec![1, 2, 200]), serde_bytes::ByteBuf::new()]);
}

#[test]
fn not_a_number_and_minus_zero_keep_their_bits() {
    #[derive(Serialize, Deserialize)]
    struct One {
        v: f64,
    }
    for bits in [f64::NAN.to_bits(), 0x7ff0_0000_0000_0001, (-0.0_f64).to_bits()] {
        let one = One { v: f64::from_bits(bits) };
        let back: One = from_slice(&to_vec(&one).unwrap()).unwrap();
        assert_eq!(back.v.to_bits(), bits);
    }
}

#[test]
fn sequences_and_maps() {
    check(&[vec![1_i32, 2, 3], vec![], vec![-1]]);
    check(&[vec![1_u8, 200], vec![], vec![0; 200]]);
    check(&[vec![1_u16, 200], vec![]]);
    check(&[vec![vec![], vec!["a".to_owned()]], vec![], vec![vec![]]]);
    check(&[vec![vec![1_u8], vec![]], vec![vec![]]]);
    check(&[vec![(), ()], vec![]]);
    check(&[[1, 2, 3], [0, 0, 0]]);
    check(&[[1_u8, 200, 0, 7]]);
    check(&[[0_i32; 0]]);
    check(&[[[1.5, 2.5], [0.0, 1.0]]]);
    check(&[BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 0)]), BTreeMap::new()]);
    check(&[BTreeMap::from([(-1_i64, vec![1.5]), (7, vec![])])]);
    check(&[BTreeMap::from([((1, "x".to_owned()), true)])]);
    check(&[HashMap::from([(vec![1_u8], 1.5)])]);
    check(&[BTreeMap::from([(true, BTreeMap::from([(1_u8, 2_u8)]))])]);
    check(&[(0..1000).collect::<Vec<u32>>()]);
}

#[test]
fn tuples() {
    check(&[(1, 2), (0, 0)]);
    check(&[(1, "a".to_owned()), (0, String::new())]);
    check(&[(vec![1], vec!["a".to_owned()]), (vec![], vec![])]);
    check(&[(None, Some(1)), (Some(0), None)]);
    check(&[vec![(1, "a".to_owned()), (0, String::new())]]);
    check(&[((1, 2), (3, 4))]);
    check(&[(vec![0_i32; 0], vec![0_i32; 0]), (vec![1], vec![2])]);
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Pair(i32, String);
    check(&[Pair(0, String::new()), Pair(1, "x".into())]);
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Same(i32, i32);
    check(&[Same(0, 1)]);
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Wrapper(Vec<i32>);
    check(&[Wrapper(vec![]), Wrapper(vec![1])]);
}

#[test]
fn structs() {
    check(&[person("Ann", &["a", "b"]), Person::default(), person("", &[])]);
    check(&[vec![person("", &[]), person("Bob", &["x"])], vec![]]);
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Unit;
    check(&[Unit]);
    check(&[vec![Unit, Unit]]);
    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Inner {
        a: i32,
    }
    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Outer {
        inner: Inner,
        unit: (),
        array: [u8; 4],
        map: BTreeMap<String, Inner>,
        bytes: Vec<u8>,
        wide: u128,
        text: char,
    }
    let mut outer = Outer::default();
    check(&[Outer::default()]);
    outer.inner.a = 7;
    outer.bytes = vec![1];
    outer.map.insert("k".into(), Inner::default());
    check(&[outer]);
}

#[test]
fn a_struct_whose_fields_are_all_empty_is_read_again() {
    // Nothing is known of the types of such fields, and yet their names travel.
    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Empty {
        list: Vec<String>,
        map: BTreeMap<String, i32>,
        maybe: Option<i32>,
        nested: Vec<Vec<u8>>,
    }
    check(&[Empty::default()]);
    check(&[Empty { nested: vec![vec![]], ..Empty::default() }]);
}

#[test]
fn options() {
    check(&[Some(1), None, Some(0)]);
    check(&[Some(Some(1)), Some(None), None]);
    check(&[vec![Some(0), None, Some(1)], vec![None], vec![]]);
    check(&[vec![Some(String::new()), None]]);
    check(&[BTreeMap::from([(1, None), (2, Some(()))])]);
    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Optional {
        number: Option<i32>,
        text: Option<String>,
        list: Option<Vec<i32>>,
        unit: Option<()>,
        inner: Option<Box<Optional>>,
    }
    check(&[
        Optional::default(),
        Optional {
            number: Some(0),
            text: Some(String::new()),
            list: Some(vec![]),
            unit: Some(()),
            inner: Some(Box::default()),
        },
        Optional {
            inner: Some(Box::new(Optional {
                list: Some(vec![1]),
                ..Optional::default()
            })),
            ..Optional::default()
        },
    ]);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Nothing,
    Circle(f64),
    Rectangle { width: f64, height: f64 },
    Line(i32, i32),
    Text(String, i32),
    Maybe(Option<i32>),
    Many(Vec<Shape>),
    Unit(()),
}

fn shapes() -> Vec<Shape> {
    vec![
        Shape::Nothing,
        Shape::Circle(0.0),
        Shape::Circle(1.5),
        Shape::Rectangle { width: 0.0, height: 2.0 },
        Shape::Line(0, 0),
        Shape::Text("a".into(), 1),
        Shape::Maybe(None),
        Shape::Maybe(Some(0)),
        Shape::Many(vec![]),
        Shape::Many(vec![Shape::Nothing, Shape::Many(vec![Shape::Circle(1.0)])]),
        Shape::Unit(()),
    ]
}

#[test]
fn enums() {
    check(&shapes());
    check(&[shapes()]);
    check(&[BTreeMap::from([("k".to_owned(), Shape::Nothing)])]);
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        shape: Shape,
        maybe: Option<Shape>,
    }
    check(&[
        Holder { shape: Shape::Nothing, maybe: None },
        Holder { shape: Shape::Circle(0.0), maybe: Some(Shape::Nothing) },
    ]);
    check(&[Ok::<i32, String>(1), Err("no".to_owned())]);
    check(&[(Ok::<i32, String>(1), Err::<bool, ()>(()))]);
}

#[test]
fn the_four_enum_representations() {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum Internal {
        Unit,
        Point { x: i32, y: i32 },
        Named { x: String, note: Option<String> },
        Inner(Person),
        Empty { list: Vec<i32> },
    }
    let internal = [
        Internal::Unit,
        Internal::Point { x: 0, y: 1 },
        Internal::Named { x: String::new(), note: None },
        Internal::Named { x: "a".into(), note: Some(String::new()) },
        Internal::Inner(person("Ann", &[])),
        Internal::Empty { list: vec![] },
    ];
    for value in &internal {
        check(std::slice::from_ref(value));
    }
    check(&internal);
    check(&[internal.to_vec()]);

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "kind", content = "value")]
    enum Adjacent {
        Unit,
        Number(i32),
        Pair(i32, String),
        Point { x: i32 },
        Maybe(Option<i32>),
    }
    let adjacent = [
        Adjacent::Unit,
        Adjacent::Number(0),
        Adjacent::Pair(1, "a".into()),
        Adjacent::Point { x: 0 },
        Adjacent::Maybe(None),
    ];
    for value in &adjacent {
        check(std::slice::from_ref(value));
    }
    check(&adjacent);
    check(&[adjacent.to_vec()]);

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(i64),
        Text(String),
        List(Vec<Untagged>),
        AB { a: i32, b: i32 },
        A { a: i32 },
        Map(BTreeMap<String, i32>),
    }
    let untagged = [
        Untagged::Number(-1),
        Untagged::Text(String::new()),
        Untagged::List(vec![Untagged::Number(1), Untagged::Text("x".into())]),
        Untagged::A { a: 1 },
        Untagged::AB { a: 1, b: 0 },
        Untagged::Map(BTreeMap::from([("k".into(), 1)])),
    ];
    for value in &untagged {
        check(std::slice::from_ref(value));
    }
    check(&untagged);
    check(&[untagged.to_vec()]);
}

#[test]
fn flattened_fields() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Flat {
        id: i32,
        #[serde(flatten)]
        person: Person,
        #[serde(flatten)]
        rest: BTreeMap<String, Option<bool>>,
    }
    check(&[
        Flat { id: 0, person: Person::default(), rest: BTreeMap::new() },
        Flat {
            id: 1,
            person: person("Ann", &["x"]),
            rest: BTreeMap::from([("k".into(), Some(true)), ("n".into(), None)]),
        },
    ]);
}

#[test]
fn a_skipped_field_gets_its_default_and_a_zero_stays_zero() {
    fn thirty() -> i32 {
        30
    }
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    fn is_thirty(value: &i32) -> bool {
        *value == 30
    }
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Skipping {
        before: i32,
        #[serde(default = "thirty", skip_serializing_if = "is_thirty")]
        age: i32,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        list: Vec<i32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        maybe: Option<i32>,
        after: i32,
    }
    let make = |age, list: &[i32], maybe| Skipping {
        before: 1,
        age,
        list: list.to_vec(),
        maybe,
        after: 2,
    };
    let values = [
        make(0, &[], None),
        make(30, &[], None),
        make(0, &[1], Some(0)),
        make(31, &[], Some(1)),
        make(30, &[0], None),
    ];
    for value in &values {
        check(std::slice::from_ref(value));
    }
    check(&values);
    check(&[values.to_vec()]);
}

#[test]
fn structs_of_one_name_and_different_fields() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Wrapper<T> {
        value: T,
    }
    check(&[(Wrapper { value: 1 }, Wrapper { value: "a".to_owned() })]);
    check(&[(
        Wrapper { value: vec![Wrapper { value: 1 }] },
        Wrapper { value: vec![Wrapper { value: true }] },
        Wrapper { value: Wrapper { value: 1.5 } },
    )]);
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Tree {
    name: String,
    kids: Vec<Tree>,
    by_name: BTreeMap<String, Tree>,
    next: Option<Box<Tree>>,
}

#[test]
fn a_type_that_holds_itself_has_one_descriptor() {
    let leaf = Tree { name: "leaf".into(), ..Tree::default() };
    let tree = Tree {
        name: "root".into(),
        kids: vec![leaf.clone(), Tree { kids: vec![leaf.clone()], ..Tree::default() }],
        by_name: BTreeMap::from([("k".to_owned(), leaf.clone())]),
        next: Some(Box::new(leaf)),
    };
    check(&[Tree::default(), tree.clone()]);
    let bytes = to_vec(&tree).unwrap();
    let mut deserializer = Deserializer::from_slice(&bytes);
    deserializer.skip_value().unwrap();
    assert_eq!(deserializer.schema().types().count(), 3, "{:?}", deserializer.schema());
}

#[test]
fn gos_own_types() {
    check(&[Complex { re: 1.0, im: -2.0 }, Complex::default()]);
    check(&[Time::ZERO, Time::new(1, 2).unwrap(), Time::new(-1, 0).unwrap()]);
    check(&[Opaque { kind: OpaqueKind::Binary, name: "X".into(), payload: vec![1] }]);
    check(&[Interface::named("main.Celsius", 5), Interface::named("int", 0)]);
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Special {
        complex: Complex,
        time: Time,
        none: Option<Time>,
        any: Interface<Vec<i32>>,
        opaque: Opaque,
        #[serde(with = "wiremark_gob::interface")]
        plain: String,
    }
    check(&[Special {
        complex: Complex::default(),
        time: Time::ZERO,
        none: Some(Time::ZERO),
        any: Interface::named("mine", vec![1]),
        opaque: Opaque { kind: OpaqueKind::Gob, name: "Y".into(), payload: vec![] },
        plain: String::new(),
    }]);
}

#[test]
fn a_serializer_writes_what_needs_one_look() {
    let mut serializer = wiremark_gob::Serializer::new();
    person("Ann", &["a"]).serialize(&mut serializer).unwrap();
    vec![person("Bob", &[])].serialize(&mut serializer).unwrap();
    (1, 2).serialize(&mut serializer).unwrap();
    Shape::Line(1, 2).serialize(&mut serializer).unwrap();
    let stream = serializer.finish().unwrap();
    let mut deserializer = Deserializer::from_slice(&stream);
    assert_eq!(Person::deserialize(&mut deserializer).unwrap(), person("Ann", &["a"]));
    assert_eq!(deserializer.read::<Vec<Person>>().unwrap(), [person("Bob", &[])]);
    assert_eq!(<(i32, i32)>::deserialize(&mut deserializer).unwrap(), (1, 2));
    assert_eq!(Shape::deserialize(&mut deserializer).unwrap(), Shape::Line(1, 2));
    deserializer.end().unwrap();

    // Values that disagree need another look.
    let mixed =
        vec![wiremark_datasets::Value::from(1), wiremark_datasets::Value::from("a")];
    let mut serializer = wiremark_gob::Serializer::new();
    assert!(mixed.serialize(&mut serializer).is_err());
    assert!(serializer.finish().is_err());
}
