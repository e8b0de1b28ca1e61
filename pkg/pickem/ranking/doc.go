// Package ranking stores ranked tables: the standings of a year and the scores of an
// event, by their scope, which is the year or the event's id.
//
// A table is written as a whole, after the points. Its pages have ranks, names and picks,
// at most 50 rows and 8 KB each. A screen reads one page, whatever the number of members.
// Other items map members to the pages with their rows. There are as many of them as pages,
// so that their size does not grow either.
//
//	RANKING#{scope}  HEAD         the number of the latest writer, and whether it has ended
//	RANKING#{scope}  PAGE#{n}     rows in order of rank
//	RANKING#{scope}  PLACES#{n}   page and rank of some members, by id
//
// # Concurrent writers
//
// A writer claims a number, then reads the rows that it ranks, then writes. It replaces no
// item of a higher number, and Publish reports whether a higher one was claimed meanwhile:
// then the writer starts again. So the table is that of the last claim.
//
// Rename and Remove are called after the member was renamed or removed. They claim a number
// too, so a writer that has read the old name starts again. They claim none if the table
// needs no change and every writer has ended: later writers read the new name.
package ranking
