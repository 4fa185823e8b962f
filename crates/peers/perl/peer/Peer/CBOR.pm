# CBOR by CBOR::XS: text as CBOR's text, and as the module has it by itself. What is inside the
# clock stands in Clock.pm.
#
# By itself it writes text beyond ASCII as text and all other text as bytes. Readers that know
# types want text, and `text_strings` is what the manual has for them. Reading is the
# same for both, but text takes longer to read.
package Peer::CBOR;
use v5.36;
use CBOR::XS qw(decode_cbor encode_cbor);
use Types::Serialiser;

sub reused ($cbor) {
    return (
        encode => sub {
            my $out;
            $out = $cbor->encode( $_[1] ) for 1 .. $_[0];
            return $out;
        },
        decode => sub ( $times, $bytes ) {
            my $out;
            $out = $cbor->decode($bytes) for 1 .. $times;
            return $out;
        },
    );
}

sub fresh_decode {
    return decode => sub ( $times, $bytes ) {
        my $out;
        $out = decode_cbor($bytes) for 1 .. $times;
        return $out;
    };
}

sub fresh {
    return (
        encode => sub {
            my $out;
            $out = encode_cbor( $_[1] ) for 1 .. $_[0];
            return $out;
        },
        fresh_decode(),
    );
}

# No function takes options, so each document has an object of its own.
sub fresh_text {
    return (
        encode => sub {
            my $out;
            $out = CBOR::XS->new->text_strings->encode( $_[1] ) for 1 .. $_[0];
            return $out;
        },
        fresh_decode(),
    );
}

# Documents one behind the other in one string that is kept. The parser takes off the string what
# it has read, so that it works on a copy.
sub stream ($cbor) {
    my $out;
    return (
        encode => sub ( $times, $items ) {
            for ( 1 .. $times ) {
                $out = '';
                $out .= $cbor->encode($_) for @$items;
            }
            return \$out;
        },
        decode => sub ( $times, $bytes ) {
            my @out;
            @out = $cbor->incr_parse_multiple( my $rest = $bytes ) for 1 .. $times;
            return \@out;
        },
    );
}

sub codecs {
    my %both = (
        version => $CBOR::XS::VERSION,
        true    => $Types::Serialiser::true,
        false   => $Types::Serialiser::false,
    );
    my $text = sub { CBOR::XS->new->text_strings };
    return (
        {
            %both,
            id    => 'cbor/perl:CBOR::XS',
            modes => {
                reused => sub { reused( $text->() ) },
                fresh  => \&fresh_text,
                stream => sub { stream( $text->() ) },
            },
        },
        {
            %both,
            id    => 'cbor/perl:CBOR::XS/bytes',
            modes => {
                reused => sub { reused( CBOR::XS->new ) },
                fresh  => \&fresh,
                stream => sub { stream( CBOR::XS->new ) },
            },
        },
    );
}

1;
