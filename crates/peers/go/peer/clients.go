// What stands in the place of a codec and is none; nothing is timed here.

package main

type client struct{ id, version string }

// clients of this program, added by the files of the suite export.
var clients []client
