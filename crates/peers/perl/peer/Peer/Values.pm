# The values that are encoded, and whether one that comes back is the same. Nothing here is inside
# the clock.
package Peer::Values;
use v5.36;
no warnings 'experimental::builtin';
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
    die "cannot make the value in $path: $@" if $@;
    return $value;
}

# Where `back` is not `sent`, in words, or nothing if it is the same. What is the same only
# by a mapping is noted in the hash `mappings`: a sentence, and whether it loses anything.
#
# `sent` has perl's own truth values. Neither changes, since scalars are compared as copies: perl
# notes in a number that it was printed.
sub difference ( $sent, $back, $mappings, $place = 'value' ) {
    if ( is_bool($sent) ) {
        return if same_truth( $sent, $back, $mappings );
    }
    elsif ( !defined $sent ) {
        return if !defined $back;
    }
    elsif ( ref $sent eq 'ARRAY' ) {
        return "$place: sent an array, got ${\ shown($back)}" if ( reftype($back) // '' ) ne 'ARRAY';
        return "$place: sent ${\ scalar @$sent} elements, got ${\ scalar @$back}" if @$sent != @$back;
        for my $index ( 0 .. $#$sent ) {
            my $found = difference( $sent->[$index], $back->[$index], $mappings, "${place}[$index]" );
            return $found if defined $found;
        }
        return;
    }
    elsif ( ref $sent eq 'HASH' ) {
        return "$place: sent a map, got ${\ shown($back)}" if ( reftype($back) // '' ) ne 'HASH';
        for my $key ( sort keys %$sent ) {
            return "$place: sent the key ${\ shown($key)}, got none" if !exists $back->{$key};
            my $found = difference( $sent->{$key}, $back->{$key}, $mappings, "$place.$key" );
            return $found if defined $found;
        }
        my ($more) = grep { !exists $sent->{$_} } sort keys %$back;
        return defined $more ? "$place: got the key ${\ shown($more)}, sent none" : undef;
    }
    elsif ( created_as_number($sent) ) {
        return if same_number( $sent, $back, $mappings );
    }
    else {
        return if defined $back && !ref $back && !is_bool($back) && !created_as_number($back) && $sent eq $back;
    }
    return "$place: sent ${\ shown($sent)}, got ${\ shown($back)}";
}

# As perl has them, as a module's objects, or by a mapping as what they are in text or numbers.
sub same_truth ( $sent, $back, $mappings ) {
    return !!$back eq $sent if is_bool($back) || ( blessed($back) // '' ) =~ /::Boolean\z/;
    return !!0 if !defined $back || ref $back;
    return !!0 if $back ne ( $sent ? '1' : created_as_number($back) ? '0' : '' );
    $mappings->{ created_as_number($back) ? 'truth values are numbers' : 'truth values are text' } = 1;
    return !!1;
}

# Numbers are the same if all bits are, or by a mapping.
sub same_number ( $sent, $back, $mappings ) {
    return !!0 if !defined $back || ref $back || is_bool($back);
    if ( !created_as_number($back) ) {
        return !!0 if $back !~ /\A-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?\z/;
        $mappings->{'numbers are text'} = 1;
        $back = 0 + $back;
    }
    my ( $bits, $bits_back ) = ( pack( 'd', $sent ), pack( 'd', $back ) );
    if ( is_fraction($sent) == is_fraction($back) ) {
        return !!1 if is_fraction($sent) ? $bits eq $bits_back : $sent == $back;
        return !!0 if !is_fraction($sent);
    }
    elsif ( $bits eq $bits_back && abs $sent < 2**53 ) {
        $mappings->{'Perl has one kind of number, so 1.0 may come back as 1'} = 1;
        return !!1;
    }
    return !!0 if sprintf( '%.15g', $sent ) ne sprintf( '%.15g', $back );
    $mappings->{'fractions keep fifteen digits'} = 0;
    return !!1;
}

sub is_fraction ($number) {
    my $flags = B::svref_2object( \$number )->FLAGS;
    return ( $flags & B::SVf_NOK ) && !( $flags & B::SVf_IOK ) ? 1 : 0;
}

# A value for people: its kind shows, and it is short.
sub shown ($value) {
    return 'null'                             if !defined $value;
    return $value ? 'true' : 'false'          if is_bool($value);
    return 'a reference to ' . reftype $value if ref $value;
    return sprintf is_fraction($value) ? '%.17g' : '%s', $value if created_as_number($value);
    my $text = length $value > 40 ? substr( $value, 0, 40 ) . '…' : $value;
    return qq{"$text"};
}

1;
