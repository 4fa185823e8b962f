# How long Perl's Sereal and Storable take for the values `small` and `large`: processor time, lower
# quartile of batches without that of the empty loop, as lines of name and nanoseconds. The Rust
# program of the same job is in the folder rust.
#
# A call is in the form that is fastest: Sereal's with an object as the first argument, which perl
# compiles to an operator of its own, and whose result is assigned: decoding into a variable that
# holds the last one takes half as long again for `small`, and twice as long for `large`. The result
# of one call is freed by the next.
use strict;
use warnings;
use Sereal::Decoder qw(sereal_decode_with_object);
use Sereal::Encoder qw(sereal_encode_with_object);
use Storable qw(freeze nfreeze thaw);
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

use constant BATCH => 0.004;
use constant BATCHES => 40;

# Made anew for each use: a number that was printed once is text as well.
sub small { return { a => 1, b => 2, c => 3, d => 'four', e => 5.018 } }
sub large { return { %{ small() }, f => [ 1 .. 1000 ] } }

sub quartile {
    my ($work) = @_;
    my ( $count, @each ) = (1);
    while ( @each < BATCHES ) {
        my $start = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
        $work->($count);
        my $took = clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $start;
        if ( $took < BATCH ) { $count *= 2; @each = (); next }
        push @each, $took / $count;
    }
    return ( sort { $a <=> $b } @each )[ BATCHES / 4 ] * 1e9;
}

my $only  = shift;
my $empty = quartile( sub { my $out; for ( 1 .. $_[0] ) { } } );

sub measure {
    my ( $name, $work ) = @_;
    return if defined $only && index( $name, $only ) < 0;
    printf "%s %.1f\n", $name, quartile($work) - $empty;
    return;
}

for ( [ small => \&small ], [ large => \&large ] ) {
    my ( $size, $make ) = @$_;

    my $value   = $make->();
    my $shared  = Sereal::Encoder->new;
    my $encoder = Sereal::Encoder->new( { no_shared_hashkeys => 1 } );
    my $decoder = Sereal::Decoder->new;
    my $sereal  = $encoder->encode( $make->() );
    measure( "sereal/encode/$size",
        sub { my $out; for ( 1 .. $_[0] ) { $out = sereal_encode_with_object( $encoder, $value ) } } );
    measure( "sereal/encode-shared/$size",
        sub { my $out; for ( 1 .. $_[0] ) { $out = sereal_encode_with_object( $shared, $value ) } } );
    measure( "sereal/decode/$size",
        sub { my $out; for ( 1 .. $_[0] ) { $out = sereal_decode_with_object( $decoder, $sereal ) } } );

    $value = $make->();
    my ( $native, $network ) = ( freeze( $make->() ), nfreeze( $make->() ) );
    measure( "storable/encode-native/$size",
        sub { my $out; for ( 1 .. $_[0] ) { $out = freeze($value) } } );
    measure( "storable/encode-network/$size",
        sub { my $out; for ( 1 .. $_[0] ) { $out = nfreeze($value) } } );
    measure( "storable/decode-native/$size",
        sub { my $out; for ( 1 .. $_[0] ) { $out = thaw($native) } } );
    measure( "storable/decode-network/$size",
        sub { my $out; for ( 1 .. $_[0] ) { $out = thaw($network) } } );
}
