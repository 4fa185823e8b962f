//go:build ugorji

// github.com/ugorji/go/codec: MessagePack and CBOR. Inside the clock: Encode or Decode over bytes, the
// fastest form that its documentation names. The handle is always kept, as the documentation asks;
// reused also keeps the encoder (with its bytes) or decoder and resets it, fresh makes a new one.
//
// Strings are written as the present MessagePack has them (WriteExt), and maps of unknown type are
// map[string]any. The library reaches into Go's runtime, and a release of it knows only those that were there
// before it: with a Go much newer than the library, leave the tag out.

package main

import (
	"reflect"

	ugorji "github.com/ugorji/go/codec"
)

func init() {
	version := libraryVersion("github.com/ugorji/go/codec")
	anyMap := reflect.TypeOf(map[string]any(nil))

	msgpack := &ugorji.MsgpackHandle{WriteExt: true}
	msgpack.MapType = anyMap
	cbor := &ugorji.CborHandle{}
	cbor.MapType = anyMap

	codecs = append(codecs,
		codec{
			id:      "msgpack/go:ugorji",
			version: version,
			open:    func(mode string) coder { return openUgorji(mode, msgpack) },
		},
		codec{
			id:      "cbor/go:ugorji",
			version: version,
			open:    func(mode string) coder { return openUgorji(mode, cbor) },
		},
	)
}

func openUgorji(mode string, handle ugorji.Handle) coder {
	if mode == "fresh" {
		return coder{
			encode: func(value any) (out []byte, err error) {
				err = ugorji.NewEncoderBytes(&out, handle).Encode(value)
				return out, err
			},
			decode: func(text []byte, into any) error {
				return ugorji.NewDecoderBytes(text, handle).Decode(into)
			},
		}
	}
	var out []byte
	encoder := ugorji.NewEncoderBytes(&out, handle)
	decoder := ugorji.NewDecoderBytes(nil, handle)
	if mode == "stream" {
		return coder{
			encodeAll: func(items []any) ([]byte, error) {
				encoder.ResetBytes(&out)
				for _, item := range items {
					if err := encoder.Encode(item); err != nil {
						return nil, err
					}
				}
				return out, nil
			},
			decodeAll: func(text []byte, item func() any, all []any) ([]any, error) {
				decoder.ResetBytes(text)
				return untilEOF(decoder, item, all)
			},
		}
	}
	return coder{
		encode: func(value any) ([]byte, error) {
			encoder.ResetBytes(&out)
			err := encoder.Encode(value)
			return out, err
		},
		decode: func(text []byte, into any) error {
			decoder.ResetBytes(text)
			return decoder.Decode(into)
		},
	}
}
