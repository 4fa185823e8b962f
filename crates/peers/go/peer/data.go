// The datasets: their types, as Go has them, and where values come from. Nothing is timed here.
//
// A field is named as its JSON is, first letters large. The tag json is read by all libraries but
// vmihailenco's, which wants its own.
//
// What is an enum in Rust is here what JSON shows: a word is a string, and an enum whose variants have
// content is `any`, the one type of Go's that holds either a word or a map. Numbers of unknown
// type are int64, or uint64 beyond it, or float64.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

type Person struct {
	Name    string   `json:"name" msgpack:"name"`
	Age     uint8    `json:"age" msgpack:"age"`
	Sex     string   `json:"sex" msgpack:"sex"`
	Hobbies []string `json:"hobbies" msgpack:"hobbies"`
}

type Event struct {
	Tag    string         `json:"tag" msgpack:"tag"`
	Time   uint64         `json:"time" msgpack:"time"`
	Record map[string]any `json:"record" msgpack:"record"`
}

type Small struct {
	A int64   `json:"a" msgpack:"a"`
	B int64   `json:"b" msgpack:"b"`
	C int64   `json:"c" msgpack:"c"`
	D string  `json:"d" msgpack:"d"`
	E float64 `json:"e" msgpack:"e"`
}

type Large struct {
	A int64   `json:"a" msgpack:"a"`
	B int64   `json:"b" msgpack:"b"`
	C int64   `json:"c" msgpack:"c"`
	D string  `json:"d" msgpack:"d"`
	E float64 `json:"e" msgpack:"e"`
	F []int64 `json:"f" msgpack:"f"`
}

type Todo struct {
	Id    uint64 `json:"id" msgpack:"id"`
	Title string `json:"title" msgpack:"title"`
	Note  string `json:"note" msgpack:"note"`
}

type LogRecord struct {
	Id      string            `json:"id" msgpack:"id"`
	Time    uint64            `json:"time" msgpack:"time"`
	Level   string            `json:"level" msgpack:"level"`
	Client  Client            `json:"client" msgpack:"client"`
	Request Request           `json:"request" msgpack:"request"`
	Outcome any               `json:"outcome" msgpack:"outcome"`
	Steps   []Step            `json:"steps" msgpack:"steps"`
	Labels  map[string]string `json:"labels" msgpack:"labels"`
	Message string            `json:"message" msgpack:"message"`
}

type Client struct {
	Address any     `json:"address" msgpack:"address"`
	User    *User   `json:"user" msgpack:"user"`
	Agent   *string `json:"agent" msgpack:"agent"`
}

type User struct {
	Id        uint64  `json:"id" msgpack:"id"`
	Name      string  `json:"name" msgpack:"name"`
	ErrorRate float64 `json:"error_rate" msgpack:"error_rate"`
	Zone      int8    `json:"zone" msgpack:"zone"`
}

type Request struct {
	Method  string            `json:"method" msgpack:"method"`
	Path    string            `json:"path" msgpack:"path"`
	Query   map[string]string `json:"query" msgpack:"query"`
	Headers map[string]string `json:"headers" msgpack:"headers"`
	Body    any               `json:"body" msgpack:"body"`
}

type Step struct {
	Name    string  `json:"name" msgpack:"name"`
	StartUs uint32  `json:"start_us" msgpack:"start_us"`
	TookUs  uint32  `json:"took_us" msgpack:"took_us"`
	Error   *string `json:"error" msgpack:"error"`
}

// shape makes new, empty values of a dataset and of the documents of its stream.
type shape struct{ value, item func() any }

func empty[T any]() any { return new(T) }

// shapes of the seeded datasets.
var shapes = map[string]shape{
	"people": {empty[[]Person], empty[Person]},
	"event":  {empty[Event], empty[Event]},
	"small":  {empty[Small], empty[Small]},
	"large":  {empty[Large], empty[Large]},
	"todos":  {empty[[]Todo], empty[Todo]},
	"log":    {empty[[]LogRecord], empty[LogRecord]},
}

// dynamic is the shape of what has no schema: a user's own data.
var dynamic = shape{empty[any], empty[any]}

// values are in a folder, and read when they are asked for. None is changed by anybody, so each is
// read once for a type.
type values struct {
	folder string
	known  map[valueID]any
}

type valueID struct {
	file string
	kind reflect.Type
}

// value gives a dataset's `value` or `sibling`, in what a call of the function empty makes.
func (v *values) value(dataset, kind string, empty func() any) (any, error) {
	value := empty()
	file := dataset + "." + kind + ".json"
	id := valueID{file, reflect.TypeOf(value)}
	if known, has := v.known[id]; has {
		return known, nil
	}
	tree, err := v.tree(file)
	if err != nil {
		return nil, err
	}
	if err := fill(reflect.ValueOf(value).Elem(), tree); err != nil {
		return nil, fmt.Errorf("%s: value%w", file, err)
	}
	v.keep(id, value)
	return value, nil
}

// items gives the documents of a dataset's stream, in what calls of the function empty make.
func (v *values) items(dataset string, empty func() any) ([]any, error) {
	file := dataset + ".items.json"
	id := valueID{file, reflect.TypeOf(empty())}
	if known, has := v.known[id]; has {
		return known.([]any), nil
	}
	tree, err := v.tree(file)
	if err != nil {
		return nil, err
	}
	list, isList := tree.([]any)
	if !isList {
		return nil, fmt.Errorf("%s: expected an array of documents, found %T", file, tree)
	}
	items := make([]any, len(list))
	for i := range list {
		items[i] = empty()
		if err := fill(reflect.ValueOf(items[i]).Elem(), list[i]); err != nil {
			return nil, fmt.Errorf("%s: value[%d]%w", file, i, err)
		}
	}
	v.keep(id, items)
	return items, nil
}

func (v *values) keep(id valueID, value any) {
	if v.known == nil {
		v.known = map[valueID]any{}
	}
	v.known[id] = value
}

// tree reads a file as it is: numbers are int64, uint64 beyond it, or float64.
func (v *values) tree(file string) (any, error) {
	if v.folder == "" {
		return nil, errors.New("WIREMARK_VALUES is not set: expected the folder with " + file)
	}
	in, err := os.Open(filepath.Join(v.folder, file))
	if err != nil {
		return nil, fmt.Errorf("WIREMARK_VALUES: %w", err)
	}
	defer in.Close()
	decoder := json.NewDecoder(in)
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: expected one JSON value, found something behind it", file)
	}
	if tree, err = exact(tree); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return tree, nil
}

// exact replaces the text of numbers.
func exact(tree any) (any, error) {
	var err error
	switch node := tree.(type) {
	case json.Number:
		return number(string(node))
	case []any:
		for i := range node {
			if node[i], err = exact(node[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range node {
			if node[key], err = exact(node[key]); err != nil {
				return nil, err
			}
		}
	}
	return tree, nil
}

func number(text string) (any, error) {
	if strings.ContainsAny(text, ".eE") {
		return strconv.ParseFloat(text, 64)
	}
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
		return whole, nil
	}
	return strconv.ParseUint(text, 10, 64)
}

// fill puts a tree into a variable of a type, strictly: what has no place is an error, and so is a
// field without content. The error begins with the place.
//
// A struct of nothing but pointers is an enum: one of them is set, by its name.
func fill(target reflect.Value, tree any) error {
	mismatch := func() error { return fmt.Errorf(": expected %s, found %T", target.Type(), tree) }
	switch target.Kind() {
	case reflect.Interface:
		if tree != nil {
			target.Set(reflect.ValueOf(tree))
		}
		return nil
	case reflect.Pointer:
		if tree == nil {
			return nil
		}
		target.Set(reflect.New(target.Type().Elem()))
		return fill(target.Elem(), tree)
	case reflect.Struct:
		return fillStruct(target, tree)
	case reflect.Slice:
		list, isList := tree.([]any)
		if !isList {
			return mismatch()
		}
		target.Set(reflect.MakeSlice(target.Type(), len(list), len(list)))
		for i := range list {
			if err := fill(target.Index(i), list[i]); err != nil {
				return fmt.Errorf("[%d]%w", i, err)
			}
		}
		return nil
	case reflect.Map:
		entries, isMap := tree.(map[string]any)
		if !isMap {
			return mismatch()
		}
		target.Set(reflect.MakeMapWithSize(target.Type(), len(entries)))
		for key := range entries {
			entry := reflect.New(target.Type().Elem()).Elem()
			if err := fill(entry, entries[key]); err != nil {
				return fmt.Errorf(".%s%w", key, err)
			}
			target.SetMapIndex(reflect.ValueOf(key), entry)
		}
		return nil
	}
	if tree == nil {
		return mismatch()
	}
	source := reflect.ValueOf(tree)
	if !source.CanConvert(target.Type()) || target.Kind() == reflect.String && source.Kind() != reflect.String {
		return mismatch()
	}
	target.Set(source.Convert(target.Type()))
	if diff(source, target, nil) != "" {
		return fmt.Errorf(": expected %s, found %T(%v)", target.Type(), tree, tree)
	}
	return nil
}

func fillStruct(target reflect.Value, tree any) error {
	entries := map[string]any{}
	switch tree := tree.(type) {
	case map[string]any:
		entries = tree
	case []any:
		for i := range tree {
			entries[fmt.Sprintf("F%d", i)] = tree[i]
		}
	case string:
		entries[tree] = map[string]any{}
	default:
		return fmt.Errorf(": expected %s, found %T", target.Type(), tree)
	}
	isEnum := target.NumField() > 0
	for i := 0; i < target.NumField(); i++ {
		isEnum = isEnum && target.Field(i).Kind() == reflect.Pointer
	}
	if wanted := target.NumField(); isEnum && len(entries) != 1 || !isEnum && len(entries) != wanted {
		return fmt.Errorf(": expected the fields of %s, found %d fields", target.Type(), len(entries))
	}
	for key := range entries {
		field := target.FieldByName(goName(key))
		if !field.IsValid() {
			return fmt.Errorf(": %s has no field %s for `%s`", target.Type(), goName(key), key)
		}
		if err := fill(field, entries[key]); err != nil {
			return fmt.Errorf(".%s%w", key, err)
		}
	}
	return nil
}

// goName makes FirstName of first_name.
func goName(name string) string {
	var out strings.Builder
	for _, part := range strings.Split(name, "_") {
		if part != "" {
			out.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return out.String()
}
