// Generated from the types that the backend pushes. Add this file to the app and to its widget extension.
//
// Names and types are part of a contract: a push that does not decode is dropped without a sign. Properties
// are only added, and those are optional.

import ActivityKit

/// A match on the Lock Screen. What never changes: the match, its sides, and the side of the user.
public struct MatchActivityAttributes: ActivityAttributes {
    /// What changes with each push.
    public struct ContentState: Codable, Hashable {
        /// The phase of the match.
        public let phase: String
        /// The format of the match.
        public let format: String
        /// What happens now, such as 2nd innings.
        public let status: String
        /// The first line, in a large font.
        public let headline: String
        /// The line below the headline.
        public let detail: String?
        /// The home side.
        public let local: Side
        /// The visiting side.
        public let visitor: Side
        /// The batters at the crease, at most two.
        public let batters: [Crease]?
        /// The bowler of the last ball.
        public let bowler: Spell?
        /// The last six deliveries of the innings.
        public let lastSix: [String]?
        /// The runs an over of the current innings.
        public let runRate: String?
        /// The runs an over that the chase needs.
        public let requiredRate: String?
        /// The runs that win the chase.
        public let target: Int?
        /// Whether a rain rule set the target.
        public let revised: Bool?
        /// The runs that the chase still needs.
        public let needRuns: Int?
        /// The balls that the chase still has.
        public let needBalls: Int?
        /// Runs and balls of the partnership, such as 45 (30).
        public let partnership: String?
        /// The last wicket of the innings.
        public let lastWicket: String?
        /// The super over in batting order, such as SO 10/1 v 6/2.
        public let superOver: String?
        /// The result for the followers of the side: lost for those of the loser.
        public let outcome: String?
        /// The result as a sentence.
        public let result: String?
        /// The result for anybody: won, tied, drawn, noResult, abandoned, cancelled or unknown. More may come.
        public let resultCode: String?
        /// The id of the winner, also of a tie that was decided. Absent: there is none.
        public let winnerId: String?
        /// The margin of the win, in unit.
        public let margin: Int?
        /// What the margin counts: runs, wickets, or innings for the runs beside an innings. More may come.
        public let unit: String?
        /// Why there is no play: delayed, postponed, innings, lunch, tea, dinner, stumps or interrupted. More may come.
        public let breakCode: String?
        /// The score as a line to be spoken, in English.
        public let spoken: String?
    }

    public struct Side: Codable, Hashable {
        /// The name of the team.
        public let name: String
        /// The short code of the team.
        public let code: String?
        /// The scores of its innings, such as 182/8, 364 & 298/8d or 483 f/o.
        public let score: String?
        /// The overs of its last innings that is no super over.
        public let overs: String?
        /// The score of the super over.
        public let superOver: String?
        /// Whether the side bats now.
        public let batting: Bool?
    }

    public struct Crease: Codable, Hashable {
        /// The name of the batter.
        public let name: String
        /// The runs of the batter.
        public let runs: Int
        /// The balls that the batter faced.
        public let balls: Int
        /// The fours of the batter.
        public let fours: Int?
        /// The sixes of the batter.
        public let sixes: Int?
        /// Whether the batter faces the next ball.
        public let strike: Bool?
    }

    public struct Spell: Codable, Hashable {
        /// The name of the bowler.
        public let name: String
        /// Wickets, runs and overs, such as 2-31 (3.4).
        public let figures: String
    }

    /// The id of the match.
    public let matchId: String
    /// The id of the side that the user supports. Absent: neither.
    public let teamId: String?
    /// The name of the home side.
    public let local: String
    /// The name of the visiting side.
    public let visitor: String
}
