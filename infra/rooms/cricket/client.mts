import createClient from "openapi-fetch";
import type { paths } from "../../../.local/client/cricket.ts";
import { base, expect, problem } from "../../tools/client/client.mjs";

const client = createClient<paths>({ baseUrl: base + "/cricket" });

const teams = await client.GET("/teams", { params: { query: { limit: 2 } } });
expect(teams.response.status === 200 && Array.isArray(teams.data?.teams), "the teams are no list");
for (const team of teams.data?.teams ?? []) {
  expect(typeof team.id === "string" && typeof team.national === "boolean", "a team lacks its id or whether it is national");
}

const missing = await client.GET("/matches/{id}", { params: { path: { id: "1" } } });
expect(missing.response.status === 404 && problem(missing.error)?.type === "urn:problem-type:matchday:match_not_found", "an unknown match is no problem document");

// @ts-expect-error: the operation has no such parameter
const unknown = await client.GET("/teams", { params: { query: { limitt: 2 } } });
expect(problem(unknown.error)?.errors?.[0]?.location === "query.limitt", "an unknown parameter is accepted");
