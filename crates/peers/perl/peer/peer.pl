# Perl's serializers as a peer of the Rust codecs: the program that the protocol of peers calls.
#
# It answers the verbs; the folder Peer has a module for each library, for files, for values and
# for the clock, where it stands what is inside of it. It needs perl 5.36 and nothing beyond the
# core; a library that is not installed leaves out its codecs.
use v5.36;
use FindBin ();
use lib $FindBin::Bin;
use JSON::PP ();
use POSIX    ();
use Peer::Clock  qw(samples);
use Peer::Values qw(difference load slurp);

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
STDOUT->autoflush;

my %library = (
    json     => 'JSON',
    cbor     => 'CBOR',
    msgpack  => 'MessagePack',
    sereal   => 'Sereal',
    storable => 'Storable',
);

my %verb = (
    version  => \&version,
    list     => \&list,
    check    => \&check,
    measure  => \&measure,
    exchange => \&exchange,
);

my ( $name, @arguments ) = @ARGV;
my $verb = $verb{ $name // '' };
my $done = eval {
    die 'say one of ' . join( ', ', sort keys %verb ) . "\n" if !$verb;
    $verb->(@arguments);
    1;
};
if ( !$done ) {
    print STDERR "error: $@";
    exit 1;
}

sub say_json ($answer) { say $json->encode($answer) }

# The codecs of a library; none if it is not installed.
sub codecs_of ($format) {
    my $module = 'Peer::' . $library{$format};
    return if !eval "require $module";
    return $module->can('codecs')->();
}

sub all_codecs { return map { codecs_of($_) } sort keys %library }

sub codec ($id) {
    my ($format) = split m{/}, $id;
    my ($codec)  = grep { $_->{id} eq $id } exists $library{$format} ? codecs_of($format) : ();
    return $codec // die "no codec is called $id here: see the verb `version`\n";
}

sub request {
    my $text    = $ENV{WIREMARK_REQUEST} // die "WIREMARK_REQUEST is not set: it holds the request as JSON\n";
    my $request = eval { $json->decode($text) } // die "WIREMARK_REQUEST is no JSON: $@";
    return $request;
}

sub datasets ($request) { return ( @{ $request->{datasets} // [] }, map { $_->{id} } @{ $request->{files} // [] } ) }

# A value of a dataset, made for a codec, or with perl's own truth values to compare with.
sub value ( $dataset, $which, $codec = { true => !!1, false => !!0 } ) {
    my $folder = $ENV{WIREMARK_VALUES} // die "WIREMARK_VALUES is not set: it names the folder of the values\n";
    return load( "$folder/$dataset.$which.pl", $codec->{true}, $codec->{false} );
}

# The same to compare with, which changes nothing in it.
sub expected ( $dataset, $which ) {
    state %made;
    return $made{"$dataset.$which"} //= value( $dataset, $which );
}

sub version {
    my %libraries = map { $_->{id} => "$_->{version}" } all_codecs();
    say_json( { version => { program => "perl $^V" =~ s/v//r, libraries => \%libraries } } );
}

sub list {
    my @codecs = all_codecs();
    for my $dataset ( datasets( request() ) ) {
        my $items = value( $dataset, 'items' );
        for my $codec (@codecs) {
            for my $mode ( sort keys %{ $codec->{modes} } ) {
                my $documents = $mode eq 'stream' ? @$items : 1;
                for my $operation (qw(encode decode)) {
                    my %id = ( operation => $operation, dataset => $dataset, codec => $codec->{id}, mode => $mode );
                    say_json( { cell => { id => \%id, documents => $documents } } );
                }
            }
        }
    }
}

# Ids of cells from standard input.
sub each_line ($do) {
    while ( my $line = <STDIN> ) {
        next if $line !~ /\S/;
        $do->( eval { $json->decode($line) } // die "standard input, line $.: no JSON: $@" );
    }
}

sub check {
    each_line(
        sub ($id) {
            say_json( { begin => $id } );
            my %cell = ( %$id, documents => 1, missing => { counts => 'Perl does not tell' } );

            # Both operations of a codec are one check.
            state %found;
            my $found = $found{"$id->{dataset} $id->{codec} $id->{mode}"} //= { checked($id) };
            say_json( { checked => { %cell, %$found } } );
        }
    );
}

# What is found of a cell: status, size, and how what comes back compares with what went in.
sub checked ($id) {
    my ( $codec, %functions ) = functions($id);
    my $is_stream = $id->{mode} eq 'stream';
    my ( $size, %mappings );
    for my $which ( $is_stream ? 'items' : qw(value sibling value) ) {
        my $value = value( $id->{dataset}, $which, $codec );
        my $bytes = eval { $functions{encode}->( 1, $value ) };
        return refusal( unsupported => 'failed to encode: ' . reason() ) if !defined $bytes;
        my $back = eval { $functions{decode}->( 1, $bytes ) };
        return refusal( failed => 'failed to decode: ' . reason() ) if $@;
        my $found = difference( expected( $id->{dataset}, $which ), $back, \%mappings );
        return refusal( failed => "came back changed: $found" ) if defined $found;
        $size //= length $bytes;
    }
    return (
        status     => 'skipped',
        round_trip => ( grep { !$_ } values %mappings ) ? JSON::PP::false : JSON::PP::true,
        documents  => $is_stream ? scalar @{ expected( $id->{dataset}, 'items' ) } : 1,
        size_bytes => $size,
        mapped( \%mappings ),
    );
}

sub mapped ($mappings) { return %$mappings ? ( mapping => join '; ', sort keys %$mappings ) : () }

sub refusal ( $status, $reason ) {
    return ( status => $status, reason => $reason, $status eq 'failed' ? ( round_trip => JSON::PP::false ) : () );
}

# What was wrong, without the places in programs that perl puts behind it.
sub reason { return $@ =~ s/,? at \S+ line [0-9]+\.?//gr =~ s/\s+\z//r }

sub functions ($id) {
    my $codec = codec( $id->{codec} );
    my $mode  = $codec->{modes}{ $id->{mode} } // die "$id->{codec} has no mode $id->{mode}\n";
    return ( $codec, $mode->() );
}

sub measure ( $text = '', @ ) {
    my $id = eval { $json->decode($text) } // die "measure needs the id of a cell as JSON: $@";
    my ( $codec, %functions ) = functions($id);
    my $batch   = $functions{ $id->{operation} } // die "no operation is called $id->{operation}\n";
    my $subject = value( $id->{dataset}, $id->{mode} eq 'stream' ? 'items' : 'value', $codec );
    $subject = $functions{encode}->( 1, $subject ) if $id->{operation} eq 'decode';

    my $work    = { clock => 1, batch => sub ( $times, @ ) { $batch->( $times, $subject ) } };
    my @samples = samples( $work, request()->{sampling}, $ENV{WIREMARK_TURNS} && \&wait_for_turn );
    say_json( { sampled => [ $id, { samples => \@samples } ] } );
}

sub wait_for_turn {
    say 'wiremark: my turn';
    <STDIN> // die "whoever gave the turns has gone\n";
}

sub exchange {
    each_line( sub ($leg) { say_json( { exchanged => apart( sub { exchanged($leg) } ) } ) } );
}

# Does something in a process of its own: bad bytes can crash a library written in C.
sub apart ($do) {
    my $child = open( my $from, '-|' ) // die "cannot start a process: $!\n";
    if ( !$child ) {
        my $answer = eval { $do->() } // { verdict => 'refused', reason => reason() };
        say_json($answer);

        # Without the usual end, which would put back what was read ahead of standard input.
        POSIX::_exit(0);
    }
    my $answer = <$from>;
    close $from;
    return $json->decode($answer) if $? == 0;
    return { verdict => 'refused', reason => 'the library crashed by signal ' . ( $? & 127 ) };
}

sub exchanged ($leg) {
    my $codec     = codec( $leg->{codec} );
    my %functions = ( $codec->{modes}{reused} )->();
    my ( %mappings, $value );
    if ( defined $leg->{read} ) {
        my $bytes = slurp( $leg->{read} );
        my $back  = $functions{decode}->( 1, $bytes );
        my $sent  = expected( $leg->{dataset}, 'value' );
        die "decoding gave nothing\n" if defined $sent && !defined $back;
        my $found = difference( $sent, $back, \%mappings );
        return { verdict => 'changed', reason => $found } if defined $found;
        $value = $back;
    }
    else {
        $value = value( $leg->{dataset}, 'value', $codec );
    }
    if ( defined $leg->{write} ) {
        my $bytes = $functions{encode}->( 1, $value );
        open my $file, '>:raw', $leg->{write} or die "cannot make $leg->{write}: $!\n";
        print $file $bytes and close $file or die "cannot write $leg->{write}: $!\n";
    }
    return { verdict => 'equal', mapped( \%mappings ) };
}
