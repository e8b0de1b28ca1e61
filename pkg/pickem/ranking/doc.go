// Package ranking stores ranked tables: the standings of a year and the scores of an
// event, by their scope, which is the year or the event's id; for a league it is item.TableScope.
//
// Its pages have ranks, names and picks, at most 50 rows and 8 KB each. A screen reads one page,
// whatever the number of members. Other items map members to the pages with their rows: one for 50
// members, so that their size does not grow either. The totals that members are ranked by are stored
// apart, each once: the rank of a member is the number of greater totals, and one.
//
//	RANKING#{scope}  HEAD         the number of the latest writer, and whether it has ended
//	RANKING#{scope}  PAGE#{n}     rows in order of rank
//	RANKING#{scope}  PLACES#{n}   page and rank of some members, by id
//	RANKING#{scope}  TOTALS#{n}   the totals of the table in descending order, 8 bytes each
//	RANKING#{scope}  BEFORE#{n}   of a writer that has not ended: the totals before the latest event
//
// # Writers
//
// A writer claims a number, then reads the rows in order, and writes them page by page over the pages
// of the table before. It may do so in several messages, each of which begins where the one before
// has ended: see Draft. It replaces no item of a higher number, and gets *dynamo.Refused once a
// higher one was claimed: then the table is that of the later claim. While it is written, some pages
// are of the table before: a member may be listed twice, or not at all.
//
// Rename and Remove are called after the member was renamed or removed. They count an amendment, and
// change the member's row if they find it. A writer that has written rows since it read their names
// reads the count, and reads the names again if it has changed. So the amendment either finds the
// new row, or comes before the names of the row are read.
package ranking
