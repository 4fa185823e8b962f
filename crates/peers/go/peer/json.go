// encoding/json, of the standard library, compact and indented by two spaces. Inside the clock:
// fresh is Marshal or MarshalIndent; reused is an Encoder kept on a buffer, which ends each document
// with a line feed, and Unmarshal, which keeps nothing, so that there is no fresh decoding. A stream is
// one Encoder or one Decoder for all documents. Options are the library's own: <, > and & in text are
// escaped.
//
// Decoded into `any`, a number is a float64, whatever it was. That is what the plain call does;
// UseNumber would be exact, and leave the parsing of each number to the reader of the value.

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
)

func init() {
	add := func(variant, indent string) {
		codecs = append(codecs, codec{
			id:      "json/go:encoding-json/" + variant,
			version: runtime.Version(),
			mapping: "a number of unknown type comes back as float64, equal in value",
			open:    func(mode string) coder { return openJSON(mode, indent) },
			encoder: func(w io.Writer) encoder {
				encoder := json.NewEncoder(w)
				encoder.SetIndent("", indent)
				return encoder
			},
			decoder: func(r io.Reader) decoder { return json.NewDecoder(r) },
		})
	}
	add("compact", "")
	add("pretty", "  ")
}

func openJSON(mode, indent string) coder {
	if mode == "fresh" {
		if indent == "" {
			return coder{encode: json.Marshal}
		}
		return coder{encode: func(value any) ([]byte, error) {
			return json.MarshalIndent(value, "", indent)
		}}
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	if indent != "" {
		encoder.SetIndent("", indent)
	}
	if mode == "stream" {
		return coder{
			encodeAll: func(items []any) ([]byte, error) {
				buffer.Reset()
				for _, item := range items {
					if err := encoder.Encode(item); err != nil {
						return nil, err
					}
				}
				return buffer.Bytes(), nil
			},
			decodeAll: func(text []byte, item func() any, all []any) ([]any, error) {
				return untilEOF(json.NewDecoder(bytes.NewReader(text)), item, all)
			},
		}
	}
	return coder{
		encode: func(value any) ([]byte, error) {
			buffer.Reset()
			err := encoder.Encode(value)
			return buffer.Bytes(), err
		},
		decode: json.Unmarshal,
	}
}
