# Storable in network order, which all machines read, and in the machine's own. What is inside the
# clock stands in Clock.pm.
#
# It has functions only: nothing can be kept, and all is listed as `reused`. In network order,
# fractions and integers beyond 32 bits are text. Perl keeps the text of an integer with it once
# it was made, so that only the first of many calls with one value makes it.
package Peer::Storable;
use v5.36;
use Peer::Files qw(persist);
use Storable    qw(freeze nfreeze nstore retrieve store thaw);

# An image that ends early is no error to it, but undefined.
sub decoder {
    return decode => sub ( $times, $bytes ) {
        my $out;
        $out = thaw($bytes) for 1 .. $times;
        return $out;
    };
}

sub network {
    return (
        encode => sub {
            my $out;
            $out = nfreeze( $_[1] ) for 1 .. $_[0];
            return $out;
        },
        decoder(),
    );
}

sub native {
    return (
        encode => sub {
            my $out;
            $out = freeze( $_[1] ) for 1 .. $_[0];
            return $out;
        },
        decoder(),
    );
}

# Its own functions for files. They give away errors by dying, or by an undefined result.
sub files ($store) {
    return {
        write => sub { $store->( $_[1], $_[0] ) // die "cannot store $_[0]\n" },
        read  => sub ($path) { retrieve($path) // die "cannot retrieve $path\n" },
        calls => sub { 'Storable writes and reads through buffers that do not count' },
    };
}

# Perl's own truth values, which this version writes as text: "1" and nothing.
sub codecs {
    my %both = ( version => $Storable::VERSION, true => !!1, false => !!0 );
    return (
        {
            %both,
            id    => 'storable/perl:Storable/network',
            modes => { reused => \&network },
            ways  => persist( store => retrieve => sub { files( \&nstore ) } ),
        },
        {
            %both,
            id    => 'storable/perl:Storable/native',
            modes => { reused => \&native },
            ways  => persist( store => retrieve => sub { files( \&store ) } ),
        },
    );
}

1;
