# Rows to lines of text, as `{ID: 1, Title: buy milk, Note: two litres},`. What is inside the clock
# stands in Files.pm.
#
# Zero is added to the number so that it is formatted each time: perl keeps the text of a
# number that was printed. One string for a row takes 0.7 of the time of `printf`.
package Peer::Text;
use v5.36;
use Peer::Values qw(slurp);

# A call of the system for each row.
sub direct {
    return {
        write => sub ( $path, $rows ) {
            open my $file, '>:raw', $path or die "cannot make $path: $!\n";
            for (@$rows) {
                my $line = '{ID: ' . ( $_->{id} + 0 )
                    . ', Title: ' . $_->{title}
                    . ', Note: ' . $_->{note} . "},\n";
                my $written = syswrite( $file, $line ) // die "cannot write $path: $!\n";
                die "$path: wrote a part of a row\n" if $written != length $line;
            }
            close $file or die "cannot close $path: $!\n";
        },
        read  => \&rows,
        calls => sub ( $, $size, $rows ) { { write => scalar @$rows, written_bytes => $size } },
    };
}

# Through perl's own buffer, which has 8 KiB; `close` gives away an error that stood in it.
sub buffered {
    return {
        write => sub ( $path, $rows ) {
            open my $file, '>:raw', $path or die "cannot make $path: $!\n";
            for (@$rows) {
                my $is_put = print $file '{ID: ' . ( $_->{id} + 0 )
                    . ', Title: ' . $_->{title}
                    . ', Note: ' . $_->{note} . "},\n";
                die "cannot write $path: $!\n" if !$is_put;
            }
            close $file or die "cannot close $path: $!\n";
        },
        read  => \&rows,
        calls => sub { "perl's buffer does not count its writes" },
    };
}

# The rows of a file, to compare. No text of them holds what stands between the fields.
sub rows ($path) {
    my @rows;
    for my $line ( split /\n/, slurp($path) ) {
        my ( $id, $title, $note ) = $line =~ /\A\{ID: ([0-9]+), Title: (.*), Note: (.*)\},\z/
            or die "`$line` is no line of the export\n";
        push @rows, { id => $id + 0, title => $title, note => $note };
    }
    return \@rows;
}

sub codecs {
    my %both = ( suite => 'export', operation => 'export', mode => 'stream' );
    return {
        id      => 'text/perl:print',
        version => $^V =~ s/v//r,
        true    => !!1,
        false   => !!0,
        modes   => {},
        ways    => [
            { %both, way => 'direct',    functions => \&direct },
            { %both, way => 'buffer-8k', functions => \&buffered },
        ],
    };
}

1;
