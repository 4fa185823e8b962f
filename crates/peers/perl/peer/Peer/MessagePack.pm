# MessagePack by Data::MessagePack. What is inside the clock stands in Clock.pm.
#
# With `utf8`, text goes out as MessagePack's text and comes back as text, at no cost that could be
# measured; without, all text is bytes, both ways. `prefer_integer` stays off, since it makes
# numbers of text that looks like one. Streams are left out: the module's manual calls its own
# unpacker for them deprecated, with a critical issue.
package Peer::MessagePack;
use v5.36;
use Data::MessagePack;

# Where its C part does not load, the module goes on with one in Perl and says nothing.
die "Data::MessagePack is here without its part in C\n" if $INC{'Data/MessagePack/PP.pm'};

sub reused {
    my $mp = Data::MessagePack->new->utf8;
    return (
        encode => sub {
            my $out;
            $out = $mp->pack( $_[1] ) for 1 .. $_[0];
            return $out;
        },
        decode => sub ( $times, $bytes ) {
            my $out;
            $out = $mp->unpack($bytes) for 1 .. $times;
            return $out;
        },
    );
}

# The class's own methods take no options, so each document has an object of its own.
sub fresh {
    return (
        encode => sub {
            my $out;
            $out = Data::MessagePack->new->utf8->pack( $_[1] ) for 1 .. $_[0];
            return $out;
        },
        decode => sub ( $times, $bytes ) {
            my $out;
            $out = Data::MessagePack->new->utf8->unpack($bytes) for 1 .. $times;
            return $out;
        },
    );
}

sub codecs {
    return {
        id      => 'msgpack/perl:Data::MessagePack',
        version => $Data::MessagePack::VERSION,
        true    => Data::MessagePack::true(),
        false   => Data::MessagePack::false(),
        modes   => { reused => \&reused, fresh => \&fresh },
    };
}

1;
