//go:build postgres

// Todos from PostgreSQL, by lib/pq.

package main

import (
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	_ "github.com/lib/pq"
)

func init() {
	databases = func(b *bench, input string, todos []Todo) {
		db, err := sql.Open("postgres", os.Getenv("DATABASE_URL"))
		check(err)
		defer db.Close()
		// One connection: the table is its own and goes with it.
		db.SetMaxOpenConns(1)
		db.SetMaxIdleConns(1)
		rows, err := os.ReadFile(filepath.Join(input, "todos.json"))
		check(err)
		_, err = db.Exec("create temporary table todos (id bigint primary key, title text not null, note text not null)")
		check(err)
		_, err = db.Exec(`insert into todos select id, title, note
			from json_to_recordset($1::text::json) as row (id bigint, title text, note text)`, string(rows))
		check(err)
		_, err = db.Exec("analyze todos")
		check(err)

		row := "todos/query/collect"
		if strings.Contains(row, b.only) {
			expect(reflect.DeepEqual(query(db), todos), row)
			wall, used := b.time(func(string) { query(db) })
			fmt.Printf("%s %.0f %.0f 0 0\n", row, wall, used)
		}
		isRight := holds(todos)
		export := func(way string, work func(path string)) {
			b.write("todos/query+export/"+way, work, isRight)
		}
		print := func(w io.Writer) { printf(w, query(db)) }
		export("direct", buffered(0, print))
		export("line-by-line", buffered(0, func(w io.Writer) { appendLines(w, query(db)) }))
		export("buffer-4k", buffered(4<<10, print))
		export("append+whole", whole(func() []byte { return appendAll(nil, query(db)) }))
	}
}

func query(db *sql.DB) (todos []Todo) {
	rows, err := db.Query("select id, title, note from todos order by id")
	check(err)
	for rows.Next() {
		var todo Todo
		check(rows.Scan(&todo.ID, &todo.Title, &todo.Note))
		todos = append(todos, todo)
	}
	check(rows.Err())
	check(rows.Close())
	return todos
}
