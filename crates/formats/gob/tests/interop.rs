//! Streams of ours read by Go and written again by Go, and those read by us.
//!
//! Needs `go` on the path (Debian: `golang-go`); skipped with a word where it is not.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]
#![allow(clippy::items_after_statements, reason = "a type stands beside its values")]

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wiremark_datasets::Dataset;
use wiremark_datasets::seeded::event::{Entry, Events};
use wiremark_datasets::seeded::large::Larges;
use wiremark_datasets::seeded::log::Log;
use wiremark_datasets::seeded::people::People;
use wiremark_datasets::seeded::small::Smalls;
use wiremark_datasets::seeded::todos::Todos;
use wiremark_gob::{
    Complex, Decoder, Deserializer, Encoder, Interface, ReadOptions, Time, WriteOptions,
};

/// What is asked of Go, and how its answers are checked.
struct Exchange {
    folder: PathBuf,
    calls: String,
    checks: Vec<Check>,
}

/// Looks at what Go left in the folder.
type Check = Box<dyn Fn(&Path) -> Result<(), String>>;

impl Exchange {
    /// Values that Go reads into variables of `go_type`, and writes again.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "tables of values are written in place"
    )]
    fn add<T>(&mut self, go_type: &str, values: Vec<T>)
    where
        T: Serialize + DeserializeOwned + PartialEq + Debug + 'static,
    {
        let name = format!("case{}", self.checks.len());
        for (kind, options) in [
            ("learned", WriteOptions::new()),
            ("exact", WriteOptions::new().with_go_exact(true).with_first_id(1_000)),
            ("traced", WriteOptions::new()),
        ] {
            let new = || Encoder::with_options(Vec::new(), options.with_go_names(true));
            let encoder = if kind == "traced" { new().traced::<T>().ok() } else { None };
            let mut encoder = encoder.unwrap_or_else(new);
            for value in &values {
                encoder.encode(value).unwrap();
            }
            let file = self.folder.join(format!("{name}.{kind}"));
            std::fs::write(file, encoder.into_inner()).unwrap();
            writeln!(
                self.calls,
                "\texchange({:?}, {}, func() any {{ return new({go_type}) }})",
                format!("{name}.{kind}"),
                values.len()
            )
            .unwrap();
            let go_type = go_type.to_owned();
            let file = format!("{name}.{kind}.out");
            let wanted = format!("{values:?}");
            // Held as bytes, so that the check needs no copy of the values.
            let ours = telling(&values);
            self.checks.push(Box::new(move |folder| {
                let bytes = std::fs::read(folder.join(&file))
                    .map_err(|error| format!("{go_type} {file}: {error}"))?;
                let back = read_all::<T>(&bytes)
                    .map_err(|error| format!("{go_type} {file}: {error}"))?;
                if telling(&back) == ours {
                    Ok(())
                } else {
                    let (wanted, found) =
                        (shorten(&wanted), shorten(&format!("{back:?}")));
                    Err(format!("{go_type} {file}:\n  want {wanted}\n  have {found}"))
                }
            }));
        }
    }
}

/// Values as bytes of our own, which tell apart all that Rust does.
fn telling<T: Serialize>(values: &[T]) -> Vec<u8> {
    let lossless = WriteOptions::new().with_lossless(true);
    let mut encoder = Encoder::with_options(Vec::new(), lossless);
    for value in values {
        encoder.encode(value).unwrap();
    }
    encoder.into_inner()
}

fn shorten(text: &str) -> String {
    text.chars().take(600).collect()
}

fn read_all<T: DeserializeOwned>(bytes: &[u8]) -> wiremark_gob::Result<Vec<T>> {
    let options = ReadOptions::new().with_go_names(true);
    let mut deserializer = Deserializer::from_slice(bytes).with_options(options);
    let mut values = Vec::new();
    while let Some(value) = deserializer.next_value()? {
        values.push(value);
    }
    // A reader sees the same.
    let mut decoder = Decoder::new(bytes).with_options(options);
    for _ in &values {
        decoder.read::<T>()?;
    }
    decoder.end()?;
    Ok(values)
}

const PROGRAM: &str = r#"package main

import (
	"encoding/gob"
	"fmt"
	"math/big"
	"os"
	"time"
)

type Point struct{ X, Y int }

type Person struct {
	Name    string
	Age     int32
	Sex     bool
	Hobbies []string
}

type Tree struct {
	Name string
	Kids []*Tree
}

type Shape struct {
	Nothing *struct{}
	Circle  *float64
	Box     *struct{ Width, Height float64 }
	Line    *struct{ F0, F1 int }
	Text    *struct {
		F0 string
		F1 int
	}
}

type Level struct{ Debug, Info, Warn, Error *struct{} }

type Log struct {
	Id     string
	Time   uint64
	Level  Level
	Client struct {
		Address struct {
			Local *struct{}
			V4    *struct{ F0, F1, F2, F3 uint8 }
			V6    *string
		}
		User *struct {
			Id        uint64
			Name      string
			ErrorRate float64
			Zone      int8
		}
		Agent *string
	}
	Request struct {
		Method struct {
			GET, POST, PUT, DELETE *struct{}
		}
		Path    string
		Query   map[string]string
		Headers map[string]string
		Body    struct {
			Empty *struct{}
			Text  *string
			Form  *map[string]string
			File  *struct {
				Name      string
				SizeBytes uint64
				Kind      *string
			}
		}
	}
	Outcome struct {
		Done *struct {
			Status    uint16
			SizeBytes uint64
			Cached    bool
			TookMs    float64
		}
		Moved  *string
		Failed *struct {
			F0 uint16
			F1 string
		}
		Gone *struct{}
	}
	Steps []struct {
		Name    string
		StartUs uint32
		TookUs  uint32
		Error   *string
	}
	Labels  map[string]string
	Message string
}

func init() {
	gob.Register(Point{})
	gob.RegisterName("main.Celsius", Celsius(0))
	gob.Register(map[string]interface{}{})
	gob.Register([]interface{}{})
	gob.Register(time.Time{})
}

type Celsius int

var _ = big.NewInt

func exchange(name string, count int, make func() any) {
	in, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	defer in.Close()
	out, err := os.Create(name + ".out")
	if err != nil {
		panic(err)
	}
	defer out.Close()
	decoder, encoder := gob.NewDecoder(in), gob.NewEncoder(out)
	for i := 0; i < count; i++ {
		value := make()
		if err := decoder.Decode(value); err != nil {
			fmt.Printf("%s, value %d, decoding: %v\n", name, i, err)
			return
		}
		if err := encoder.Encode(value); err != nil {
			fmt.Printf("%s, value %d, encoding: %v\n", name, i, err)
			return
		}
	}
}

func main() {
"#;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Person {
    name: String,
    age: i32,
    sex: bool,
    hobbies: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Point {
    x: i64,
    y: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Tree {
    name: String,
    kids: Vec<Tree>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Nothing,
    Circle(f64),
    #[serde(rename = "Box")]
    Rectangle {
        width: f64,
        height: f64,
    },
    Line(i64, i64),
    Text(String, i64),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct One<T> {
    v: T,
}

fn person(name: &str, age: i32, hobbies: &[&str]) -> Person {
    let hobbies = hobbies.iter().map(|&hobby| hobby.to_owned()).collect();
    Person { name: name.to_owned(), age, sex: age > 30, hobbies }
}

fn scalars(go: &mut Exchange) {
    go.add("bool", vec![true, false]);
    go.add("int8", vec![0_i8, -128, 127]);
    go.add("int64", vec![0, i64::MIN, i64::MAX]);
    go.add("uint16", vec![0_u16, 65_535]);
    go.add("uint64", vec![0, u64::MAX]);
    go.add("float32", vec![0.0_f32, 0.1, -1.5]);
    go.add("float64", vec![0.0, 0.1, f64::INFINITY]);
    go.add("string", vec![String::new(), "héllo".to_owned()]);
    go.add("string", vec!['a', '🦀']);
    go.add("[]byte", vec![vec![1_u8, 200], vec![]]);
    go.add("[]byte", vec![serde_bytes::ByteBuf::from(vec![1, 200])]);
    go.add("complex128", vec![Complex { re: 1.0, im: -2.5 }, Complex::default()]);
    let time = Time::new(1_426_345_766, 535_897_932).unwrap();
    let zoned = time.with_offset(3_600).unwrap();
    go.add("time.Time", vec![time, zoned, Time::ZERO]);
    go.add(
        "struct{ V *big.Int }",
        vec![One { v: i128::MAX }, One { v: -5 }, One { v: 0 }],
    );
    go.add("struct{}", vec![()]);
}

fn containers(go: &mut Exchange) {
    go.add("[]int", vec![vec![1, -2, 300], vec![], vec![0]]);
    go.add("[]string", vec![vec!["a".to_owned()], vec![String::new()]]);
    go.add("[][]string", vec![vec![vec![], vec!["a".to_owned()]]]);
    go.add("[3]int", vec![[1, 0, -1]]);
    go.add("[2]uint8", vec![[1_u8, 200]]);
    go.add("[2][2]float64", vec![[[1.0, 2.0], [3.0, 0.0]]]);
    go.add(
        "map[string]int",
        vec![BTreeMap::from([("k".to_owned(), 0)]), BTreeMap::new()],
    );
    go.add("map[int][]bool", vec![BTreeMap::from([(-1, vec![true]), (7, vec![])])]);
    let key = Point { x: 1, y: 2 };
    go.add("[]Point", vec![vec![key, Point { x: 0, y: 0 }]]);
    go.add("struct{ F0 int; F1 string }", vec![(1, "a".to_owned()), (0, String::new())]);
    go.add("[2]int", vec![(1, 2)]);
    go.add("[]struct{ Some *int }", vec![vec![Some(1), None], vec![None]]);
}

fn structs(go: &mut Exchange) {
    let people = vec![
        person("", 0, &[]),
        person("Ann", 31, &[]),
        person("Bob", 0, &["chess", ""]),
        person("Cid", -1, &["go"]),
    ];
    go.add("Person", people.clone());
    // What is empty says nothing of its type, so it may not come first.
    go.add("[]Person", vec![people, vec![]]);
    go.add("struct{ V *int }", vec![One { v: Some(1) }, One { v: None }]);
    go.add("struct{ V *string }", vec![One { v: Some("x".to_owned()) }, One { v: None }]);
    go.add(
        "struct{ V time.Time }",
        vec![One { v: Time::ZERO }, One { v: Time::new(1, 2).unwrap() }],
    );
    go.add(
        "struct{ V struct{ V int } }",
        vec![One { v: One { v: 0 } }, One { v: One { v: 1 } }],
    );
    let leaf = Tree { name: "leaf".into(), kids: vec![] };
    let kids = vec![leaf.clone(), Tree { name: String::new(), kids: vec![leaf] }];
    go.add("Tree", vec![Tree::default(), Tree { name: "root".into(), kids }]);
    let shapes = vec![
        Shape::Nothing,
        Shape::Circle(1.5),
        Shape::Rectangle { width: 1.0, height: 0.0 },
        Shape::Line(0, 1),
        Shape::Text("a".into(), 0),
    ];
    go.add("Shape", shapes.clone());
    go.add("[]Shape", vec![shapes]);
}

fn interfaces(go: &mut Exchange) {
    go.add("struct{ V any }", vec![One { v: Interface::named("int", 5) }]);
    go.add("struct{ V any }", vec![One { v: Interface::named("int64", 0) }]);
    go.add("struct{ V any }", vec![One { v: Interface::named("main.Celsius", 21) }]);
    go.add(
        "struct{ V any }",
        vec![One { v: Interface::named("string", "s".to_owned()) }],
    );
    let point = Point { x: 1, y: 0 };
    go.add("struct{ V any }", vec![One { v: Interface::named("main.Point", point) }]);
    let list = vec![Interface::named("int", 1)];
    go.add("[]any", vec![list]);
    let time = Time::new(1, 2).unwrap();
    go.add("struct{ V any }", vec![One { v: Interface::named("time.Time", time) }]);

    // Values of several types at one position become interfaces by themselves.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Any {
        Bool(bool),
        Int(i64),
        Float(f64),
        Text(String),
        List(Vec<Any>),
        Map(BTreeMap<String, Any>),
    }
    let list = Any::List(vec![Any::Int(1), Any::Text("x".into()), Any::Float(0.5)]);
    let map = BTreeMap::from([
        ("bool".to_owned(), Any::Bool(true)),
        ("list".to_owned(), list),
        ("map".to_owned(), Any::Map(BTreeMap::from([("k".to_owned(), Any::Int(-1))]))),
    ]);
    go.add("map[string]any", vec![map]);
}

fn datasets(go: &mut Exchange) {
    let person = "struct { Name string; Age uint8; Sex struct { Female, Male, Other *struct{} }; \
                  Hobbies []string }";
    go.add(&format!("[]{person}"), vec![People::new().value().clone()]);
    go.add(person, People::new().items()[..50].to_vec());
    go.add("[]Log", vec![Log::new().value().clone()]);
    go.add("Log", Log::new().items()[..50].to_vec());
    let small = "struct { A, B, C int; D string; E float64 }";
    go.add(small, vec![Smalls::new().value().clone()]);
    let large = "struct { A, B, C int; D string; E float64; F []int }";
    go.add(large, vec![Larges::new().value().clone()]);
    let todos = "[]struct { Id uint64; Title string; Note string }";
    go.add(todos, vec![Todos::new().value().clone()]);
    let entry = "struct { Bool *bool; Int *int64; Float *float64; Text *string }";
    let event =
        format!("struct {{ Tag string; Time uint64; Record map[string]{entry} }}");
    // Go loses a pointer to false when it writes it again.
    let mut events = Events::<Entry>::new().items().to_vec();
    events.retain(|event| event.record["cached"] == Entry::Bool(true));
    go.add(&event, events);
}

#[test]
fn go_reads_our_streams_and_we_read_gos() {
    let Ok(version) = Command::new("go").arg("version").output() else {
        println!("skipped: no `go` on the path (Debian: golang-go)");
        return;
    };
    println!("{}", String::from_utf8_lossy(&version.stdout).trim());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("gob-interop-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut go =
        Exchange { folder: folder.clone(), calls: String::new(), checks: Vec::new() };
    scalars(&mut go);
    containers(&mut go);
    structs(&mut go);
    interfaces(&mut go);
    datasets(&mut go);
    std::fs::write(folder.join("main.go"), format!("{PROGRAM}{}}}\n", go.calls)).unwrap();
    let ran = Command::new("go")
        .args(["run", "main.go"])
        .current_dir(&folder)
        .env("GO111MODULE", "off")
        .env("GOFLAGS", "")
        .env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-cache"))
        .output()
        .unwrap();
    let (said, wrong) = (
        String::from_utf8_lossy(&ran.stdout).into_owned(),
        String::from_utf8_lossy(&ran.stderr).into_owned(),
    );
    let mut bad: Vec<_> = said.lines().map(str::to_owned).collect();
    if !ran.status.success() {
        bad.push(wrong);
    }
    bad.extend(go.checks.iter().filter_map(|check| check(&folder).err()));
    let rows = go.checks.len();
    assert!(bad.is_empty(), "{} of {rows}:\n{}", bad.len(), bad.join("\n"));
    println!("{rows} exchanges");
    std::fs::remove_dir_all(&folder).unwrap();
}
