// Package script reads the files that say what sessions and arrivals ask for:
// httperf's session logs ([ParseSessions]), vegeta's targets ([ParseTargets]),
// HTTP archives ([ParseHAR]), lists of servers ([ParseServers]), and what an
// HTML page embeds ([Embedded]). It opens no file itself.
//
// # Design
//
// An error reads FILE:LINE:COLUMN: what was found: want what. Columns are bytes,
// from 1; a byte order mark at the start of a file counts for nothing.
//
// Bodies, header values and user information of URLs may be secret, and where a
// quote is missing or a line is broken their text stands where something else
// was expected. So an error has the position and the kind of what was found, and
// quotes only what cannot be part of them: servers, names of files, names that
// are unknown.
//
// Nothing here is limited by the length of a line. What a file may make of the
// memory is limited: maxRequests, maxServers and maxBodies.
package script
