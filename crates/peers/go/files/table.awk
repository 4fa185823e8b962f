# Lines "program row wall cpu calls bytes" in, Markdown tables out.

{
	key = $1 " " $2
	if (!(key in count) && $1 == "rust") names[++rows] = $2
	nth = ++count[key]
	wall[key, nth] = $3
	cpu[key, nth] = $4
	calls[key] = $5
	bytes[key] = $6
}

# The rounds in order. The median stands for the processor time; the least for the time on the
# wall, to which other programs of the machine only ever add.
function order(values, key, sorted,    n, i, j, held) {
	n = count[key]
	for (i = 1; i <= n; i++) {
		held = values[key, i]
		for (j = i - 1; j >= 1 && sorted[j] > held; j--) sorted[j + 1] = sorted[j]
		sorted[j + 1] = held
	}
	return n
}

function median(key,    n, sorted) {
	n = order(cpu, key, sorted)
	return sorted[int((n + 1) / 2)]
}

function least(key,    sorted) {
	order(wall, key, sorted)
	return sorted[1]
}

function head(title) {
	printf "\n%s\n\n", title
	print "| row | calls Rust / Go | wall µs Rust | Go | Go / Rust | CPU µs Rust | Go | Go / Rust |"
	print "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
}

function row(label, one, other, is_same,    r, g, ratio, ratio_cpu) {
	r = "rust " one
	g = "go " other
	if (!(r in count) || !(g in count)) return
	ratio = least(g) / least(r)
	ratio_cpu = median(g) / median(r)
	printf "| %s | %s / %s | %.0f | %.0f | %.2f | %.0f | %.0f | %.2f |\n", label, calls[r], calls[g],
		least(r) / 1000, least(g) / 1000, ratio, median(r) / 1000, median(g) / 1000, ratio_cpu
	if (!is_same) return
	if (ratio <= 1 || ratio_cpu <= 1) slower = slower "\n- " label
	compared++
}

# In these the same words make other calls, since one library writes as it goes, the other at once.
function has_own_calls(name) {
	return name ~ /^people\/.*\/json.*\/direct$/ || name ~ /^todos\/.*\/direct$/
}

# Whose calls are as many as those of Go's words.
function same_calls(name) {
	if (name ~ /^people\/write/) sub(/direct$/, "whole", name)
	else if (name ~ /^people\/read/) sub(/direct$/, "buffer-64k", name)
	else sub(/direct$/, "line-by-line", name)
	return name
}

END {
	head("The same strategy:")
	for (i = 1; i <= rows; i++) {
		name = names[i]
		if (has_own_calls(name)) row(name " in Go, " last(same_calls(name)) " in Rust", same_calls(name), name, 1)
		else row(name, name, name, 1)
	}
	head("The same words, other calls:")
	for (i = 1; i <= rows; i++) if (has_own_calls(names[i])) row(names[i], names[i], names[i])
	printf "\n%d rows of the same strategy, ", compared
	if (compared == 0) {
		print "none is wanted or none ran."
		failed = 1
	} else if (slower == "") print "ours is faster in each."
	else print "ours is not faster in:" slower

	for (i = 1; i <= rows; i++) {
		r = "rust " names[i]
		g = "go " names[i]
		if (!(g in count)) continue
		# Go's JSON encoder ends with a line feed; its gob names the list's type.
		if (bytes[g] - bytes[r] > 16 || bytes[r] > bytes[g]) {
			printf "%s: %d bytes of ours, %d of Go's\n", names[i], bytes[r], bytes[g]
			failed = 1
		}
	}
	exit failed
}

function last(name) { sub(/.*\//, "", name); return name }
