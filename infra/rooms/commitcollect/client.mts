import createClient from "openapi-fetch";
import type { paths } from "../../../.local/client/commitcollect.ts";
import { base, expect, problem } from "../../tools/client/client.mjs";

const client = createClient<paths>({ baseUrl: base + "/commitcollect", credentials: "include" });

const viewer = await client.GET("/viewer");
expect(viewer.response.status === 200 && viewer.data?.signedIn === false, "a browser without a cookie is signed in");

const milestones = await client.GET("/milestones");
expect(milestones.response.status === 401 && problem(milestones.error)?.type === "urn:problem-type:matchday:missing_session", "a browser without a session is accepted");

// @ts-expect-error: a milestone has a target
const milestone = await client.POST("/milestones", { body: { modelId: "trike-2026" } });
expect(milestone.response.status === 401, "a browser without a session is accepted");

// A native app sends a token in place of the cookie. The types take either, and both are refused.
const app = createClient<paths>({ baseUrl: base + "/commitcollect", headers: { Authorization: "Bearer expired" } });
const session = await app.GET("/session");
expect(session.response.status === 401 && problem(session.error)?.type === "urn:problem-type:matchday:invalid_token", "a token of nobody is accepted");
