// Asks the public operations of a running fleet, by clients whose types are generated
// from the OpenAPI documents: client.mjs http://localhost:8080. It fails if an answer
// differs from its type in what it looks at. The compiler fails if it accepts a call
// that the types must refuse.
import createClient from "openapi-fetch";
import type { paths as Accounts } from "../../../.local/client/accounts.ts";
import type { paths as BestShot } from "../../../.local/client/bestshot.ts";
import type { paths as CommitCollect } from "../../../.local/client/commitcollect.ts";
import type { paths as Cricket } from "../../../.local/client/cricket.ts";
import type { paths as Pickem } from "../../../.local/client/pickem.ts";
import type { paths as ThreeFC } from "../../../.local/client/threefc.ts";

declare const process: { argv: string[] };

function expect(ok: boolean, what: string): asserts ok {
  if (!ok) throw new Error(what);
}

const base = process.argv[2];
expect(base !== undefined, "usage: client.mjs URL");

const cricket = createClient<Cricket>({ baseUrl: base + "/cricket" });
const pickem = createClient<Pickem>({ baseUrl: base + "/pickem" });
const commitcollect = createClient<CommitCollect>({ baseUrl: base + "/commitcollect", credentials: "include" });
const accounts = createClient<Accounts>({ baseUrl: base + "/accounts" });
const bestshot = createClient<BestShot>({ baseUrl: base + "/bestshot" });
const threefc = createClient<ThreeFC>({ baseUrl: base + "/threefc", credentials: "include" });

const teams = await cricket.GET("/teams", { params: { query: { limit: 2 } } });
expect(teams.response.status === 200 && Array.isArray(teams.data?.teams), "the teams are no list");
for (const team of teams.data?.teams ?? []) {
  expect(typeof team.id === "string" && typeof team.national === "boolean", "a team lacks its id or whether it is national");
}

const missing = await cricket.GET("/matches/{id}", { params: { path: { id: "1" } } });
expect(missing.response.status === 404 && missing.error?.type === "urn:problem-type:matchday:match_not_found", "an unknown match is no problem document");

// @ts-expect-error: the operation has no such parameter
const unknown = await cricket.GET("/teams", { params: { query: { limitt: 2 } } });
expect(unknown.error?.errors?.[0]?.location === "query.limitt", "an unknown parameter is accepted");

const me = await pickem.GET("/app/me");
expect(me.response.status === 401, "a caller without a token is accepted");

const name = await pickem.PATCH("/app/me", {
  // @ts-expect-error: a name is a string
  body: { name: 7 },
});
expect(name.response.status === 401, "a caller without a token is accepted");

const account = await accounts.GET("/account");
expect(account.response.status === 401, "a caller without a token is accepted");

const viewer = await commitcollect.GET("/viewer");
expect(viewer.response.status === 200 && viewer.data?.signedIn === false, "a browser without a cookie is signed in");

const milestones = await commitcollect.GET("/milestones");
expect(milestones.response.status === 401 && milestones.error?.type === "urn:problem-type:matchday:missing_session", "a browser without a session is accepted");

// @ts-expect-error: a milestone has a target
const milestone = await commitcollect.POST("/milestones", { body: { modelId: "trike-2026" } });
expect(milestone.response.status === 401, "a browser without a session is accepted");

const tournaments = await bestshot.GET("/api/v2/tournaments");
expect(tournaments.response.status === 401, "a caller without a token is accepted");

// @ts-expect-error: a guess is of a match
const guess = await bestshot.POST("/api/v2/guess", { body: { home: { score: 1 }, away: { score: 0 } } });
expect(guess.response.status === 401, "a caller without a token is accepted");

const leagues = await threefc.GET("/v1/leagues");
expect(leagues.response.status === 401 && leagues.error?.type === "urn:problem-type:matchday:missing_session", "a browser without a session is accepted");

// @ts-expect-error: a league has a name
const league = await threefc.POST("/v1/leagues", { body: {} });
expect(league.response.status === 401, "a browser without a session is accepted");
