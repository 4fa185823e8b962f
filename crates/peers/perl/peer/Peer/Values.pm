# The values that are encoded, and whether one that comes back is the same. Nothing here is inside
# the clock.
package Peer::Values;
use v5.36;
no warnings qw(experimental::builtin recursion);    # Values may be deep.
use builtin qw(blessed created_as_number is_bool reftype);
use B ();
use Exporter qw(import);

our @EXPORT_OK = qw(difference load slurp);

sub slurp ($path) {
    open my $file, '<:raw', $path or die "cannot open $path: $!\n";
    local $/;
    return readline($file) // die "cannot read $path: $!\n";
}

# Makes the value in the Perl source `path`, with a codec's own truth values.
#
# It is made anew for each use: a number that was printed once is text as well. It is not cloned
# either: Storable's `dclone` makes 1 of 1.0 and text of truth values.
sub load ( $path, $true, $false ) {
    my $source = slurp($path);

    # Text beyond ASCII is marked as text, as perl marks what it decoded from UTF-8. Written with
    # `\x` it is not if it fits into Latin-1, and then Data::MessagePack and Sereal write Latin-1.
    $source =~ s/\\x\{(?=[0-9a-f]{3}|[89a-f][0-9a-f]\})/\\N{U+/gi;

    no warnings qw(once redefine);
    local *main::TRUE  = sub () { $true };
    local *main::FALSE = sub () { $false };

    # The plus sign makes a leading brace that of a hash.
    my $value = eval "package main; +$source";
    die "cannot make the value of " . $path =~ s{.*/}{}r . ": $@" if $@;
    return $value;
}

# Where `back` is not `sent`, in words, or nothing if it is the same. What is the same only by a
# mapping is noted in the hash `mappings`: a sentence, and whether nothing is lost by it.
#
# `sent` has perl's own truth values. Scalars are compared as copies, so that neither changes: perl
# notes in a number that it was printed.
sub difference ( $sent, $back, $mappings, $place = 'value' ) {
    if ( ref $sent && ref $sent eq kind($back) ) {
        my $each = ref $sent eq 'ARRAY' ? \&array_difference : \&hash_difference;
        return $each->( $sent, $back, $mappings, $place );
    }
    my $is_same =
          ref $sent                ? 0
        : !defined $sent           ? !defined $back
        : is_bool($sent)           ? same_truth( $sent, $back, $mappings )
        : created_as_number($sent) ? same_number( $sent, $back, $mappings )
        :                            kind($back) eq 'text' && $sent eq $back;
    return $is_same ? undef : "$place: sent ${\ shown($sent)}, got ${\ shown($back)}";
}

sub array_difference ( $sent, $back, $mappings, $place ) {
    for my $index ( 0 .. $#$sent ) {
        return "$place: sent ${\ scalar @$sent} elements, got $index" if $index > $#$back;
        my $found = difference( $sent->[$index], $back->[$index], $mappings, "${place}[$index]" );
        return $found if defined $found;
    }
    return @$sent == @$back ? undef : "$place: sent ${\ scalar @$sent} elements, got more";
}

sub hash_difference ( $sent, $back, $mappings, $place ) {
    for my $key ( keys %$sent ) {
        return "$place: sent the key ${\ shown($key)}, got none" if !exists $back->{$key};
        my $found = difference( $sent->{$key}, $back->{$key}, $mappings, "$place.$key" );
        return $found if defined $found;
    }
    my ($more) = grep { !exists $sent->{$_} } keys %$back;
    return defined $more ? "$place: got the key ${\ shown($more)}, sent none" : undef;
}

# What a value of perl's is: `ARRAY`, `HASH` or another reference, or a scalar of some kind.
sub kind ($value) {
    return
          !defined $value           ? 'null'
        : ref $value                ? reftype($value)
        : is_bool($value)           ? 'truth'
        : created_as_number($value) ? 'number'
        :                             'text';
}

# As perl has them, as a module's objects, or by a mapping as what they are in text or numbers.
sub same_truth ( $sent, $back, $mappings ) {
    return !!$back eq $sent if is_bool($back) || ( blessed($back) // '' ) =~ /::Boolean\z/;
    my $kind = kind($back);
    my %false = ( text => '', number => 0 );
    return 0 if !exists $false{$kind} || $back ne ( $sent ? 1 : $false{$kind} );
    $mappings->{"a truth value may come back as $kind: 1, and for false `$false{$kind}`"} = 1;
    return 1;
}

# Numbers are the same if all bits are, or by a mapping.
sub same_number ( $sent, $back, $mappings ) {
    if ( kind($back) eq 'text' && $back =~ /\A-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?\z/ ) {
        $mappings->{'a number may come back as text'} = 1;
        $back = 0 + $back;
    }
    return 0 if kind($back) ne 'number';

    if ( is_fraction($sent) == is_fraction($back) ) {
        return 1 if is_fraction($sent) ? bits($sent) eq bits($back) : $sent == $back;
        return 0 if !is_fraction($sent);
    }
    elsif ( bits($sent) eq bits($back) && abs $sent < 2**53 ) {
        $mappings->{'Perl has one kind of number: 1.0 may come back as 1'} = 1;
        return 1;
    }
    return 0 if sprintf( '%.15g', $sent ) ne sprintf( '%.15g', $back );
    $mappings->{'a fraction may be the same in fifteen digits only'} = 0;
    return 1;
}

sub bits ($number) { return pack 'd', $number }

sub is_fraction ($number) {
    my $flags = B::svref_2object( \$number )->FLAGS;
    return ( $flags & B::SVf_NOK ) && !( $flags & B::SVf_IOK ) ? 1 : 0;
}

# A value for people: its kind shows, and it is short.
sub shown ($value) {
    my $kind = kind($value);
    return
          $kind eq 'null'   ? 'null'
        : $kind eq 'truth'  ? ( $value ? 'true' : 'false' )
        : $kind eq 'number' ? sprintf( is_fraction($value) ? '%.17g' : '%s', $value )
        : $kind eq 'text'   ? '"' . substr( $value, 0, 40 ) . ( length $value > 40 ? '..."' : '"' )
        : $kind eq 'ARRAY'  ? 'an array'
        : $kind eq 'HASH'   ? 'a map'
        :                     "a reference to $kind";
}

1;
