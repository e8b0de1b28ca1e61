// Package pickem is a prediction league: members pick the winners of an event's
// matches before it locks, an administrator enters the results, and the points add
// up to the standings of the year, for all members and for the leagues that they
// make among themselves. This package lists the room's functions; the packages below
// it implement them.
//
// # Where to find a rule
//
//	who is a member, and may read                         item: CheckMember
//	who sees an event, its card, its results              event: GetEvent, GetResults
//	when members see the picks of all members             event: GetResults, LockEvents; score: Scorer.ScoreEvent
//	until when a prediction is accepted                   event: PutPredictions; item: IsOpenAt
//	when an event locks, and opens again                  event: LockEvents, UpdateEvent
//	when the id of a deleted event is free again          event: CreateEvent, LockEvents
//	who changes a card, and which picks become void       event: UpdateMatch, DeleteMatch; item: Prediction.Picks
//	when a team is the same team                          item: Match.Identify
//	how a card or results are read from a file            event: Import
//	how a result is entered, corrected and cleared        event: PutResult, ListCorrections; score: Scorer.ScoreEvent
//	how many points a prediction brings                   score: Of
//	confidence points, joker and survivor                 item: Rules; score: Of; event: PutPredictions
//	when and how an event is scored                       event: RequestScore; score: Scorer.ScoreEvent
//	how standings and results are ranked, and ties broken score: RankStandings, RankEntries
//	how an event is ranked within a league                league: GetLeagueResults; score: Scorer.ScoreEvent
//	when a league has stored tables, and shows a change   item: RankedOnRead; event: LockEvents
//	how a table of any number of members is read          ranking
//	who may remove a member from a league                 league: LeaveLeague
//	who owns a league after its owner leaves              league: LeaveLeague
//	how many leagues a member may be in                   league: JoinLeague
//	how an account becomes a member                       member: InviteUser
//	how often a member takes a new name                   member: UpdateMe
//	what is removed with a member                         userdata: DeleteUser
//	what happens when a user deletes the account          userdata: ForgetUser
//	which phones get notices, and how long they are kept  notice: Devices
//	when members are reminded                             notice: Reminder.Remind
//	who is notified of a change of the card               event: AddMatch, UpdateMatch, DeleteMatch
//	why nobody gets a notice twice                        notice: Notifier.SendNotices
//	which keys and access patterns exist                  tables, and the list below
//
// Imports go one way: tables <- item <- ranking <- score, notice <- event, league <- member,
// userdata <- pickem. The message of a queue is a type of the package that receives it.
//
// # Items
//
// All items are in one table, and most of them in its index GSI, which the screens
// read. Every item has a type. Numbers in keys have a fixed width, because strings sort
// by character; a number that does not fit is refused.
//
//	PK               SK                       GSI_PK                     GSI_SK               what it is
//	EVENT            EVENT#{eventId}          EVENT#{eventId}            EVENT                an event; the id is 2026-03-08-clash-of-tides
//	EVENT#{eventId}  MATCH#{matchId}          EVENT#{eventId}            MATCH#01             a match, by its place on the card
//	EVENT#{eventId}  MATCH#{matchId}                                                          a match that was removed from the card
//	EVENT#{eventId}  LOG#{time}#{rev}                                                         a log entry of a result
//	USER#{userId}    USER                     USER                       USER#{userId}        a member; rev increases with every change
//	                                                                                          of the standings
//	USER#{userId}    EVENT#{eventId}          EVENT#{eventId}            SCORE#140#{userId}   a prediction; SCORE#000 until it is scored
//	USER#{userId}    STANDINGS#2026           STANDINGS#2026             SCORE#00140#{userId} the member's points of a year
//	USER#{userId}    LEAGUE#{leagueId}                                                        a membership
//	LEAGUE#{id}      LEAGUE                   LEAGUES                    LEAGUE#{id}          a league; in the index if it has stored tables
//	LEAGUE#{id}      MEMBER#{userId}                                                          the same membership, with the member's name
//	LEAGUE#{id}      CHANGE#{userId}          LEAGUES                    CHANGE#{id}#{userId} a change of the members that stored tables do
//	                                                                                          not show yet; * for all members
//	RANKING#{scope}  HEAD, PAGE#{n}, and others: see package ranking                          the standings of a year or the scores of an
//	                                                                                          event, with ranks: of all members, or of a
//	                                                                                          league, with the scope LEAGUE#{id}#{scope}
//	CODE#{code}      CODE                                                                     the league that a code invites to
//	USER#{userId}    CODES                                                                    the wrong codes that a user has tried
//	                                                                                          within an hour
//	USER#{userId}    DEVICES                                                                  the list of a member's phones
//	DEVICE#{token}   DEVICE                                                                   a phone that gets notices: see kit/device
//	DEVICE#{token}   DEVICE                   DEVICES#{userId}           {time}#{token}       a phone that was registered before
//	                                                                                          kit/device: see notice.FormerDevice
//	USER#{userId}    NOTICE#{id}                                                              a notice that the member got, until its ttl
//	NOTICE#{id}      DONE                                                                     a reminder whose notices are queued, until
//	                                                                                          its ttl
//	NOTICE#{id}      REACHED                                                                  the member up to whom they are, if that
//	                                                                                          takes several runs
//
// A member's partition read backwards returns the member first, then standings, notices,
// leagues and events. Items of a member name the member in belongsto, as USER#{userId}, and
// phones in userId. All that is kept of a member is in this partition, with the phones, with leagues and in
// rankings: from there it is exported, and deleted with the member.
//
// A screen costs the same among any number of members, at most 4 read units with a usual
// card, and so takes a few small reads, not one query of everything. In the index, the
// event and its card sort before the predictions, so GetEvent reads them without these, and
// the caller's prediction by its key. Standings and results are read from pages that the
// scoring has written, with ranks. A profile has 20 events at once; names of events and totals of
// rankings, by which a rank is found, are read once a minute for all members. A page of 50 of the table
// of a league costs as much among 11 members as among 1,000, which is the most: the scoring writes the
// tables of each league with more than 10 members. The tables of a smaller one are ranked when they
// are read, for at most 8 units. A league of before gets its tables with the next member who joins,
// or by rebuild-standings; until they are written it is ranked when it is read, for half a unit each
// member and up to 5 for their list.
//
// # Ties
//
// In the scores of an event more correct picks break a tie of points; in standings, also of
// a league, more correct picks, then fewer events played. Members who are equal in all of
// these have the same rank, and the next have the next rank. Equals are listed by name, a
// to z, without regard to case.
//
// # Rules of an event
//
// An event has three rules that are off unless an administrator sets them, which is possible until
// the lock. By confidence points a right pick brings its weight instead of the points of the match:
// the picks of a member have the weights 1 to the number of matches, each once. A pick without a
// weight, as of an app that does not know the rule, gets the smallest that is free. The pick with
// the joker counts double. In the survivor game of a year a member names one pick of an event: after
// the first wrong one the member is out. An event without such a pick, or whose match is void, changes
// nothing. All are saved with the picks, and so until the lock, and shown like picks.
//
// # Guarantees
//
// No prediction is late. The transaction that writes it checks the event's state and
// lockAt, so nothing depends on the job that locks events.
//
// No member sees another member's picks before the event is scored or, if it has revealAtLock,
// locked. Until then only their owner can read them; afterwards they cannot change, unless an
// administrator opens the event again. At the lock the picks are written as a ranking without
// points, which costs a screen what a scored event costs.
//
// A pick stays with its team. It names the team by an id, which the team keeps when its
// names are corrected or the teams are put in another order. A pick is void only if who
// competes in the match changes, which is refused after the lock. A result is the place of
// the winner among the teams, whose order cannot change after the lock.
//
// Rankings show every scoring: see package ranking. A new name is in all of them when the
// request is answered, and a removed member in none. Names are kept only with the member,
// with each league and in rankings. A member who joins a league with stored tables is in them within
// a minute or so, and the others move up as late after one who leaves. After a deployment of before
// there were such tables has scored events, rebuild-standings writes those of the year.
//
// Nothing counts twice. A member's standings are the sum of the member's scored
// predictions. A scoring adds the difference of its points, or the sum where that is not known.
// They are written in one transaction with the prediction that changed,
// on the condition that rev has not changed since they were read. Whatever runs twice,
// or stops and runs again, ends with the same table. Results can change at any time:
// resultsRev counts the changes, scoredRev is the revision of the present points, and a
// scoring of older results never replaces newer points. A request after a result was cleared
// counts as a change.
package pickem
