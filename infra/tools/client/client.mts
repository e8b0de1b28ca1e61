// Asks the public operations of a running fleet, by clients whose types are generated
// from the OpenAPI documents: client.mjs http://localhost:8080. It fails if an answer
// differs from its type in what it looks at. The compiler fails if it accepts a call
// that the types must refuse.
import createClient from "openapi-fetch";
import type { paths as Accounts } from "../../../.local/client/accounts.ts";
import type { paths as CommitCollect } from "../../../.local/client/commitcollect.ts";
import type { paths as Cricket } from "../../../.local/client/cricket.ts";
import type { paths as Pickem } from "../../../.local/client/pickem.ts";

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
