import createClient from "openapi-fetch";
import type { paths } from "../../../.local/client/accounts.ts";
import { base, expect } from "../../tools/client/client.mjs";

const client = createClient<paths>({ baseUrl: base + "/accounts" });

const account = await client.GET("/account");
expect(account.response.status === 401, "a caller without a token is accepted");
