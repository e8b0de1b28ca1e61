package league

// What the tests of this package look at beside what it exports.

const CodeLength = codeLength
const CodeLetters = codeLetters

var ErrLeagueFull = errLeagueFull
var ErrNoCode = errNoCode
var ErrNotIn = errNotIn
var ErrTooManyLeagues = errTooManyLeagues

const LeagueSK = leagueSK
const MaxLeagues = maxLeagues
const MaxMembers = maxMembers

var NewCode = newCode
var ReadCode = readCode
