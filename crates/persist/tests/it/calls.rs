//! How many calls each way makes: exact numbers.

use serde::Serialize;
use wiremark_cbor::Cbor;
use wiremark_core::Codec;
use wiremark_datasets::Dataset;
use wiremark_datasets::seeded::people::{People, Person};
use wiremark_datasets::seeded::todos::Todos;
use wiremark_gob::Gob;
use wiremark_json::Json;
use wiremark_persist::{
    Calls, Counted, Document, Durability, Read, ReadFrom, Subject, System, Write, read,
    read_each, rows, write,
};
use wiremark_postcard::Postcard;

use crate::{people, scratch};

/// A record of the Go program that this grew from.
#[derive(Clone, Serialize)]
#[serde(rename_all = "PascalCase")]
struct PersonInfo {
    name: String,
    age: i32,
    sex: bool,
    hobbies: [&'static str; 3],
}

fn calls_of(subject: &mut impl Subject, how: Write, durability: Durability) -> Calls {
    let folder = scratch();
    let path = folder.path().join("file");
    let disk = Counted::new(System);
    write(&disk, &path, how, durability, &mut Vec::new(), subject).unwrap();
    let calls = disk.calls();
    assert_eq!(calls.written_bytes, std::fs::metadata(&path).unwrap().len());
    calls
}

#[test]
fn ten_thousand_people_take_400_001_calls_without_a_buffer_and_a_hundred_with_one() {
    let person = PersonInfo {
        name: "some name".to_owned(),
        age: 41,
        sex: true,
        hobbies: ["reading", "chess", "hiking"],
    };
    let people = vec![person; 10_000];
    let codec = &mut Json::compact();
    let mut subject = Document { codec, value: &people, records: &people };
    let direct = calls_of(&mut subject, Write::Direct, Durability::None);
    assert_eq!(direct.write, 400_001);
    let buffered = calls_of(&mut subject, Write::Buffered(8 << 10), Durability::None);
    // 8 KiB at most at a time, and a text that does not fit any more goes into the next.
    let least = buffered.written_bytes.div_ceil(8 << 10);
    assert!((least..=least + 2).contains(&buffered.write), "{buffered:?}, {least}");
    assert!((90..=110).contains(&buffered.write), "{buffered:?}");
}

#[test]
fn the_peoples_set_takes_as_many_calls_as_its_texts_ask_for() {
    let people = People::new();
    let people = people.value();
    let codec = &mut Json::compact();
    let mut subject = Document { codec, value: people, records: people };
    let mut count = |how| calls_of(&mut subject, how, Durability::None).write;
    // What opens and closes the list, three calls for each text, a comma between them.
    let hobbies = |person: &Person| 2 + (4 * person.hobbies.len()).saturating_sub(1);
    // An object's two braces; four names of three calls, each with a colon, three commas; two
    // texts of three calls and a number; and the commas between people, and the brackets.
    let direct: usize =
        people.iter().map(|person| 28 + hobbies(person)).sum::<usize>() + 10_001;
    assert_eq!(count(Write::Direct), direct as u64);
    assert_eq!(count(Write::DirectRecords), 10_000);
    assert_eq!(count(Write::WholeFresh), 1);
    assert_eq!(count(Write::WholeReused), 1);
}

#[test]
fn ten_thousand_todos_take_as_many_calls_as_rows_or_seven_times_that() {
    let todos = Todos::new();
    let mut lines = rows::Lines(todos.value());
    let mut count = |how| calls_of(&mut lines, how, Durability::None).write;
    assert_eq!(count(Write::DirectRecords), 10_000);
    // An empty note is written by no call.
    let empty = todos.value().iter().filter(|todo| todo.note.is_empty()).count();
    assert_eq!(count(Write::Direct), 70_000 - empty as u64);
    assert_eq!(count(Write::WholeReused), 1);
}

/// Each way for each kind of framing: what was written by the one is read by all that read it.
fn every_way_gives_back_what_was_written<C: Codec>(codec: &C) {
    let people = people();
    let folder = scratch();
    let mut buffer = Vec::new();
    for how in Write::ALL {
        for durability in Durability::ALL {
            let path = folder.path().join("file");
            let mut codec = codec.clone();
            let disk = Counted::new(System);
            let subject =
                &mut Document { codec: &mut codec, value: &people[..], records: &people };
            write(&disk, &path, how, durability, &mut buffer, subject).unwrap();
            let calls = disk.calls();
            let what = format!("{:?} {how:?} {durability:?}", codec.profile().id);
            let opened = match durability {
                Durability::None => (1, 0, 0),
                Durability::Data => (1, 1, 0),
                Durability::Atomic => (2, 2, 1),
            };
            assert_eq!((calls.open, calls.sync, calls.rename), opened, "{what}");
            let size = std::fs::metadata(&path).unwrap().len();
            assert_eq!(calls.written_bytes, size, "{what}");
            if matches!(how, Write::DirectRecords | Write::BufferedRecords(_)) {
                let mut back: Vec<Person> = Vec::new();
                read_each(&System, &path, &mut codec, |person| {
                    back.push(person);
                    Ok(())
                })
                .unwrap();
                assert!(back == people, "{what}");
                continue;
            }
            for from in [
                Read::Direct,
                Read::Buffered(100),
                Read::WholeFresh,
                Read::WholeReused,
                Read::Map,
            ] {
                let disk = Counted::new(System);
                let place = ReadFrom { disk: &disk, folder: &folder, name: "file" };
                let back: Vec<Person> =
                    read(&place, from, &mut buffer, &mut codec).unwrap();
                assert!(back == people, "{what} {from:?}");
                let calls = disk.calls();
                let read_bytes = if from == Read::Map { 0 } else { size };
                assert_eq!((calls.open, calls.read_bytes), (1, read_bytes), "{what}");
                if matches!(from, Read::WholeFresh | Read::WholeReused) {
                    assert_eq!((calls.size, calls.read), (1, 2), "{what} {from:?}");
                }
            }
        }
    }
    // Nothing stays beside the one file.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn every_way_gives_back_what_was_written_for_each_framing() {
    every_way_gives_back_what_was_written(&Json::compact());
    every_way_gives_back_what_was_written(&Json::pretty());
    every_way_gives_back_what_was_written(&Cbor::new());
    every_way_gives_back_what_was_written(&Postcard::new());
    every_way_gives_back_what_was_written(&Gob::new());
}

#[test]
fn serde_json_reads_a_byte_a_call_without_a_buffer() {
    let people = people();
    let folder = scratch();
    let path = folder.path().join("file");
    let codec = &mut Json::compact();
    crate::write_people(
        &System,
        &path,
        Write::WholeFresh,
        Durability::None,
        codec,
        &people,
    )
    .unwrap();
    let disk = Counted::new(System);
    let place = ReadFrom { disk: &disk, folder: &folder, name: "file" };
    let _: Vec<Person> = read(&place, Read::Direct, &mut Vec::new(), codec).unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    // And one that finds the end.
    assert_eq!(disk.calls().read, size + 1);
}

#[test]
fn a_borrowed_value_points_into_the_mapped_file() {
    let folder = scratch();
    std::fs::write(folder.path().join("file"), br#"["to","be"]"#).unwrap();
    let place = ReadFrom { disk: &System, folder: &folder, name: "file" };
    let mapped = place.map().unwrap();
    let words: Vec<&str> = Json::compact().decode(&mapped).unwrap();
    assert_eq!(words, ["to", "be"]);
    assert!(mapped.as_ptr_range().contains(&words[1].as_ptr()));
    std::fs::write(folder.path().join("none"), b"").unwrap();
    let empty = ReadFrom { disk: &System, folder: &folder, name: "none" };
    assert!(empty.map().unwrap().is_empty());
}

#[test]
fn a_kept_buffer_holds_no_byte_of_the_file_before() {
    let folder = scratch();
    let mut buffer = b"longer than both of the files".to_vec();
    for contents in [&b"first, and longer"[..], b"second", b""] {
        let path = folder.path().join("file");
        std::fs::write(&path, contents).unwrap();
        wiremark_persist::read_bytes(&System, &path, &mut buffer).unwrap();
        assert_eq!(buffer, contents);
    }
}
