package league

import (
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/item"
)

// What the tests of this package look at beside what it exports.

var ErrLeagueFull = problem.Beyond(maxMembers)
var ErrNoCode = errNoCode
var ErrNotIn = errNotIn
var ErrNotOwner = errNotOwner
var ErrTooManyLeagues = problem.Beyond(maxLeagues)

const LeagueSK = item.LeagueTag

var MaxCodes = maxCodes.Max
var MaxLeagues = maxLeagues.Max
var MaxMembers = maxMembers.Max

type TriedCodes = triedCodes
