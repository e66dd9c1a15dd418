# SPDX-License-Identifier: BSD-3-Clause
# The dumbbell of lab/experiments/becn-45.lab in ns-2.35, whose TCP is set back to what ns-2.1b8a had.
# argv: pairs of a name and a value; lab.py gives them. RED's thresholds are in packets of 1000 bytes.
array set o {flows 20 delay 40ms queue DropTail limit 90 seed 1 duration 500 warmup 100 tcp Newreno ecn 0
	min 15 max 45 linterm 10 weight 0.002}
array set o $argv
ns-random $o(seed)
set ns [new Simulator]
$ns use-scheduler Heap
remove-all-packet-headers
add-packet-header IP TCP Flags
Agent/TCP set window_ 100
Agent/TCP set packetSize_ 1000
Agent/TCP set tcpTick_ 0.1
Agent/TCP set minrto_ 1
Agent/TCP set maxrto_ 100000
Agent/TCP set rtxcur_init_ 6
Agent/TCP set singledup_ 0
Agent/TCP set useHeaders_ false
Agent/TCP set precisionReduce_ false
Agent/TCP set windowInit_ 1
Agent/TCP set syn_ true
Agent/TCP set delay_growth_ false
Agent/TCP set exitFastRetrans_ false
Agent/TCP set updated_rttvar_ false
Agent/TCP set rfc2988_ false
Agent/TCP/Newreno set newreno_changes1_ 0
Agent/TCP/Newreno set partial_window_deflation_ 0
Agent/TCP set ecn_ $o(ecn)
Queue set limit_ 1000
Queue/DropTail set queue_in_bytes_ true
Queue/DropTail set mean_pktsize_ 1000
Queue/RED set bytes_ true
Queue/RED set queue_in_bytes_ true
Queue/RED set mean_pktsize_ 1000
Queue/RED set gentle_ true
Queue/RED set wait_ true
Queue/RED set thresh_ $o(min)
Queue/RED set maxthresh_ $o(max)
Queue/RED set q_weight_ $o(weight)
Queue/RED set linterm_ $o(linterm)
Queue/RED set setbit_ $o(ecn)
# drop_early of ns-2.1b8a marks while the average is below max, which is where the probability is max-p.
Queue/RED set use_mark_p_ true
Queue/RED set mark_p_ [expr 1.0 / $o(linterm)]
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b 10Mb $o(delay) $o(queue)
$ns simplex-link $b $a 10Mb $o(delay) DropTail
$ns queue-limit $a $b $o(limit)
$ns queue-limit $b $a 1000
set rng [new RNG]
$rng seed [expr $o(seed) * 7919 + 1]
for {set i 0} {$i < $o(flows)} {incr i} {
	set s($i) [$ns node]
	set r($i) [$ns node]
	$ns duplex-link $s($i) $a 100Mb 2ms DropTail
	$ns duplex-link $b $r($i) 100Mb 2ms DropTail
	if {$o(tcp) == "Tahoe"} { set tcp($i) [new Agent/TCP] } else { set tcp($i) [new Agent/TCP/$o(tcp)] }
	set sink($i) [new Agent/TCPSink]
	$ns attach-agent $s($i) $tcp($i)
	$ns attach-agent $r($i) $sink($i)
	$ns connect $tcp($i) $sink($i)
	set ftp($i) [new Application/FTP]
	$ftp($i) attach-agent $tcp($i)
	$ns at [$rng uniform 0 5] "$ftp($i) start"
}
set mon [$ns monitor-queue $a $b ""]
proc mark {} {
	global ns mon m tcp o qsum qn
	set m(arr) [$mon set parrivals_]
	set m(drop) [$mon set pdrops_]
	set m(dep) [$mon set bdepartures_]
	set m(ack) 0
	for {set i 0} {$i < $o(flows)} {incr i} { incr m(ack) [$tcp($i) set ack_] }
	set qsum 0.0
	set qn 0
	sample
}
proc sample {} {
	global ns mon qsum qn
	set qsum [expr $qsum + [$mon set size_]]
	incr qn
	$ns at [expr [$ns now] + 0.01] sample
}
proc done {} {
	global ns mon m tcp o qsum qn
	set arr [expr [$mon set parrivals_] - $m(arr)]
	set drop [expr [$mon set pdrops_] - $m(drop)]
	set dep [expr [$mon set bdepartures_] - $m(dep)]
	set ack 0
	for {set i 0} {$i < $o(flows)} {incr i} { incr ack [$tcp($i) set ack_] }
	set t [expr $o(duration) - $o(warmup)]
	puts "loss [expr 100.0 * $drop / $arr] utilisation [expr 8e-5 * $dep / $t] goodput [expr ($ack - $m(ack)) * 8e-3 / $t] queue [expr $qsum / $qn]"
	exit 0
}
$ns at $o(warmup) mark
$ns at $o(duration) done
$ns run
