# Takes the samples of one cell, by itself or in turn with other programs.
#
# Inside the clock: the calls, and the loop around them, which costs perl some 9 ns an operation;
# nothing is taken off for it. Perl has no collector but counts references, so freeing is
# inside as well: each result is assigned to one variable and frees the one before it; the last
# one of a batch is freed after the clock has stopped. CPU time is that of the process.
#
# Values to encode come to the loops as `$_[1]` and get no variable of their own: a second
# reference to a value costs Sereal two bytes, and a table of references.
package Peer::Clock;
use v5.36;
use Exporter    qw(import);
use List::Util  qw(max);
use POSIX       qw(ceil);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

our @EXPORT_OK = qw(samples);

# The kernel's own count of time in user mode and in the kernel, since `times` counts in ticks of
# 10 ms. Perl only has it where its headers were translated, as Debian's are.
my $getrusage = eval { require 'syscall.ph'; SYS_getrusage() };

sub now { return map { clock_gettime($_) } CLOCK_PROCESS_CPUTIME_ID, CLOCK_MONOTONIC }

sub modes {
    return if !defined $getrusage;
    syscall( $getrusage, 0, my $usage = "\0" x 256 ) == 0 or die "getrusage: $!\n";
    my ( $user_s, $user_us, $system_s, $system_us ) = unpack 'q4', $usage;
    return ( $user_s + $user_us / 1e6, $system_s + $system_us / 1e6 );
}

# Runs `times` operations: what they took, as a sample has it.
sub timed ( $work, $times ) {
    my ( $batch, $before, $after, $is_file ) = @$work{qw(batch before after is_file)};
    my $prepared = $before ? $before->($times) : undef;
    my @start    = ( now(), $is_file ? modes() : () );
    my $last     = $batch->( $times, $prepared );
    my @end      = ( now(), $is_file ? modes() : () );
    $after->($prepared) if $after;
    return [ $times, map { int( ( $end[$_] - $start[$_] ) * 1e9 + 0.5 ) } 0 .. $#end ];
}

# The samples of a cell. `work` has its `batch`, a function of a number of operations; `before` and
# `after` it, both outside the clock, where there is something to do; `is_file`, whether user and
# system time are wanted; and `clock`, the place in a sample of the time that batches must fill.
sub samples ( $work, $sampling, $wait ) {
    my $clock = $work->{clock};
    my $until = clock_gettime(CLOCK_MONOTONIC) + $sampling->{warm_up_ns} / 1e9;
    my ( $times, $took ) = ( 1, 0 );
    while (1) {
        $took = timed( $work, $times )->[$clock];
        last if $took >= $sampling->{sample_ns} && clock_gettime(CLOCK_MONOTONIC) >= $until;
        $times *= 2 if $took < $sampling->{sample_ns};
    }

    # As few as still fill a sample: a tenth more than by this one batch, for it may have been slow.
    $times = max 1, ceil( 1.1 * $times * $sampling->{sample_ns} / $took );
    $took  = timed( $work, $times )->[$clock];

    my $is_long = $took / $times > 1e7;
    return map {
        if ($wait) {
            $wait->();
            timed( $work, ceil( $times / 4 ) ) if !$is_long;
        }
        timed( $work, $times );
    } 1 .. $sampling->{samples};
}

1;
