//! The user's own files: what is kept, what is refused, and what the refusal says.
#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use wiremark_datasets::files::{Format, Options, OwnData, read};
use wiremark_datasets::{Dataset, Value};

fn open(name: &str, bytes: impl AsRef<[u8]>) -> Result<OwnData, String> {
    read(name, bytes.as_ref(), &Options::default()).map_err(|error| error.to_string())
}

/// A document as `serde_json` reads it.
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn check_values(rows: &[(&str, &[u8], Value)]) {
    let mut wrong = Vec::new();
    for (name, bytes, expected) in rows {
        let found = open(name, bytes).map(|data| data.value().clone());
        if found.as_ref() != Ok(expected) {
            wrong.push(format!("{}: {found:?}, not {expected:?}", bytes.escape_ascii()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn check_errors(rows: &[(&str, &[u8], &str)]) {
    let mut wrong = Vec::new();
    for (name, bytes, expected) in rows {
        let found = open(name, bytes).map(|data| data.value().clone());
        if found != Err(format!("{name}:{expected}")) {
            wrong.push(format!("{}: {found:?}, not {expected}", bytes.escape_ascii()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn json_is_kept_as_it_is_written() {
    let max = u128::MAX.to_string();
    let min = i128::MIN.to_string();
    check_values(&[
        ("a.json", b" null\n", Value::Null),
        ("a.json", b"18446744073709551615", u64::MAX.into()),
        ("a.json", b"18446744073709551616", (1_u128 << 64).into()),
        ("a.json", max.as_bytes(), u128::MAX.into()),
        ("a.json", b"-9223372036854775809", (i128::from(i64::MIN) - 1).into()),
        ("a.json", min.as_bytes(), i128::MIN.into()),
        ("a.json", b"-0", (-0.0).into()),
        ("a.json", b"[1, 1.0, 1e0]", vec![1.into(), 1.0.into(), Value::from(1.0)].into()),
        ("a.json", b"0.1", 0.1.into()),
        ("a.json", b"1e-400", 0.0.into()),
        ("a.json", br#""\u00e4\ud83d\ude00\/\b\f\n\r\t\"\\""#, {
            "ä😀/\u{8}\u{c}\n\r\t\"\\".into()
        }),
        ("a.json", b"{\"b\": 1, \"a\": 2, \"b\": 3}", {
            vec![("b".into(), 1.into()), ("a".into(), 2.into()), ("b".into(), 3.into())]
                .into()
        }),
        ("a.json", b"\xef\xbb\xbf[]", Value::Array(vec![])),
        ("a.ndjson", b"1\n\n \r\n{\"a\":2}\r\n[3]", json(r#"[1,{"a":2},[3]]"#)),
        ("a.ndjson", b"\xef\xbb\xbf7\n", json("[7]")),
    ]);
}

#[test]
fn csv_columns_have_the_type_that_keeps_every_character() {
    check_values(&[
        ("a.csv", b"n,t\n1,a\n-2,b\n", json(r#"[{"n":1,"t":"a"},{"n":-2,"t":"b"}]"#)),
        ("a.csv", b"n\r\n1\r\n\r\n2", json(r#"[{"n":1},{"n":2}]"#)),
        ("a.csv", b"x\n1\n2.5\n-0\n", json(r#"[{"x":1.0},{"x":2.5},{"x":-0.0}]"#)),
        ("a.csv", b"x\n2.5\n1\n", json(r#"[{"x":2.5},{"x":1.0}]"#)),
        ("a.csv", b"x\n1.50\n2.5\n", json(r#"[{"x":"1.50"},{"x":"2.5"}]"#)),
        ("a.csv", b"x\n007\n8\n", json(r#"[{"x":"007"},{"x":"8"}]"#)),
        ("a.csv", b"x\n8\n007\n", json(r#"[{"x":"8"},{"x":"007"}]"#)),
        ("a.csv", b"x\n+1\n", json(r#"[{"x":"+1"}]"#)),
        ("a.csv", b"x\n1e5\n", json(r#"[{"x":"1e5"}]"#)),
        ("a.csv", b"x\nNaN\n", json(r#"[{"x":"NaN"}]"#)),
        ("a.csv", b"x\ninf\n", json(r#"[{"x":"inf"}]"#)),
        ("a.csv", b"x\n-\n", json(r#"[{"x":"-"}]"#)),
        ("a.csv", b"x\n1\ntrue\n", json(r#"[{"x":"1"},{"x":"true"}]"#)),
        ("a.csv", b"b\ntrue\nfalse\n", json(r#"[{"b":true},{"b":false}]"#)),
        ("a.csv", b"b\nTrue\n", json(r#"[{"b":"True"}]"#)),
        ("a.csv", b"a,b\n,x\n1,\n", json(r#"[{"a":null,"b":"x"},{"a":1,"b":null}]"#)),
        ("a.csv", b"a,b\n,\n", json(r#"[{"a":null,"b":null}]"#)),
        ("a.csv", b"a,b\n\"\",\"1\"\n", json(r#"[{"a":"","b":"1"}]"#)),
        ("a.csv", b"a\n\"x\"\"y\"\n\"\"\"\"\n", json(r#"[{"a":"x\"y"},{"a":"\""}]"#)),
        (
            "a.csv",
            b"a,b\n\"1,\r\n2\",\"\"\"\"\"\"\n",
            json(r#"[{"a":"1,\r\n2","b":"\"\""}]"#),
        ),
        ("a.csv", b"a\n5\" disk\n", json(r#"[{"a":"5\" disk"}]"#)),
        ("a.csv", b"\"a b\"\n1\n", json(r#"[{"a b":1}]"#)),
        ("a.csv", b"\xef\xbb\xbfa\n1\n", json(r#"[{"a":1}]"#)),
        ("a.csv", b"a\n340282366920938463463374607431768211455\n", {
            vec![Value::from(vec![("a".into(), u128::MAX.into())])].into()
        }),
        ("a.csv", b"a\n340282366920938463463374607431768211456\n", {
            json(r#"[{"a":"340282366920938463463374607431768211456"}]"#)
        }),
        ("a.csv", b"a\n0.5\n1000000000000000000000000\n", {
            json(r#"[{"a":"0.5"},{"a":"1000000000000000000000000"}]"#)
        }),
        (
            "a.csv",
            b"a\n0.5\n123456789012345\n",
            json(r#"[{"a":0.5},{"a":123456789012345.0}]"#),
        ),
        // No float is this whole number, so the column cannot be floats.
        ("a.csv", b"a\n9007199254740993\n0.5\n", {
            json(r#"[{"a":"9007199254740993"},{"a":"0.5"}]"#)
        }),
        ("a.csv", b"a\n0.5\n9007199254740993\n", {
            json(r#"[{"a":"0.5"},{"a":"9007199254740993"}]"#)
        }),
        ("a.tsv", b"a\tb\n1,5\t2\n", json(r#"[{"a":"1,5","b":2}]"#)),
        ("a.csv", b"a;b\n1;2\n", json(r#"[{"a":1,"b":2}]"#)),
        ("a.csv", b"a\tb\n1\t2\n", json(r#"[{"a":1,"b":2}]"#)),
    ]);
}

#[test]
fn csv_strings_makes_every_field_text() {
    let options = Options { csv_strings: true, ..Options::default() };
    let data = read("a.csv", b"a,b\n1,\ntrue,x\n", &options).unwrap();
    assert_eq!(*data.value(), json(r#"[{"a":"1","b":""},{"a":"true","b":"x"}]"#));
}

#[test]
fn what_is_wrong_with_json_is_told_with_its_place() {
    let long = format!("[1,\n {}]", "9".repeat(40));
    let deep = "[".repeat(100_000);
    let objects = "{\"\":".repeat(100_000);
    check_errors(&[
        (
            "a.json",
            b"",
            "1:1: expected a JSON document, found the end of the file; the file is empty",
        ),
        (
            "a.json",
            b" \n\t",
            "2:2: expected a JSON document, found the end of the file; the file is empty",
        ),
        (
            "a.json",
            b"\xef\xbb\xbf",
            "1:1: expected a JSON document, found the end of the file; the file is empty",
        ),
        ("a.json", b"[1,\n2", "2:2: expected `,` or `]`, found the end of the file"),
        ("a.json", b"[1 2]", "1:4: expected `,` or `]`, found `2`"),
        (
            "a.json",
            b"[1,\n]",
            "2:1: expected a value, found `]`; JSON has no comma behind the last element",
        ),
        ("a.json", b"[,1]", "1:2: expected a value, found `,`"),
        (
            "a.json",
            b"{\"a\":1,}",
            "1:8: expected a key in double quotes, found `}`; JSON has no comma behind the last entry",
        ),
        ("a.json", b"{a:1}", "1:2: expected a key in double quotes or `}`, found `a`"),
        ("a.json", b"{\"a\" 1}", "1:6: expected `:`, found `1`"),
        ("a.json", b"{\"a\":1 \"b\":2}", "1:8: expected `,` or `}`, found `\"`"),
        ("a.json", b"{\"a\":", "1:6: expected a value, found the end of the file"),
        (
            "a.json",
            b"['a']",
            "1:2: expected a value, found `'`; JSON has text in double quotes",
        ),
        ("a.json", b"// x\n1", "1:1: expected a value, found `/`; JSON has no comments"),
        (
            "a.json",
            b"[NaN]",
            "1:2: expected a value, found `N`; JSON has neither NaN nor Infinity",
        ),
        (
            "a.json",
            b"[+1]",
            "1:2: expected a value, found `+`; numbers in JSON begin with a digit or `-`",
        ),
        ("a.json", b"[nul]", "1:2: expected a value, found `n`"),
        ("a.json", b"[01]", "1:2: numbers in JSON have no zeros in front"),
        ("a.json", b"[1.]", "1:4: expected a digit, found `]`"),
        ("a.json", b"[-]", "1:3: expected a digit, found `]`"),
        ("a.json", b"[1e+]", "1:5: expected a digit, found `]`"),
        ("a.json", b"[1] x", "1:5: expected the end of the file, found `x`"),
        (
            "a.json",
            b"{}\n{}",
            "2:1: expected the end of the file, found `{`; if the file has one document a line, read it as NDJSON",
        ),
        (
            "a.json",
            "[\"\u{e4}\u{1f600}\", x]".as_bytes(),
            "1:8: expected a value, found `x`",
        ),
        ("a.json", b"\xef\xbb\xbf[x]", "1:2: expected a value, found `x`"),
        (
            "a.json",
            b"[\"a\nb\"]",
            "1:4: expected text or a double quote, found U+000A; control characters in text are written with `\\`",
        ),
        (
            "a.json",
            b"[\"a",
            "1:4: expected a double quote that closes the text, found the end of the file",
        ),
        (
            "a.json",
            b"[\"\\x\"]",
            "1:4: expected one of `\"\\/bfnrtu` behind `\\`, found `x`",
        ),
        (
            "a.json",
            b"[\"\\u12g4\"]",
            "1:7: expected four hexadecimal digits behind `\\u`, found `g`",
        ),
        (
            "a.json",
            b"[\"\\u12",
            "1:7: expected four hexadecimal digits behind `\\u`, found the end of the file",
        ),
        (
            "a.json",
            b"[\"ab\\ud800\"]",
            "1:5: expected a pair of surrogates, found \\ud800 alone; no Unicode text holds it",
        ),
        (
            "a.json",
            b"[\"\\udc00\"]",
            "1:3: expected a pair of surrogates, found \\udc00 alone; no Unicode text holds it",
        ),
        (
            "a.json",
            b"[\"\\ud800\\u0041\"]",
            "1:3: expected a pair of surrogates, found \\ud800 alone; no Unicode text holds it",
        ),
        (
            "a.json",
            long.as_bytes(),
            "2:2: expected an integer of at most 128 bits, found one of 40 digits; as text in double quotes it would stay exact",
        ),
        (
            "a.json",
            b"[1e400]",
            "1:2: expected a number within the range of a 64-bit float, found one beyond; as text in double quotes it would stay exact",
        ),
        (
            "a.json",
            b"[\"a\",\n\"\xff\"]",
            "2:2: expected UTF-8 text, found the byte ff; convert the file to UTF-8",
        ),
        (
            "a.json",
            b"[\"\xc3",
            "1:3: expected UTF-8 text, found the byte c3; convert the file to UTF-8",
        ),
        (
            "a.json",
            b"\xff\xfe[\0",
            "1:1: expected UTF-8 text, found UTF-16; convert it to UTF-8",
        ),
        (
            "a.json",
            b"\x1f\x8b\x08",
            "1:1: expected UTF-8 text, found a gzip file; unpack it first",
        ),
        (
            "a.json",
            b"\x28\xb5\x2f\xfd\0",
            "1:1: expected UTF-8 text, found a zstd file; unpack it first",
        ),
        (
            "a.json",
            b"PK\x03\x04",
            "1:1: expected UTF-8 text, found a zip file; unpack it first",
        ),
        ("a.json", deep.as_bytes(), "1:129: nesting deeper than the limit of 128"),
        ("a.json", objects.as_bytes(), "1:513: nesting deeper than the limit of 128"),
    ]);
}

#[test]
fn what_is_wrong_with_ndjson_is_told_with_its_line_in_the_file() {
    let deep = format!("1\n{}", "[".repeat(200));
    check_errors(&[
        ("a.ndjson", b"", "1:1: expected a JSON document in a line, found no document"),
        (
            "a.ndjson",
            b"\n \n",
            "1:1: expected a JSON document in a line, found no document",
        ),
        ("a.ndjson", b"1\n\n{\"a\":}\n", "3:6: expected a value, found `}`"),
        (
            "a.ndjson",
            b"{}\r\n{} {}\r\n",
            "2:4: expected the end of the line, found `{`; NDJSON has one document a line",
        ),
        (
            "a.ndjson",
            b"{\n\"a\":1}",
            "1:2: expected a key in double quotes or `}`, found the end of the line; if the file is one document over several lines, read it as JSON",
        ),
        (
            "a.ndjson",
            b"[1,\r\n2]",
            "1:5: expected a value, found the end of the line; if the file is one document over several lines, read it as JSON",
        ),
        (
            "a.ndjson",
            b"1\n[2",
            "2:3: expected `,` or `]`, found the end of the line; if the file is one document over several lines, read it as JSON",
        ),
        (
            "a.ndjson",
            b"1\n\"a",
            "2:3: expected a double quote that closes the text, found the end of the line; if the file is one document over several lines, read it as JSON",
        ),
        (
            "a.ndjson",
            b"1\n\"\xff\"",
            "2:2: expected UTF-8 text, found the byte ff; convert the file to UTF-8",
        ),
        // One level is the array of the records.
        ("a.ndjson", deep.as_bytes(), "2:128: nesting deeper than the limit of 127"),
    ]);
}

#[test]
fn what_is_wrong_with_csv_is_told_with_its_place() {
    check_errors(&[
        ("a.csv", b"", "1:1: expected a header line, found the end of the file"),
        ("a.csv", b"\n\n", "1:1: expected a header line, found the end of the file"),
        (
            "a.csv",
            b"a,b\n",
            "2:1: expected a row behind the header line, found the end of the file",
        ),
        (
            "a.csv",
            b"a,b",
            "1:4: expected a row behind the header line, found the end of the file",
        ),
        (
            "a.csv",
            b"a,,c\n1,2,3\n",
            "1:3: expected a name for column 2, found an empty field",
        ),
        (
            "a.csv",
            b"a,b,\"a\"\n1,2,3\n",
            "1:5: expected a name of its own for column 3, found `a` as for column 1",
        ),
        (
            "a.csv",
            b"a,b,c\n1,2,3\n4,5\n",
            "3:4: expected 3 fields as in the header line, found 2; `c` is missing",
        ),
        (
            "a.csv",
            b"a,b\n1,2\n\n3,4,5,6\n",
            "4:5: expected 2 fields as in the header line, found 4; the first one too many begins here",
        ),
        (
            "a.csv",
            b"a\n1,2\n",
            "2:3: expected 1 field as in the header line, found 2; the first one too many begins here",
        ),
        (
            "a.csv",
            "ä,b\nö,\"x\ny".as_bytes(),
            "2:3: expected a closing quote for this one, found none",
        ),
        (
            "a.csv",
            b"a,b\n\"x\"y,1\n",
            "2:4: expected `,` or the end of the line, found `y`; quotes inside a field in quotes are doubled, and lines end with LF or CRLF",
        ),
        (
            "a.csv",
            b"a,b\r1,2\r",
            "1:4: expected `,` or the end of the line, found U+000D; quotes inside a field in quotes are doubled, and lines end with LF or CRLF",
        ),
        (
            "a.tsv",
            b"a\n\"x\"y\n",
            "2:4: expected U+0009 or the end of the line, found `y`; quotes inside a field in quotes are doubled, and lines end with LF or CRLF",
        ),
        (
            "a.csv",
            b"a\nx\n\xe4\n",
            "3:1: expected UTF-8 text, found the byte e4; convert the file to UTF-8",
        ),
        // A line end inside quotes is one of the file's.
        (
            "a.csv",
            b"a,b\n\"1\n2\",3\n4\n",
            "4:2: expected 2 fields as in the header line, found 1; `b` is missing",
        ),
    ]);
    let options = Options { csv_strings: true, ..Options::default() };
    let error = read("a.csv", b"a,b\n1\n", &options).unwrap_err();
    assert_eq!(
        (error.file(), error.line(), error.column(), error.offset()),
        ("a.csv", 2, 2, 5)
    );
    assert!(error.message().starts_with("expected 2 fields"));
}

#[test]
fn offsets_count_from_the_start_of_the_file() {
    let error =
        read("a.json", "\u{feff}\n[\"ä\",x".as_bytes(), &Options::default()).unwrap_err();
    assert_eq!((error.line(), error.column(), error.offset()), (2, 6, 10));
}

#[test]
fn nesting_is_bounded_by_the_option_and_by_a_thousand() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for (limit, allowed) in
        [(0, 0), (1, 1), (128, 128), (1_000, 1_000), (u32::MAX, 1_000)]
    {
        let options = Options { max_depth: limit, ..Options::default() };
        if allowed > 0 {
            assert!(read("a.json", nested(allowed).as_bytes(), &options).is_ok());
        }
        let error = read("a.json", nested(allowed + 1).as_bytes(), &options).unwrap_err();
        assert_eq!(error.column(), allowed as u64 + 1, "{error}");
        assert!(read("a.json", b"1", &options).is_ok());
    }
}

#[test]
fn what_a_user_should_know_is_noted() {
    let rows: [(&str, &[u8], &[&str]); 9] = [
        ("a.json", b"[1, 2.5, \"x\"]", &[]),
        (
            "a.json",
            b"\xef\xbb\xbf1",
            &["a.json: the byte order mark at the start is skipped"],
        ),
        (
            "a.json",
            b"[0.5,\n 1.00000000000000000001, 1e-400]",
            &[
                "a.json:2:2: this fraction has digits that a 64-bit float does not keep; the nearest float is read (the first of 2)",
            ],
        ),
        (
            "a.json",
            b"[{\"a\":1},{\"a\":1,\"b\":{\"a\":2},\"a\":3}]",
            &["a.json:1:10: this object has a key more than once; "],
        ),
        (
            "a.ndjson",
            b"1\n18446744073709551616\n",
            &["a.ndjson:2:1: this integer needs more than 64 bits; "],
        ),
        (
            "a.csv",
            b"a,p\nx,1\ny,1.50\n",
            &[
                "a.csv:3:3: the column `p` is text, since a number would not print back as `1.50`",
            ],
        ),
        ("a.csv", b"a,p\nx,1\ny,1.50\nz,none\n", &[]),
        (
            "a.csv",
            b"a;p\nx;1\n",
            &["a.csv:1:1: the header line has no comma; semicolons separate the fields"],
        ),
        ("a.csv", b"a\n1\n", &[]),
    ];
    for (name, bytes, expected) in rows {
        let data = open(name, bytes).unwrap();
        let notes = data.notes();
        assert_eq!(notes.len(), expected.len(), "{notes:?}");
        for (note, expected) in notes.iter().zip(expected) {
            assert!(note.starts_with(expected), "{note}");
        }
    }
}

#[test]
fn duplicate_keys_are_noticed_in_small_and_in_large_objects() {
    for size in [2, 16, 17, 1_000] {
        let keys: Vec<String> = (0..size).map(|key| format!("\"{key}\":{key}")).collect();
        let object = |keys: &[String]| format!("{{{}}}", keys.join(","));
        let data = open("a.json", object(&keys)).unwrap();
        assert!(data.notes().is_empty(), "{size}");
        // The last key is an escaped form of the first.
        let mut keys = keys;
        *keys.last_mut().unwrap() = "\"\\u0030\":1".to_owned();
        let data = open("a.json", object(&keys)).unwrap();
        assert_eq!(data.notes().len(), 1, "{size}");
        assert_eq!(data.value().as_map().unwrap().len(), size);
    }
}

#[test]
fn the_format_is_told_by_option_then_name_then_content() {
    let rows: [(&str, &[u8], Format); 19] = [
        ("x/a.json", b"1", Format::Json),
        ("a.GeoJSON", b"1", Format::Json),
        ("a.ndjson", b"1", Format::Ndjson),
        ("a.jsonl", b"1", Format::Ndjson),
        ("a.CSV", b"a\n1", Format::Csv),
        ("a.b.tsv", b"a\n1", Format::Csv),
        ("a", b"{\"a\":1}\n", Format::Json),
        ("a.txt", b"\n[1,\n2]\n\n", Format::Json),
        ("-", b"{\n\"a\":1}\n", Format::Json),
        ("-", b"{\"a\":1}\n{\"a\":2}\n", Format::Ndjson),
        ("-", b"\xef\xbb\xbf{\"a\":1}\r\n\r\n{\"a\":2}\r\n", Format::Ndjson),
        ("-", b"1\n2\n", Format::Ndjson),
        ("-", b"\"a\"\n", Format::Json),
        ("-", b"a,b\n1,2\n", Format::Csv),
        ("-", b"\"a\",\"b\"\n1,2\n", Format::Csv),
        ("-", b"id\n1\n", Format::Csv),
        (".json", b"id\n1\n", Format::Csv),
        ("dir.json/a", b"id\n1\n", Format::Csv),
        ("dir.csv\\a", b"true", Format::Json),
    ];
    for (name, bytes, expected) in rows {
        assert_eq!(open(name, bytes).unwrap().format(), expected, "{name} {bytes:?}");
    }
    for format in Format::ALL {
        let options = Options { format: Some(format), ..Options::default() };
        let bytes = if format == Format::Csv { &b"a\n1"[..] } else { b"1" };
        assert_eq!(read("a.xyz", bytes, &options).unwrap().format(), format);
        assert_eq!(format.as_str().parse(), Ok(format));
    }
    assert_eq!(
        "xml".parse::<Format>(),
        Err("expected json, ndjson or csv, found `xml`".to_owned())
    );
}

#[test]
fn a_file_is_described_by_its_name_and_records() {
    /// Name, content; id, source, title, records.
    type Row =
        (&'static str, &'static [u8], &'static str, &'static str, &'static str, u64);
    let rows: [Row; 7] = [
        (
            "in/my orders.json",
            b"[1,2]",
            "my-orders",
            "my orders.json",
            "2 records, 5 bytes of JSON",
            2,
        ),
        ("in\\a.b.json", b"{}", "a.b", "a.b.json", "1 record, 2 bytes of JSON", 1),
        ("a.json", b"[]", "a", "a.json", "1 record, 2 bytes of JSON", 1),
        ("a.ndjson", b"1\n", "a", "a.ndjson", "1 record, 2 bytes of NDJSON", 1),
        ("a.csv", b"a\n1\n2\n3\n", "a", "a.csv", "3 records, 8 bytes of CSV", 3),
        ("-", b"1", "stdin", "stdin", "1 record, 1 byte of JSON", 1),
        (".json", b"1", ".json", ".json", "1 record, 1 byte of JSON", 1),
    ];
    for (name, bytes, id, source, title, records) in rows {
        let data = open(name, bytes).unwrap();
        let about = data.about();
        assert_eq!(
            (&*about.id, &*about.source, &*about.title, about.records),
            (id, source, title, records)
        );
        assert!(about.needs_self_describing);
        assert_eq!(data.items().len() as u64, records);
    }
}

#[test]
fn records_are_the_elements_or_the_document_itself() {
    let data = open("a.json", "[{\"a\":1},2]").unwrap();
    assert_eq!(Some(data.items()), data.value().as_array());
    for document in ["[]", "{}", "{\"a\":[1]}", "null"] {
        let data = open("a.json", document).unwrap();
        assert_eq!(data.items(), std::slice::from_ref(data.value()));
    }
}

#[test]
fn every_document_has_a_sibling_that_differs() {
    let rows = [
        ("null", "true"),
        ("true", "false"),
        ("0", "1"),
        ("18446744073709551615", "18446744073709551614"),
        ("-1", "-2"),
        ("-9223372036854775808", "-9223372036854775807"),
        ("0.0", "5e-324"),
        (r#""""#, r#""x""#),
        ("[]", "[null]"),
        ("{}", r#"{"x":null}"#),
        ("[null,[]]", "[true,[]]"),
        ("[[[]]]", "[[[null]]]"),
        (r#"{"a":{"b":{}}}"#, r#"{"a":{"b":{"x":null}}}"#),
        (r#"[null,{"a":[]},{"b":[7,8]}]"#, r#"[null,{"a":[]},{"b":[6,8]}]"#),
    ];
    for (document, sibling) in rows {
        let data = open("a.json", document).unwrap();
        assert_eq!(data.sibling(), json(sibling), "{document}");
        assert!(OwnData::is_same(data.value(), data.value()));
        assert!(!OwnData::is_same(&data.sibling(), data.value()));
    }
    for document in [u128::MAX.to_string(), i128::MIN.to_string()] {
        let data = open("a.json", &document).unwrap();
        assert_ne!(data.sibling(), *data.value());
    }
}

/// The folder `shared` beside the workspace or above it, or where `WIREMARK_SHARED` says.
fn shared() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("WIREMARK_SHARED") {
        return Some(path.into());
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().map(|folder| folder.join("shared")).find(|path| path.is_dir())
}

/// No files, and a word on why, past the test harness, which would keep it to itself.
fn skipped<T>(reason: &str) -> Vec<T> {
    let mut stderr = std::io::stderr();
    writeln!(stderr, "skipped the JSON test suite: {reason}").unwrap();
    Vec::new()
}

/// Names and contents of the suite's files, or nothing and a word on why.
fn suite(folder: &str) -> Vec<(String, Vec<u8>)> {
    let Some(path) =
        shared().map(|path| path.join("corpora/json-test-suite").join(folder))
    else {
        return skipped(
            "no folder `shared` above this crate, and WIREMARK_SHARED is not set",
        );
    };
    let Ok(entries) = fs::read_dir(&path) else {
        return skipped(&format!("no `{}`", path.display()));
    };
    let mut files: Vec<_> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                fs::read(path).unwrap(),
            )
        })
        .collect();
    files.sort();
    files
}

/// Files of the suite that a parser may accept or refuse, and that this one accepts: numbers that
/// 128 bits hold, fractions that round to zero, a byte order mark.
const ACCEPTED: [&str; 5] = [
    "i_number_double_huge_neg_exp.json",
    "i_number_real_underflow.json",
    "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",
    "i_structure_UTF-8_BOM_empty_object.json",
];

#[test]
fn the_json_test_suite_is_read_as_it_demands() {
    let files = suite("test_parsing");
    let mut wrong = Vec::new();
    for (name, bytes) in &files {
        let found = open(name, bytes);
        let accept = name.starts_with("y_") || ACCEPTED.contains(&name.as_str());
        match &found {
            Ok(_) if !accept => wrong.push(format!("{name} is accepted")),
            Err(error) if accept => wrong.push(error.clone()),
            _ => {}
        }
        if let (Ok(data), true) = (&found, name.starts_with("y_")) {
            let theirs: Value = serde_json::from_slice(bytes).unwrap();
            if !alike(data.value(), &theirs) {
                wrong.push(format!("{name}: {:?}, not {theirs:?}", data.value()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    if !files.is_empty() {
        let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert!(ACCEPTED.iter().all(|name| names.contains(name)), "strike what is gone");
    }
}

#[test]
fn the_json_test_suites_open_questions_have_these_answers() {
    let expected = [
        ("number_-9223372036854775809.json", "[-9223372036854775809]"),
        ("number_1.000000000000000005.json", "[1.0]"),
        ("number_10000000000000000999.json", "[10000000000000000999]"),
        ("number_1e-999.json", "[0.0]"),
        ("number_1e6.json", "[1000000.0]"),
        ("number_9223372036854775808.json", "[9223372036854775808]"),
        ("object_key_nfc_nfd.json", r#"{"é": "NFC", "e\u{301}": "NFD"}"#),
        ("object_same_key_different_values.json", "{\"a\": 1, \"a\": 2}"),
        ("object_same_key_same_value.json", "{\"a\": 1, \"a\": 1}"),
        ("object_same_key_unclear_values.json", "{\"a\": 0, \"a\": -0.0}"),
        ("string_1_escaped_invalid_codepoint.json", "refused"),
        ("string_1_invalid_codepoint.json", "refused"),
        ("string_3_escaped_invalid_codepoints.json", "refused"),
        ("string_with_escaped_NULL.json", "[\"A\\0B\"]"),
    ];
    for (name, bytes) in suite("test_transform") {
        if let Some((_, expected)) = expected.iter().find(|(file, _)| *file == name) {
            let found = open(&name, bytes).map(|data| format!("{:?}", data.value()));
            assert_eq!(found.as_deref().unwrap_or("refused"), *expected, "{name}");
        }
    }
}

/// Whether two readers say the same: `serde_json` makes floats of whole numbers beyond 64 bits, and
/// its floats may be off by one in the last place.
fn alike(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::F64(a), Value::F64(b)) => (a - b).abs() <= a.abs() * 1e-15,
        (Value::U128(a), Value::F64(b)) => (*a as f64 - b).abs() <= *a as f64 * 1e-15,
        (Value::I128(a), Value::F64(b)) => (*a as f64 - b).abs() <= -(*a as f64) * 1e-15,
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            let same = |((a, x), (b, y)): (&(Value, Value), &(Value, Value))| {
                a == b && alike(x, y)
            };
            a.len() == b.len() && a.iter().zip(b).all(same)
        }
        (a, b) => a == b,
    }
}

/// The generator of this crate, once more: it is nobody else's business.
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 32).unwrap() % bound
    }
}

#[test]
fn mutated_files_never_panic_and_json_agrees_with_another_reader() {
    const SEEDS: [(&str, &str); 4] = [
        (
            "a.json",
            "{\"id\": 17, \"x\": [-0.5e-3, 1E5, true, false, null, \"\\u00e4\\ud83d\\ude00 \\\"\u{e9}\"], \
             \"n\": {\"\": {}, \"a\": [], \"b\": [[18446744073709551616, -9223372036854775809]]}}",
        ),
        ("a.ndjson", "{\"a\": 1}\r\n\n[\"x\", 2.25]\n\"\u{20ac}\"\n"),
        (
            "a.csv",
            "id,name,\"p q\"\n1,\"a \"\"b\"\", c\",2.5\n2,\u{fc},\n\n3,\"x\ny\",7\n",
        ),
        ("a", "[1, 2]\n{\"a\": 3}\n"),
    ];
    const BYTES: &[u8] = b"{}[]\",:\\u0123456789eE+-.truefalsn \t\r\n'/;\0\x1f\x7f\x80\xc3\xef\xbb\xbf\xff";

    let seed = 20_261_130;
    println!("seed {seed}");
    let mut rng = Rng(seed);
    let (mut accepted, mut refused) = (0_u32, 0_u32);
    for _ in 0..40_000 {
        let (name, text) = SEEDS[rng.below(SEEDS.len())];
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=rng.below(4) {
            let at = rng.below(bytes.len().max(1));
            let byte = BYTES[rng.below(BYTES.len())];
            match rng.below(5) {
                _ if bytes.is_empty() => bytes.push(byte),
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                3 => bytes.truncate(at),
                _ => bytes.extend_from_within(at..),
            }
        }
        let found = read(name, &bytes, &Options::default());
        let shown = bytes.escape_ascii();
        match &found {
            Ok(data) => {
                accepted += 1;
                assert!(!data.items().is_empty(), "{shown}");
                assert_ne!(data.sibling(), *data.value(), "{shown}");
            }
            Err(error) => {
                refused += 1;
                assert!(error.offset() <= bytes.len() as u64, "{shown}");
                let lines = bytes.split(|&byte| byte == b'\n').count() as u64;
                assert!((1..=lines).contains(&error.line()), "{shown}");
                assert!(
                    (1..=bytes.len() as u64 + 1).contains(&error.column()),
                    "{shown}"
                );
            }
        }
        if name == "a.json" {
            let plain = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
            match (found, serde_json::from_slice::<Value>(plain)) {
                (Ok(ours), Ok(theirs)) => {
                    assert!(alike(ours.value(), &theirs), "{shown}");
                }
                (Ok(_), Err(theirs)) => panic!("{shown}: they say {theirs}"),
                (Err(ours), Ok(_)) => {
                    // They round it.
                    assert!(
                        ours.message().starts_with("expected an integer"),
                        "{shown}: {ours}"
                    );
                }
                (Err(_), Err(_)) => {}
            }
        }
    }
    assert!(
        accepted > 1_000 && refused > 1_000,
        "{accepted} accepted, {refused} refused"
    );
}

/// Any value that JSON can hold, `-0` as an integer excepted.
fn any_value(rng: &mut Rng, depth: usize) -> Value {
    const TEXTS: [&str; 8] = [
        "",
        "a",
        "\"\\/",
        "\u{0}\u{1f}\n\r\t",
        "\u{7f}\u{85}",
        "äß",
        "€\u{feff}",
        "😀\u{10ffff}",
    ];

    let wide = |rng: &mut Rng| {
        (0..4).fold(0_u128, |bits, _| (bits << 32) | rng.below(1 << 32) as u128)
    };
    match rng.below(if depth == 0 { 8 } else { 10 }) {
        0 => Value::Null,
        1 => Value::Bool(rng.below(2) == 0),
        // Of every length, so that each representation comes up.
        2 => Value::from(wide(rng) >> rng.below(128)),
        3 => Value::from(-((wide(rng) >> (1 + rng.below(127))).cast_signed())),
        4 | 5 => {
            let float = f64::from_bits(u64::try_from(wide(rng) >> 64).unwrap());
            Value::from(if float.is_finite() { float } else { -0.0 })
        }
        6 | 7 => {
            (0..rng.below(5)).map(|_| TEXTS[rng.below(8)]).collect::<String>().into()
        }
        8 => (0..rng.below(5))
            .map(|_| any_value(rng, depth - 1))
            .collect::<Vec<_>>()
            .into(),
        _ => (0..rng.below(5))
            .map(|_| (TEXTS[rng.below(8)].into(), any_value(rng, depth - 1)))
            .collect::<Vec<_>>()
            .into(),
    }
}

#[test]
fn whatever_another_program_writes_as_json_is_read_back_exactly() {
    let seed = 7;
    println!("seed {seed}");
    let mut rng = Rng(seed);
    let values: Vec<Value> = (0..5_000).map(|_| any_value(&mut rng, 4)).collect();
    let mut lines = String::new();
    for value in &values {
        for text in [serde_json::to_string(value), serde_json::to_string_pretty(value)] {
            let text = text.unwrap();
            let data = open("a.json", &text).unwrap();
            assert_eq!(data.value(), value, "{text}");
        }
        lines.push_str(&serde_json::to_string(value).unwrap());
        lines.push('\n');
    }
    assert_eq!(open("a.ndjson", lines).unwrap().items(), values);
}
