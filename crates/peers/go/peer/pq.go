//go:build pq

// Rows from PostgreSQL, by database/sql and github.com/lib/pq, over one connection. Inside the clock: the
// query, which was prepared before, and Scan for each row. Outside: connecting, the table, preparing (it
// saves a tenth of the processor time, since numbers then come in binary).
//
// The table lies in a schema of its own, made and named as our own crate does it: who finds one whose
// lock nobody holds, since its program was killed, may drop it, and `wiremark` does.

package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/lib/pq"
)

func init() {
	clients = append(clients, client{"sql/go:lib-pq", libraryVersion("github.com/lib/pq")})
	if address, has := os.LookupEnv("DATABASE_URL"); has {
		openTable = func(todos []Todo) (table, error) { return openPostgres(address, todos) }
	}
}

const comment = "made by wiremark, which drops it; free to drop when no program uses it"

type pqTable struct {
	db     *sql.DB
	conn   *sql.Conn
	schema string
	query  *sql.Stmt
}

func openPostgres(address string, todos []Todo) (_ table, err error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, err
	}
	key := binary.BigEndian.Uint64(random[:])
	schema := fmt.Sprintf("wiremark_%d_%016x", os.Getpid(), key)

	// Our own client speaks without TLS too, unless the address says.
	if _, has := os.LookupEnv("PGSSLMODE"); !has {
		os.Setenv("PGSSLMODE", "disable")
	}
	// What the library says of an address that it cannot read may hold the password.
	connector, err := pq.NewConnector(withoutSocket(address))
	if err != nil {
		return nil, errors.New("DATABASE_URL is no address of a database: expected " +
			"postgresql://user:password@host:port/database, with %40 for an @ in the password")
	}
	db := sql.OpenDB(connector)
	defer func() {
		if err != nil {
			db.Close()
			err = fmt.Errorf("PostgreSQL: %w", err)
		}
	}()
	// The lock belongs to a session.
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	// Before the schema can be seen, so that nobody takes it for one that was left behind.
	if _, err := conn.ExecContext(ctx, "select pg_advisory_lock($1::bigint)", int64(key)); err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	// If anything fails from here on, the server forgets all of it.
	defer tx.Rollback()
	_, err = tx.Exec(fmt.Sprintf(`create schema %[1]s; comment on schema %[1]s is '%[2]s';
		create table %[1]s.todos(id int8 primary key, title text not null, note text not null)`, schema, comment))
	if err != nil {
		return nil, err
	}
	rows, err := tx.Prepare(pq.CopyInSchema(schema, "todos", "id", "title", "note"))
	if err != nil {
		return nil, err
	}
	for _, todo := range todos {
		if _, err := rows.Exec(int64(todo.Id), todo.Title, todo.Note); err != nil {
			return nil, err
		}
	}
	// Without values: the end of them.
	if _, err := rows.Exec(); err != nil {
		return nil, err
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	if _, err := tx.Exec(fmt.Sprintf("analyze %s.todos", schema)); err != nil {
		return nil, err
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	query, err := conn.PrepareContext(ctx, fmt.Sprintf("select id, title, note from %s.todos order by id", schema))
	if err != nil {
		return nil, err
	}
	return &pqTable{db, conn, schema, query}, nil
}

// withoutSocket puts a socket's folder, which may stand escaped in the place of a URL's host, where lib/pq
// takes it: postgresql://me@%2Ftmp%2Fpg/test becomes postgresql://me@/test?host=%2Ftmp%2Fpg.
func withoutSocket(address string) string {
	scheme, rest, isURL := strings.Cut(address, "://")
	end := strings.IndexAny(rest, "/?")
	if !isURL || end < 0 {
		return address
	}
	host := strings.LastIndexByte(rest[:end], '@') + 1
	if !strings.HasPrefix(strings.ToLower(rest[host:end]), "%2f") {
		return address
	}
	path, query, _ := strings.Cut(rest[end:], "?")
	return scheme + "://" + rest[:host] + path + "?host=" + rest[host:end] + "&" + query
}

func (t *pqTable) collect() (todos []Todo, err error) {
	rows, err := t.query.Query()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var todo Todo
		if err := rows.Scan(&todo.Id, &todo.Title, &todo.Note); err != nil {
			return nil, err
		}
		todos = append(todos, todo)
	}
	return todos, rows.Err()
}

func (t *pqTable) stream(each func(*Todo) error) error {
	rows, err := t.query.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	var todo Todo
	for rows.Next() {
		if err := rows.Scan(&todo.Id, &todo.Title, &todo.Note); err != nil {
			return err
		}
		if err := each(&todo); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (t *pqTable) close() error {
	_, err := t.conn.ExecContext(context.Background(), fmt.Sprintf("drop schema %s cascade", t.schema))
	if failed := t.db.Close(); err == nil {
		err = failed
	}
	return err
}
