//! The values of a dataset as files that every peer reads without loss: JSON, and source of Perl,
//! whose own numbers are more exact than its readers of JSON.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use serde::Serialize;
use wiremark_datasets::{Dataset, Value, to_value};

/// Writes `ID.value`, `ID.sibling` and `ID.items`, each as `.json` and `.pl`, into a folder.
///
/// # Errors
/// If a file cannot be written, or the value has no such form.
pub fn write<D: Dataset>(folder: &Path, dataset: &D) -> io::Result<()> {
    let id = dataset.about().id;
    one(folder, &format!("{id}.value"), dataset.value())?;
    one(folder, &format!("{id}.sibling"), &dataset.sibling())?;
    one(folder, &format!("{id}.items"), dataset.items())
}

fn one<T: Serialize + ?Sized>(folder: &Path, name: &str, value: &T) -> io::Result<()> {
    let value = to_value(value).map_err(io::Error::other)?;
    let create =
        |kind| File::create(folder.join(format!("{name}.{kind}"))).map(BufWriter::new);
    let mut file = create("json")?;
    serde_json::to_writer(&mut file, &value)?;
    file.flush()?;
    let mut file = create("pl")?;
    file.write_all(perl(&value).as_bytes())?;
    file.flush()
}

/// A value as an expression of Perl (for `do` or `eval` with a `+` before it, or a brace would
/// open a block), in which `TRUE` and `FALSE` are constants of the reader's.
///
/// ```
/// use wiremark_datasets::Value;
/// use wiremark_peers::values::perl;
///
/// let value = Value::from(vec![Value::from(1), Value::from(0.5), Value::from("a$é")]);
/// assert_eq!(perl(&value), r#"[1,0.5,"a\x{24}\N{U+e9}"]"#);
/// ```
pub fn perl(value: &Value) -> String {
    let mut out = String::new();
    push(&mut out, value);
    out
}

fn push(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("undef"),
        Value::Bool(true) => out.push_str("TRUE"),
        Value::Bool(false) => out.push_str("FALSE"),
        Value::U64(number) => push_shown(out, number),
        Value::I64(number) => push_shown(out, number),
        // More than Perl's whole numbers hold: as text nothing of it is lost.
        Value::U128(number) => push_text(out, &number.to_string()),
        Value::I128(number) => push_text(out, &number.to_string()),
        Value::F64(number) if number.is_nan() => out.push_str("9**9**9/9**9**9"),
        Value::F64(number) if number.is_infinite() => {
            out.push_str(if *number > 0.0 { "9**9**9" } else { "-9**9**9" });
        }
        // `Debug` writes the shortest text that reads back, with a dot or an exponent.
        Value::F64(number) => {
            let _ = write!(out, "{number:?}");
        }
        Value::Str(text) => push_text(out, text),
        Value::Bytes(bytes) => {
            out.push('"');
            for byte in bytes {
                let _ = write!(out, "\\x{{{byte:x}}}");
            }
            out.push('"');
        }
        Value::Array(values) => {
            out.push('[');
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                push(out, value);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                push(out, key);
                out.push_str("=>");
                push(out, value);
            }
            out.push('}');
        }
    }
}

fn push_shown(out: &mut String, number: &impl std::fmt::Display) {
    let _ = write!(out, "{number}");
}

fn push_text(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        let _ = match char {
            'A'..='Z'
            | 'a'..='z'
            | '0'..='9'
            | ' '
            | '-'
            | '.'
            | ','
            | ':'
            | '/'
            | '_' => {
                out.push(char);
                Ok(())
            }
            // Only this form makes text of characters that would fit into a byte.
            '\u{80}'.. => write!(out, "\\N{{U+{:x}}}", u32::from(char)),
            _ => write!(out, "\\x{{{:x}}}", u32::from(char)),
        };
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use wiremark_datasets::seeded::small::Smalls;

    use super::*;

    #[test]
    fn a_value_is_written_as_json_and_as_perl() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &Smalls::new()).unwrap();
        let read =
            |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(
            read("small.value.json"),
            r#"{"a":1,"b":2,"c":3,"d":"four","e":5.018}"#
        );
        let perl = r#"{"a"=>1,"b"=>2,"c"=>3,"d"=>"four","e"=>5.018}"#;
        assert_eq!(read("small.value.pl"), perl);
        assert_eq!(read("small.items.json").matches('{').count(), 100);
        assert_ne!(read("small.sibling.pl"), perl);
    }

    /// Perl itself reads the source and says what it got.
    #[test]
    fn perl_reads_numbers_and_text_without_loss() {
        let mut floats = vec![5.018, -0.0, 1.0, 1e300, 5e-324, 0.1 + 0.2, f64::MAX];
        // Bits from all over, by a generator that stands in many textbooks.
        let mut bits = 42_u64;
        while floats.len() < 200 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            floats.extend(Some(f64::from_bits(bits)).filter(|float| float.is_finite()));
        }
        let text = "\"$@%é\u{1f600}\0\n\\";
        let value = Value::from(vec![
            Value::from(
                floats.iter().map(|&float| Value::from(float)).collect::<Vec<_>>(),
            ),
            Value::from(vec![
                Value::from(u64::MAX),
                Value::from(i64::MIN),
                Value::from(text),
            ]),
        ]);
        let script = format!(
            "my $v = {}; print join(',', map {{ unpack 'H*', pack 'd>', $_ }} @{{$v->[0]}}), \
             \"\\n\", $v->[1][0], ' ', $v->[1][1], ' ', \
             join(',', map {{ sprintf '%x', ord }} split //, $v->[1][2]);",
            perl(&value)
        );
        let Ok(output) = Command::new("perl").args(["-e", &script]).output() else {
            return;
        };
        let said = String::from_utf8_lossy(&output.stdout);
        let bits: Vec<String> =
            floats.iter().map(|float| format!("{:016x}", float.to_bits())).collect();
        let chars: Vec<String> =
            text.chars().map(|char| format!("{:x}", u32::from(char))).collect();
        let wanted =
            format!("{}\n{} {} {}", bits.join(","), u64::MAX, i64::MIN, chars.join(","));
        assert_eq!(said, wanted, "{}", String::from_utf8_lossy(&output.stderr));
    }
}
