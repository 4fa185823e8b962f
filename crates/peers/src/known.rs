//! The list: every codec of another language that a run can show, whether it is installed or not.

use wiremark_record::Codec;

/// A language whose programs are peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Go, by the compiler of the Go project.
    Go,
    /// Perl 5.
    Perl,
}

impl Language {
    /// What brings the language itself.
    pub const fn cure(self) -> &'static str {
        match self {
            Self::Go => "apt-get install golang-go",
            Self::Perl => "apt-get install perl",
        }
    }

    /// As people write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Go => "Go",
            Self::Perl => "Perl",
        }
    }
}

/// A codec of another language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// `format/language:library[/variant]`.
    pub id: &'static str,
    /// As our own codecs of the wire format name it, so that they stand together.
    pub format: &'static str,
    /// As its users call it.
    pub library: &'static str,
    /// The language.
    pub language: Language,
    /// What brings the library, if it does not come with the language.
    pub cure: &'static str,
    /// The tag under which a Go program holds it; empty for the standard library and for Perl.
    pub tag: &'static str,
    /// What Go calls the package; empty for the standard library and for Perl.
    pub import: &'static str,
    /// SPDX expression.
    pub license: &'static str,
    /// How documents of a stream follow one another.
    pub framing: &'static str,
    /// What is inside the clock that one may not expect.
    pub inside: &'static str,
    /// Whether it takes part in exports alone: it writes lines, or asks a database for rows.
    pub is_for_exports: bool,
}

const GO: &str = "processor time of the whole process, the collector's threads included; decodes \
                  into a new value, whose memory the collector takes back";
const PERL: &str = "processor time of the whole process; a call's result is assigned, and the one \
                    before it freed, inside the clock, with the loop around the call";

const fn go(id: &'static str, format: &'static str, library: &'static str) -> Known {
    Known {
        id,
        format,
        library,
        language: Language::Go,
        cure: "",
        tag: "",
        import: "",
        license: "BSD-3-Clause",
        framing: "self-delimiting",
        inside: GO,
        is_for_exports: false,
    }
}

const fn perl(
    id: &'static str,
    format: &'static str,
    library: &'static str,
    cure: &'static str,
) -> Known {
    Known {
        id,
        format,
        library,
        language: Language::Perl,
        cure,
        tag: "",
        import: "",
        license: "Artistic-1.0-Perl OR GPL-1.0-or-later",
        framing: "none",
        inside: PERL,
        is_for_exports: false,
    }
}

const UGORJI: Known = Known {
    cure: "apt-get install golang-github-ugorji-go-codec-dev golang-go (a Go before 1.24: the \
           library is wrong on later ones)",
    tag: "ugorji",
    import: "github.com/ugorji/go/codec",
    license: "MIT",
    ..go("msgpack/go:ugorji", "MessagePack", "ugorji/go/codec")
};

const CBOR_XS: Known = Known {
    license: "GPL-1.0-or-later",
    ..perl("cbor/perl:CBOR::XS", "CBOR", "CBOR::XS", "apt-get install libcbor-xs-perl")
};

const SEREAL: Known =
    perl("sereal/perl:Sereal", "Sereal", "Sereal", "apt-get install libsereal-perl");

const STORABLE: Known =
    perl("storable/perl:Storable/network", "Storable", "Storable", Language::Perl.cure());

const fn lines(known: Known) -> Known {
    Known { framing: "lines", is_for_exports: true, ..known }
}

/// All, in the order in which tables without figures name them.
pub const KNOWN: &[Known] = &[
    go("gob/go:encoding-gob", "gob", "encoding/gob"),
    Known {
        framing: "lines",
        ..go("json/go:encoding-json/compact", "JSON", "encoding/json")
    },
    go("json/go:encoding-json/pretty", "JSON", "encoding/json"),
    UGORJI,
    Known {
        cure: "apt-get install golang-github-vmihailenco-msgpack.v5-dev",
        tag: "vmihailenco",
        import: "github.com/vmihailenco/msgpack/v5",
        license: "BSD-2-Clause",
        ..go("msgpack/go:vmihailenco", "MessagePack", "vmihailenco/msgpack")
    },
    Known { id: "cbor/go:ugorji", format: "CBOR", ..UGORJI },
    Known {
        cure: "apt-get install golang-github-fxamacker-cbor-dev",
        tag: "fxamacker",
        import: "github.com/fxamacker/cbor",
        license: "MIT",
        ..go("cbor/go:fxamacker", "CBOR", "fxamacker/cbor")
    },
    perl("json/perl:JSON::XS", "JSON", "JSON::XS", "apt-get install libjson-xs-perl"),
    CBOR_XS,
    Known {
        id: "cbor/perl:CBOR::XS/bytes",
        inside: "its default: text goes out as bytes, which typed readers refuse; the time is the \
                 whole process's, with freeing the result before",
        ..CBOR_XS
    },
    perl(
        "msgpack/perl:Data::MessagePack",
        "MessagePack",
        "Data::MessagePack",
        "apt-get install libdata-messagepack-perl",
    ),
    SEREAL,
    Known { id: "sereal/perl:Sereal/shared", ..SEREAL },
    Known { id: "sereal/perl:Sereal/oo", ..SEREAL },
    STORABLE,
    Known { id: "storable/perl:Storable/native", ..STORABLE },
    lines(go("text/go:fmt", "text", "fmt")),
    lines(go("text/go:append", "text", "strconv")),
    lines(perl("text/perl:print", "text", "print", Language::Perl.cure())),
    Known {
        cure: "apt-get install golang-github-lib-pq-dev",
        tag: "pq",
        import: "github.com/lib/pq",
        license: "MIT",
        framing: "none",
        is_for_exports: true,
        ..go("sql/go:lib-pq", "sql", "lib/pq")
    },
];

impl Known {
    /// The codec as a record has it. `program` is that of the peer; without a version the library
    /// is not here.
    pub fn record(&self, program: &str, version: Option<&str>) -> Codec {
        Codec {
            id: self.id.to_owned(),
            format: self.format.to_owned(),
            library: self.library.to_owned(),
            version: version.unwrap_or("not here").to_owned(),
            spec: "as our own codecs of the format".to_owned(),
            license: self.license.to_owned(),
            maintained: true,
            advisory: None,
            role: "codec".to_owned(),
            framing: self.framing.to_owned(),
            trailing: "not asked".to_owned(),
            caveat: self.inside.to_owned(),
            peer: Some(program.to_owned()),
        }
    }

    /// What to do to have it.
    pub fn cure(&self) -> &'static str {
        if self.cure.is_empty() { self.language.cure() } else { self.cure }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_codec_has_a_name_of_its_own_that_tells_its_language() {
        let mut seen = BTreeSet::new();
        for known in KNOWN {
            assert!(seen.insert(known.id), "{} stands twice", known.id);
            let language = match known.language {
                Language::Go => "/go:",
                Language::Perl => "/perl:",
            };
            assert!(known.id.contains(language), "{}", known.id);
            assert!(known.cure().starts_with("apt-get install "), "{}", known.id);
            assert_eq!(known.tag.is_empty(), known.import.is_empty(), "{}", known.id);
        }
    }
}
