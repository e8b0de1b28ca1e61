import createClient from "openapi-fetch";
import type { paths } from "../../../.local/client/pickem.ts";
import { base, expect } from "../../tools/client/client.mjs";

const client = createClient<paths>({ baseUrl: base + "/pickem" });

const me = await client.GET("/app/me");
expect(me.response.status === 401, "a caller without a token is accepted");

const name = await client.PATCH("/app/me", {
  // @ts-expect-error: a name is a string
  body: { name: 7 },
});
expect(name.response.status === 401, "a caller without a token is accepted");
