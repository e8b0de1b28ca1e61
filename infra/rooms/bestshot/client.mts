import createClient from "openapi-fetch";
import type { paths } from "../../../.local/client/bestshot.ts";
import { base, expect } from "../../tools/client/client.mjs";

const client = createClient<paths>({ baseUrl: base + "/bestshot" });

const tournaments = await client.GET("/api/v2/tournaments");
expect(tournaments.response.status === 401, "a caller without a token is accepted");

// @ts-expect-error: a guess is of a match
const guess = await client.POST("/api/v2/guess", { body: { home: { score: 1 }, away: { score: 0 } } });
expect(guess.response.status === 401, "a caller without a token is accepted");
