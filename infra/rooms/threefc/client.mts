import createClient from "openapi-fetch";
import type { paths } from "../../../.local/client/threefc.ts";
import { base, expect, problem } from "../../tools/client/client.mjs";

const client = createClient<paths>({ baseUrl: base + "/threefc", credentials: "include" });

const leagues = await client.GET("/v1/leagues");
expect(leagues.response.status === 401 && problem(leagues.error)?.type === "urn:problem-type:matchday:missing_session", "a browser without a session is accepted");

// @ts-expect-error: a league has a name
const league = await client.POST("/v1/leagues", { body: {} });
expect(league.response.status === 401, "a browser without a session is accepted");
