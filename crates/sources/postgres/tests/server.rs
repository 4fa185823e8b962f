//! Against a real server: what goes in comes out, and no schema stays.
#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use postgres::{Client, NoTls};
use wiremark_core::{Error, ErrorKind, Result};
use wiremark_datasets::Dataset;
use wiremark_datasets::seeded::todos::{Todo, Todos};
use wiremark_persist::Source;
use wiremark_postgres::{Postgres, sweep};
use wiremark_throwaway::{Fsync, Programs, Server};

/// One server for all tests; it ends when this process does.
fn url() -> Option<String> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = SERVER.get_or_init(|| match Programs::find() {
        Ok(programs) => Some(Server::start_with(&programs, Fsync::Off).unwrap()),
        Err(error) => {
            // Not `eprintln!`, which the harness hides.
            let mut stderr = io::stderr();
            writeln!(stderr, "skipped: {error}").unwrap();
            None
        }
    });
    server.as_ref().map(Server::url)
}

fn todo(id: u64, title: &str, note: &str) -> Todo {
    Todo { id, title: title.to_owned(), note: note.to_owned() }
}

fn client(url: &str) -> Client {
    Client::connect(url, NoTls).unwrap()
}

fn has_schema(client: &mut Client, name: &str) -> bool {
    let query = "select 1 from pg_namespace where nspname = $1";
    client.query_opt(query, &[&name]).unwrap().is_some()
}

#[test]
fn rows_come_out_both_ways_as_often_as_asked_and_in_the_order_of_their_ids() {
    let Some(url) = url() else { return };
    let odd = vec![
        todo(9, "tab\tand \\n", "line\nfeed\r\n"),
        todo(2, "'quotes' \"and\" `more`", "\\N"),
        todo(1, "", ""),
        todo((1 << 63) - 1, "größer 漢字 🦀", "\\."),
        todo(0, "); drop table todos; --", "%_$1\u{1}"),
    ];
    for todos in [Vec::new(), odd, Todos::with(3, 5000).value().clone()] {
        let mut wanted = todos.clone();
        wanted.sort_by_key(|todo| todo.id);
        let mut postgres = Postgres::connect(&url, &todos).unwrap();
        for _ in 0..2 {
            assert_eq!(postgres.collect().unwrap(), wanted);
            let streamed: Result<Vec<_>> = postgres.stream(|rows| rows.collect());
            assert_eq!(streamed.unwrap(), wanted);
        }
        postgres.close().unwrap();
    }
}

#[test]
fn a_stream_may_end_early_and_an_error_of_its_reader_is_returned() {
    let Some(url) = url() else { return };
    let mut postgres = Postgres::connect(&url, Todos::with(3, 5000).value()).unwrap();
    let first = postgres.stream(|rows| rows.next().transpose()).unwrap();
    assert_eq!(first.map(|todo| todo.id), Some(1));
    let failed: Result<()> = postgres.stream(|_| Err(Error::data("enough")));
    assert_eq!(failed.unwrap_err().to_string(), "enough");
    assert_eq!(postgres.collect().unwrap().len(), 5000);
}

#[test]
fn the_name_is_that_of_the_server() {
    let Some(url) = url() else { return };
    let version = Programs::find().unwrap().version().to_owned();
    let postgres = Postgres::connect(&url, &[]).unwrap();
    assert_eq!(postgres.name(), format!("PostgreSQL {version}"));
}

#[test]
fn the_schema_goes_with_its_owner() {
    let Some(url) = url() else { return };
    let mut client = client(&url);
    for is_closed in [true, false] {
        let postgres = Postgres::connect(&url, &[todo(1, "", "")]).unwrap();
        let name = postgres.schema().to_owned();
        assert!(has_schema(&mut client, &name));
        if is_closed {
            postgres.close().unwrap();
        } else {
            drop(postgres);
        }
        assert!(!has_schema(&mut client, &name), "closed: {is_closed}");
    }
}

#[test]
fn rows_that_the_table_cannot_hold_are_refused_and_no_schema_stays() {
    let Some(url) = url() else { return };
    // A database that no other test uses.
    client(&url).batch_execute("create database refused").unwrap();
    let url = url.replace("/postgres", "/refused");
    let rows = [
        (vec![todo(1 << 63, "", "")], "2^63 - 1, found 9223372036854775808"),
        (vec![todo(7, "", ""), todo(7, "", "")], "Key (id)=(7) already exists"),
        (vec![todo(1, "a\0b", "")], "invalid byte sequence for encoding \"UTF8\": 0x00"),
    ];
    for (todos, wanted) in rows {
        let error = Postgres::connect(&url, &todos).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data, "{error}");
        assert!(error.to_string().contains(wanted), "{error}");
    }
    let count = "select count(*) from pg_namespace where nspname like 'wiremark%'";
    let count: i64 = client(&url).query_one(count, &[]).unwrap().get(0);
    assert_eq!(count, 0);
}

/// Not a test of its own: the program of the next one, which is killed in the middle.
#[test]
#[ignore = "run by `what_a_killed_program_leaves_is_swept_and_what_is_in_use_is_not`"]
fn a_program_that_waits_with_a_schema() {
    let url = env::var("WIREMARK_TEST_URL").unwrap();
    let postgres = Postgres::connect(&url, &[todo(1, "x", "y")]).unwrap();
    println!("\nschema {}", postgres.schema());
    io::stdin().read_line(&mut String::new()).unwrap();
}

fn program(url: &str) -> (Child, String) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "a_program_that_waits_with_a_schema",
            "--nocapture",
        ])
        .env("WIREMARK_TEST_URL", url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let schema =
        lines.find_map(|line| Some(line.unwrap().strip_prefix("schema ")?.to_owned()));
    (child, schema.unwrap())
}

#[test]
fn what_a_killed_program_leaves_is_swept_and_what_is_in_use_is_not() {
    let Some(url) = url() else { return };
    let mut client = client(&url);
    let mut living = Postgres::connect(&url, &[todo(5, "", "")]).unwrap();
    let (mut child, stale) = program(&url);
    // Of our form, and not ours: it lacks the comment.
    let foreign = "wiremark_1_0123456789abcdef";
    client.batch_execute(&format!("create schema {foreign}")).unwrap();
    assert!(!sweep(&url).unwrap().contains(&stale));
    assert!(has_schema(&mut client, &stale));

    child.kill().unwrap();
    child.wait().unwrap();
    // The server takes a moment to notice; another test may be the one that sweeps.
    let is_gone = (0..1500).any(|_| {
        drop(Postgres::connect(&url, &[]).unwrap());
        let is_gone = !has_schema(&mut client, &stale);
        if !is_gone {
            sleep(Duration::from_millis(20));
        }
        is_gone
    });
    assert!(is_gone);
    assert!(has_schema(&mut client, foreign));
    assert_eq!(living.collect().unwrap(), [todo(5, "", "")]);
}

#[test]
fn a_connection_that_is_lost_is_an_error_and_ends_the_rows() {
    let Some(url) = url() else { return };
    let mut client = client(&url);
    let todos: Vec<_> =
        (0..200_000).map(|id| todo(id, "a title", "and a note")).collect();
    let mut postgres = Postgres::connect(&url, &todos).unwrap();
    let schema = postgres.schema().to_owned();
    let (good, bad) = postgres
        .stream(|rows| {
            rows.next().unwrap().unwrap();
            let end = "select pg_terminate_backend(l.pid) from pg_locks l join pg_class c on \
                       c.oid = l.relation where c.relnamespace = $1::text::regnamespace";
            client.execute(end, &[&schema]).unwrap();
            let (good, bad): (Vec<_>, Vec<_>) = rows.partition(Result::is_ok);
            Ok((good.len(), bad))
        })
        .unwrap();
    assert!(good < todos.len());
    let [Err(error)] = &bad[..] else { panic!("{} errors", bad.len()) };
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().starts_with("PostgreSQL cannot read a row: "), "{error}");
    assert_eq!(postgres.collect().unwrap_err().kind(), ErrorKind::Io);
    postgres.close().unwrap_err();
}

#[test]
fn an_error_says_what_to_do_and_never_the_password() {
    let mut rows = vec![
        ("postgresql://me:s3cret@[::1/x".to_owned(), "with %40 for an @"),
        ("postgresql://me:s3cret@localhost:port/x".to_owned(), "with %40 for an @"),
        ("host=localhost password=one s3cret".to_owned(), "with %40 for an @"),
        ("postgresql://me:s3cret@localhost:1/x".to_owned(), "is a server listening"),
        ("host=/nowhere user=me password=s3cret".to_owned(), "is a server listening"),
    ];
    if let Some(url) = url() {
        let url = url.replace("wiremark@", "wiremark:s3cret@");
        let other = url.replace("/postgres", "/other");
        rows.push((other, "database \"other\" does not exist (`createdb` makes"));
        let user = url.replace("wiremark:", "nobody:");
        rows.push((user, "role \"nobody\" does not exist (the URL's user is wrong"));
        let postgres = Postgres::connect(&url, &[]).unwrap();
        assert!(!format!("{postgres:?}").contains("s3cret"));
    }
    for (url, wanted) in rows {
        let error = Postgres::connect(&url, &[]).unwrap_err();
        assert!(error.to_string().contains(wanted), "{url}: {error}");
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
    }
}

#[test]
fn a_user_who_may_not_make_a_schema_is_told_what_it_needs() {
    let Some(url) = url() else { return };
    client(&url).batch_execute("create role guest login").unwrap();
    let error = Postgres::connect(&url.replace("wiremark@", "guest@"), &[]).unwrap_err();
    assert!(error.to_string().contains("(`grant create on database"), "{error}");
}
