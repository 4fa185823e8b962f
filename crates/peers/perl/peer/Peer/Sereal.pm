# Sereal: in its fastest form with and without shared keys, and by methods. What is inside the
# clock stands in Clock.pm.
#
# The fastest form has an object as its first argument: perl compiles it to an operator of its
# own. Its result is assigned: decoding into a variable that holds the last one takes half as
# long again for `small`, and twice as long for `large`.
package Peer::Sereal;
use v5.36;
use Peer::Files     qw(persist whole);
use Sereal::Decoder qw(decode_sereal sereal_decode_with_object);
use Sereal::Encoder qw(encode_sereal sereal_encode_with_object);

sub operators ($options) {
    my ( $encoder, $decoder ) = ( Sereal::Encoder->new($options), Sereal::Decoder->new );
    return (
        encode => sub {
            my $out;
            $out = sereal_encode_with_object( $encoder, $_[1] ) for 1 .. $_[0];
            return $out;
        },
        decode => sub ( $times, $bytes ) {
            my $out;
            $out = sereal_decode_with_object( $decoder, $bytes ) for 1 .. $times;
            return $out;
        },
    );
}

sub functions ($options) {
    return (
        encode => sub {
            my $out;
            $out = encode_sereal( $_[1], $options ) for 1 .. $_[0];
            return $out;
        },
        decode => sub ( $times, $bytes ) {
            my $out;
            $out = decode_sereal($bytes) for 1 .. $times;
            return $out;
        },
    );
}

# Documents one behind the other in one string that is kept. The decoder takes off the string
# what it has read, so that it works on a copy.
sub stream ($options) {
    my $encoder = Sereal::Encoder->new($options);
    my $decoder = Sereal::Decoder->new( { incremental => 1 } );
    my $out;
    return (
        encode => sub ( $times, $items ) {
            for ( 1 .. $times ) {
                $out = '';
                $out .= sereal_encode_with_object( $encoder, $_ ) for @$items;
            }
            return \$out;
        },
        decode => sub ( $times, $bytes ) {
            my @out;
            for ( 1 .. $times ) {
                my $rest = $bytes;
                @out = ();
                push @out, sereal_decode_with_object( $decoder, $rest ) while length $rest;
            }
            return \@out;
        },
    );
}

sub methods {
    my ( $encoder, $decoder ) = ( Sereal::Encoder->new, Sereal::Decoder->new );
    return (
        encode => sub {
            my $out;
            $out = $encoder->encode( $_[1] ) for 1 .. $_[0];
            return $out;
        },
        decode => sub ( $times, $bytes ) {
            my $out;
            $out = $decoder->decode($bytes) for 1 .. $times;
            return $out;
        },
    );
}

sub new_objects {
    return (
        encode => sub {
            my $out;
            $out = Sereal::Encoder->new->encode( $_[1] ) for 1 .. $_[0];
            return $out;
        },
        decode => sub ( $times, $bytes ) {
            my $out;
            $out = Sereal::Decoder->new->decode($bytes) for 1 .. $times;
            return $out;
        },
    );
}

sub fastest ($options) {
    return {
        reused => sub { operators($options) },
        fresh  => sub { functions($options) },
        stream => sub { stream($options) },
    };
}

# Perl's own truth values: Sereal has tags for them since its fifth version.
sub codecs {
    my %all      = ( version => $Sereal::Encoder::VERSION, true => !!1, false => !!0 );
    my $unshared = { no_shared_hashkeys => 1 };
    return (
        {
            %all,
            id    => 'sereal/perl:Sereal',
            modes => fastest($unshared),
            ways  => persist( whole => whole => sub { whole( operators($unshared) ) } ),
        },
        { %all, id => 'sereal/perl:Sereal/shared', modes => fastest( {} ) },
        {
            %all,
            id    => 'sereal/perl:Sereal/oo',
            modes => { reused => \&methods, fresh => \&new_objects },
        },
    );
}

1;
