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
use Peer::Files  qw(check_file file_work scratch);
use Peer::Values qw(difference load slurp);

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
STDOUT->autoflush;

my %library = (
    json     => 'JSON',
    cbor     => 'CBOR',
    msgpack  => 'MessagePack',
    sereal   => 'Sereal',
    storable => 'Storable',
    text     => 'Text',
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

sub decoded ( $text, $where ) {
    my $object = eval { $json->decode($text) };
    die "$where: no JSON object: ${\ reason()}\n" if $@;
    die "$where: JSON, but no object\n"            if ref $object ne 'HASH';
    return $object;
}

# The codecs of a library; none if it is not installed.
sub codecs_of ($format) {
    state %codecs;
    return @{ $codecs{$format} //= [ load_codecs( 'Peer::' . $library{$format} ) ] };
}

sub load_codecs ($module) {
    return $module->can('codecs')->() if eval "require $module";
    return if $@ =~ /\ACan't locate/;
    my ($why) = split /\n/, reason();
    print STDERR "note: $module is left out: $why\n";
    return;
}

sub all_codecs { return map { codecs_of($_) } sort keys %library }

sub codec ($id) {
    my ($format) = split m{/}, $id;
    my ($codec)  = grep { $_->{id} eq $id } exists $library{$format} ? codecs_of($format) : ();
    return $codec // die "no codec is called $id here: see the verb `version`\n";
}

sub request {
    my $text = $ENV{WIREMARK_REQUEST}
        // die "WIREMARK_REQUEST is not set: it holds the request as JSON\n";
    return decoded( $text, 'WIREMARK_REQUEST' );
}

sub datasets ($request) {
    return ( @{ $request->{datasets} // [] }, map { $_->{id} } @{ $request->{files} // [] } );
}

# A value of a dataset, made for a codec, or with perl's own truth values to compare with.
sub value ( $dataset, $which, $codec = { true => !!1, false => !!0 } ) {
    my $folder = $ENV{WIREMARK_VALUES}
        // die "WIREMARK_VALUES is not set: it names the folder of the values\n";
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
    my $request = request();
    my $suite   = $request->{suite} // 'codecs';
    my @codecs  = all_codecs();
    for my $dataset ( datasets($request) ) {
        next if $suite eq 'export' && $dataset ne 'todos';
        my $items = $suite eq 'persist' ? [] : value( $dataset, 'items' );
        for my $codec (@codecs) {
            for my $cell ( cells( $codec, $suite ) ) {
                my %id        = ( %$cell, dataset => $dataset, codec => $codec->{id} );
                my $documents = $id{mode} eq 'stream' ? @$items : 1;
                say_json( { cell => { id => \%id, documents => $documents } } );
            }
        }
    }
}

# What a suite asks of a codec: ids without dataset and codec.
sub cells ( $codec, $suite ) {
    if ( $suite eq 'codecs' ) {
        return map {
            my $mode = $_;
            map { { operation => $_, mode => $mode } } qw(encode decode);
        } sort keys %{ $codec->{modes} };
    }
    my @ways = grep { $_->{suite} eq $suite } @{ $codec->{ways} // [] };
    return map { { %$_{qw(operation mode way)} } } @ways;
}

# Objects from standard input, one a line.
sub each_line ($do) {
    while ( my $line = <STDIN> ) {
        next if $line !~ /\S/;
        $do->( decoded( $line, "standard input, line $." ) );
    }
}

sub check {
    my $folder;
    each_line(
        sub ($id) {
            say_json( { begin => $id } );
            if ( defined $id->{way} ) {
                $folder //= scratch( request() );
                return say_json( { checked => { %$id, checked_way( $id, $folder ) } } );
            }

            # Both operations of a codec are one check.
            state %found;
            my $found = $found{"$id->{dataset} $id->{codec} $id->{mode}"} //= { checked($id) };
            say_json( { checked => { %$id, %$found } } );
        }
    );
}

# What is found of a cell: status, size, and how what comes back compares with what went in.
sub checked ($id) {
    my ( $codec, $functions ) = functions($id);
    my $is_stream = $id->{mode} eq 'stream';
    my %cell = ( documents => 1, missing => { counts => 'Perl does not tell' } );
    my ( $size, %mappings );
    for my $which ( $is_stream ? 'items' : qw(value sibling value) ) {
        my $value = value( $id->{dataset}, $which, $codec );
        $cell{documents} = @$value if $is_stream;
        my $bytes = eval { encoded( $functions, \$value ) };
        return ( %cell, refusal( unsupported => "failed to encode: ${\ reason()}" ) ) if $@;
        my $back = eval { $functions->{decode}->( 1, $bytes ) };
        return ( %cell, refusal( failed => "failed to decode: ${\ reason()}" ) ) if $@;
        my $found = difference( expected( $id->{dataset}, $which ), $back, \%mappings );
        return ( %cell, refusal( failed => "came back changed: $found" ) ) if defined $found;
        $size //= length $bytes;
    }
    return ( %cell, passed( $size, \%mappings ) );
}

# The same for a way to a file or from one.
sub checked_way ( $id, $folder ) {
    my ( $codec, $functions ) = functions($id);
    my %cell = ( documents => 1, missing => { counts => 'Perl does not tell' } );
    my ( $size, $calls, %mappings );
    for my $which (qw(value sibling value)) {
        my $value = value( $id->{dataset}, $which, $codec );
        $cell{documents} = @$value if $id->{mode} eq 'stream';
        my $sent = expected( $id->{dataset}, $which );
        my ( $written, $found ) =
            eval { check_file( $functions, $folder, \$value, $sent, \%mappings ) };
        return ( %cell, refusal( failed => reason() ) )                    if !defined $written;
        return ( %cell, refusal( failed => "came back changed: $found" ) ) if defined $found;
        $size  //= $written;
        $calls //= $functions->{calls}->( $id->{operation}, $written, $value );
    }
    if ( ref $calls ) {
        my %none = map { $_ => 0 } qw(write written_bytes read read_bytes flush sync rename);
        $cell{calls} = { %none, open => 1, %$calls };
    }
    else {
        $cell{missing}{calls} = $calls;
    }
    return ( %cell, passed( $size, \%mappings ) );
}

# What a value is encoded to. It stands behind a reference, since it must get no second variable:
# see Clock.pm. So does the buffer of a stream, which is kept.
sub encoded ( $functions, $value ) {
    my $bytes = $functions->{encode}->( 1, $$value );
    return ref $bytes ? $$bytes : $bytes;
}

sub passed ( $size, $mappings ) {
    my @losses = grep { !$mappings->{$_} } sort keys %$mappings;
    # What loses a part of the value is not timed as if it had not.
    return refusal( 'unsupported', join '; ', @losses ) if @losses;
    return (
        status     => 'skipped',
        round_trip => JSON::PP::true,
        size_bytes => $size,
        mapped($mappings),
    );
}

sub mapped ($mappings) { return %$mappings ? ( mapping => join '; ', sort keys %$mappings ) : () }

sub refusal ( $status, $reason ) {
    my %failed = $status eq 'failed' ? ( round_trip => JSON::PP::false ) : ();
    return ( %failed, status => $status, reason => $reason );
}

# What was wrong, without the places in programs that perl puts behind it.
sub reason { return $@ =~ s/,? at \S+ line [0-9]+\.?//gr =~ s/\s+\z//r }

# The codec of a cell and its functions, with objects of their own.
sub functions ($id) {
    my $codec = codec( $id->{codec} );
    if ( defined $id->{way} ) {
        my $wanted = "@$id{qw(operation mode way)}";
        my ($way) = grep { "@$_{qw(operation mode way)}" eq $wanted } @{ $codec->{ways} // [] };
        die "$id->{codec} has no way $id->{way} to $id->{operation} in mode $id->{mode}\n" if !$way;
        return ( $codec, $way->{functions}->() );
    }
    my $mode = $codec->{modes}{ $id->{mode} } // die "$id->{codec} has no mode $id->{mode}\n";
    return ( $codec, { $mode->() } );
}

sub measure ( $text = '', @ ) {
    my $id = decoded( $text, 'the argument of measure, the id of a cell' );
    my ( $codec, $functions ) = functions($id);
    my $request = request();
    my $value   = value( $id->{dataset}, $id->{mode} eq 'stream' ? 'items' : 'value', $codec );
    my ( $work, $folder );
    if ( defined $id->{way} ) {
        $folder = scratch($request);
        $work   = file_work( $functions, $folder, $id->{operation}, \$value );
    }
    else {
        my $batch = $functions->{ $id->{operation} }
            // die "no operation is called $id->{operation}\n";
        $value = encoded( $functions, \$value ) if $id->{operation} eq 'decode';
        $work  = { clock => 1, batch => sub ( $times, $ ) { $batch->( $times, $value ) } };
    }
    my @samples = samples( $work, $request->{sampling}, $ENV{WIREMARK_TURNS} && \&wait_for_turn );
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
    my $reused    = $codec->{modes}{reused} // die "$leg->{codec} has no bytes to exchange\n";
    my %functions = $reused->();
    my ( %mappings, $value );
    if ( defined $leg->{read} ) {
        my $bytes = slurp( $leg->{read} );
        my $sent  = expected( $leg->{dataset}, 'value' );
        $value = $functions{decode}->( 1, $bytes );

        # Storable's way to say that an image ends early.
        die "decoding gave nothing\n" if defined $sent && !defined $value;
        my $found = difference( $sent, $value, \%mappings );
        return { verdict => 'changed', reason => $found } if defined $found;
    }
    else {
        $value = value( $leg->{dataset}, 'value', $codec );
    }
    if ( defined $leg->{write} ) {
        my $bytes = encoded( \%functions, \$value );
        open my $file, '>:raw', $leg->{write} or die "cannot make $leg->{write}: $!\n";
        print $file $bytes and close $file or die "cannot write $leg->{write}: $!\n";
    }
    return { verdict => 'equal', mapped( \%mappings ) };
}
