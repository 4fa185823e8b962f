// Whether a value came back: its types, lengths and every number and text. Nothing is timed here.

package main

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
)

// diff says where and how two values differ, beginning with the place; nothing if they do not.
//
// What Go or a library cannot tell apart is the same: a slice or a map that is empty or nil; and in
// an `any`, a whole number of one width and of another. A whole number and a float are not the same
// unless loose is there to be told of it, and they are equal in value.
func diff(want, have reflect.Value, loose *bool) string {
	for want.Kind() == reflect.Interface {
		want = want.Elem()
	}
	for have.Kind() == reflect.Interface {
		have = have.Elem()
	}
	if !want.IsValid() || !have.IsValid() {
		if want.IsValid() == have.IsValid() {
			return ""
		}
		return changed(want, have)
	}
	if isNumber(want) && isNumber(have) {
		return diffNumbers(want, have, loose)
	}
	if want.Kind() != have.Kind() {
		return changed(want, have)
	}
	switch want.Kind() {
	case reflect.Pointer:
		if want.IsNil() || have.IsNil() {
			if want.IsNil() == have.IsNil() {
				return ""
			}
			return changed(want, have)
		}
		return diff(want.Elem(), have.Elem(), loose)
	case reflect.Struct:
		for i := 0; i < want.NumField(); i++ {
			if what := diff(want.Field(i), have.Field(i), loose); what != "" {
				return "." + want.Type().Field(i).Name + what
			}
		}
		return ""
	case reflect.Slice:
		if want.Len() != have.Len() {
			return fmt.Sprintf(": %d elements came back as %d", want.Len(), have.Len())
		}
		for i := 0; i < want.Len(); i++ {
			if what := diff(want.Index(i), have.Index(i), loose); what != "" {
				return fmt.Sprintf("[%d]%s", i, what)
			}
		}
		return ""
	case reflect.Map:
		if want.Len() != have.Len() {
			return fmt.Sprintf(": %d entries came back as %d", want.Len(), have.Len())
		}
		if want.Type().Key() != have.Type().Key() {
			return changed(want, have)
		}
		for entries := want.MapRange(); entries.Next(); {
			other := have.MapIndex(entries.Key())
			if !other.IsValid() {
				return fmt.Sprintf(".%v: is missing", entries.Key())
			}
			if what := diff(entries.Value(), other, loose); what != "" {
				return fmt.Sprintf(".%v%s", entries.Key(), what)
			}
		}
		return ""
	case reflect.String:
		if want.String() == have.String() {
			return ""
		}
	case reflect.Bool:
		if want.Bool() == have.Bool() {
			return ""
		}
	}
	return changed(want, have)
}

func isNumber(value reflect.Value) bool {
	return isWhole(value) || value.CanFloat()
}

func isWhole(value reflect.Value) bool { return value.CanInt() || value.CanUint() }

func diffNumbers(want, have reflect.Value, loose *bool) string {
	if want.CanFloat() && have.CanFloat() {
		if math.Float64bits(want.Float()) != math.Float64bits(have.Float()) {
			return changed(want, have)
		}
		return ""
	}
	same := valueOf(want) != nil && valueOf(have) != nil && valueOf(want).Cmp(valueOf(have)) == 0
	if isWhole(want) != isWhole(have) && same && loose != nil {
		*loose = true
		return ""
	}
	if !same || isWhole(want) != isWhole(have) {
		return changed(want, have)
	}
	return ""
}

// valueOf a number is exact; nil for those that have none.
func valueOf(number reflect.Value) *big.Rat {
	switch {
	case number.CanInt():
		return new(big.Rat).SetInt64(number.Int())
	case number.CanUint():
		return new(big.Rat).SetUint64(number.Uint())
	default:
		return new(big.Rat).SetFloat64(number.Float())
	}
}

func changed(want, have reflect.Value) string {
	return fmt.Sprintf(": %s came back as %s", show(want), show(have))
}

func show(value reflect.Value) string {
	if !value.IsValid() {
		return "nil"
	}
	text := fmt.Sprintf("%v", value)
	if value.Kind() == reflect.String {
		text = fmt.Sprintf("%q", value.String())
	}
	const most = 80
	if len(text) > most {
		text = text[:most] + "…"
	}
	return fmt.Sprintf("%s(%s)", value.Type(), text)
}
