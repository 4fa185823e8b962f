# Values to files and back, and rows to text: checks each way and makes it ready for the clock.
#
# Inside the clock: making or opening the file, encoding or decoding, writing or reading, closing,
# and freeing the last result. Outside: the values, the coders, and removing files; each is
# written under a name that is not there.
package Peer::Files;
use v5.36;
use Exporter   qw(import);
use File::Temp ();
use Peer::Values qw(difference);

our @EXPORT_OK = qw(check_file file_work persist scratch whole);

# A folder of this process alone, which goes with it, also when the process is told to end.
sub scratch ($request) {
    $SIG{$_} = sub { exit 1 }
        for qw(HUP INT PIPE TERM);
    my @where = defined $request->{folder} ? ( DIR => $request->{folder} ) : ( TMPDIR => 1 );
    return File::Temp->newdir( 'wiremark-perl-XXXXXXXX', @where );
}

# The two ways of a codec whose documents go to files.
sub persist ( $write_way, $read_way, $functions ) {
    my %both = ( suite => 'persist', mode => 'reused', functions => $functions );
    return [
        { %both, operation => 'write', way => $write_way },
        { %both, operation => 'read',  way => $read_way },
    ];
}

# A document as one string to a file and back, each in one call of the system.
sub whole (%codec) {
    my ( $encode, $decode ) = @codec{qw(encode decode)};
    return {
        write => sub {
            my $bytes = $encode->( 1, $_[1] );
            open my $file, '>:raw', $_[0] or die "cannot make $_[0]: $!\n";
            my $written = syswrite( $file, $bytes ) // die "cannot write $_[0]: $!\n";
            die "$_[0]: wrote only $written bytes\n" if $written != length $bytes;
            close $file or die "cannot close $_[0]: $!\n";
        },
        read => sub ($path) {
            open my $file, '<:raw', $path or die "cannot open $path: $!\n";
            my $size = -s $file;
            my $read = sysread( $file, my $bytes, $size ) // die "cannot read $path: $!\n";
            die "$path: read only $read bytes\n" if $read != $size;
            close $file;
            return $decode->( 1, $bytes );
        },
        calls => sub ( $operation, $size, $ ) {
            return $operation eq 'write'
                ? { write => 1, written_bytes => $size }
                : { read  => 1, read_bytes    => $size };
        },
    };
}

# Writes a value and reads it back: the size of its file, and where it came back changed. The
# value is behind a reference, since it must get no second variable: see Clock.pm.
sub check_file ( $functions, $folder, $value, $sent, $mappings ) {
    my $path = "$folder/checked";
    $functions->{write}->( $path, $$value );
    my $back = $functions->{read}->($path);
    my $size = -s $path;
    unlink $path or die "cannot remove $path: $!\n";
    return ( $size, difference( $sent, $back, $mappings ) );
}

# What the clock runs.
sub file_work ( $functions, $folder, $operation, $value ) {
    my ( $write, $read ) = @$functions{qw(write read)};
    my %wall = ( clock => 2, is_file => 1 );
    if ( $operation eq 'read' ) {
        my $path = "$folder/read";
        $write->( $path, $$value );
        return {
            %wall,
            batch => sub ( $times, $ ) { my $out; $out = $read->($path) for 1 .. $times; $out },
        };
    }
    return {
        %wall,
        before => sub ($times) { [ map { "$folder/$_" } 1 .. $times ] },
        batch  => sub ( $, $paths ) { $write->( $_, $$value ) for @$paths; return },
        after  => sub ($paths) { unlink(@$paths) == @$paths or die "cannot remove files: $!\n" },
    };
}

1;
