// The hand-written part against an HTTP server of this process: node --test dist/test/*.test.js.
import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { connect, Problem, refreshAt, Session, SignedOut, type Options, type Tokens, type TokenStore } from "../src/index.js";

interface paths {
  "/things": {
    get: {
      parameters: { query?: { cursor?: string; ids?: string[] } };
      responses: { 200: { content: { "application/json": { things: string[]; next?: string } } } };
    };
    post: {
      parameters: { header?: { "Idempotency-Key"?: string } };
      requestBody: { content: { "application/json": { name: string } } };
      responses: { 201: { content: { "application/json": { id: string } } } };
    };
    delete: { parameters: {}; responses: { 204: { content?: never } } };
  };
  "/things/{id}": {
    patch: {
      parameters: { path: { id: string } };
      requestBody: { content: { "application/json": { name: string } } };
      responses: { 200: { content: { "application/json": { id: string } } } };
    };
    delete: {
      parameters: { path: { id: string }; header?: { "If-Match"?: string } };
      responses: { 200: { content: { "application/json": { id: string } } } };
    };
  };
}

interface Asked {
  line: string;
  headers: IncomingMessage["headers"];
  body: string;
}

type Answer = { status: number; headers?: Record<string, string>; body?: unknown } | "hang up" | "break off";

// serve answers requests in turn, the last answer again and again.
async function serve(...answers: Answer[]) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    asked.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });

    const answer = answers[Math.min(asked.length, answers.length) - 1]!;
    if (answer === "hang up") return void request.socket.destroy();
    if (answer === "break off") {
      response.writeHead(201, { "Content-Type": "application/json", "Content-Length": "20" });
      return void response.write('{"id"', () => request.socket.destroy());
    }

    const text = answer.body === undefined ? undefined : JSON.stringify(answer.body);
    response.writeHead(answer.status, { "Content-Type": "application/problem+json", ...answer.headers }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close().closeAllConnections());

  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/lab` };
}

const waits = () => {
  const all: number[] = [];

  return { all, sleep: async (ms: number) => void all.push(ms), random: () => 0.5 };
};

const open = (options: Options) => connect<paths>(options, new Set(["POST /things"]), new Set(["DELETE /things"]));
const created = { status: 201, body: { id: "a" } };

test("an answer is returned as its JSON, and nothing as undefined", async () => {
  const { asked, url } = await serve(created, { status: 204 });
  const client = open({ url });

  const thing: { id: string } = await client.POST("/things", { body: { name: "x" } });
  assert.deepEqual(thing, { id: "a" });
  assert.equal(await client.DELETE("/things"), undefined);
  assert.deepEqual(asked.map((a) => [a.line, a.body]), [["POST /lab/things", '{"name":"x"}'], ["DELETE /lab/things", ""]]);

  // @ts-expect-error: a thing has a name
  await client.POST("/things", { body: {} });
  // @ts-expect-error: there is no such path
  await client.DELETE("/thing");
});

test("a list in a query is separated by commas", async () => {
  const { asked, url } = await serve({ status: 200, body: { things: [] } });
  await open({ url }).GET("/things", { params: { query: { ids: ["1", "2"] } } });
  assert.equal(asked[0]?.line, "GET /lab/things?ids=1,2");
});

test("a refusal is a Problem with its code, fields and Retry-After", async () => {
  const body = { type: "urn:problem-type:matchday:bad_request", detail: "a name is needed", errors: [{ location: "body.name", message: "empty" }] };
  const { url } = await serve({ status: 422, body, headers: { "Retry-After": "7" } });

  await assert.rejects(open({ url }).POST("/things", { body: { name: "" } }), (error) => {
    assert.ok(Problem.is(error, "bad_request") && !Problem.is(error, "too_many_things"));
    assert.deepEqual([error.status, error.detail, error.errors, error.retryAfter], [422, "a name is needed", body.errors, 7]);
    return true;
  });
});

test("a refusal of API Gateway is a Problem without a code", async () => {
  const { url } = await serve({ status: 403, body: { message: "Forbidden" }, headers: { "Content-Type": "application/json" } });
  await assert.rejects(open({ url }).GET("/things"), (error) => Problem.is(error) && error.code === undefined && error.detail === "Forbidden");
});

test("429 and 503 are repeated after Retry-After and some more, with the same key", async () => {
  const { asked, url } = await serve({ status: 429, headers: { "Retry-After": "3" } }, { status: 503 }, created);
  const w = waits();
  await open({ url, retry: w }).POST("/things", { body: { name: "x" } });

  assert.deepEqual(w.all, [3250, 750]); // 3 s and half of 0.5 s; three quarters of 1 s
  const keys = asked.map((a) => a.headers["idempotency-key"]);
  assert.match(String(keys[0]), /^[0-9a-f-]{36}$/);
  assert.deepEqual(keys, [keys[0], keys[0], keys[0]]);
  assert.deepEqual(asked.map((a) => a.body), ['{"name":"x"}', '{"name":"x"}', '{"name":"x"}']);
});

test("another call has another key, and a call may bring its own", async () => {
  const { asked, url } = await serve(created);
  const client = open({ url });
  await client.POST("/things", { body: { name: "x" } });
  await client.POST("/things", { body: { name: "x" } });
  await client.POST("/things", { body: { name: "x" }, params: { header: { "Idempotency-Key": "mine" } } });
  await client.PATCH("/things/{id}", { params: { path: { id: "a b" } }, body: { name: "x" } });

  const keys = asked.map((a) => a.headers["idempotency-key"]);
  assert.notEqual(keys[0], keys[1]);
  assert.deepEqual([keys[2], keys[3], asked[3]?.line], ["mine", undefined, "PATCH /lab/things/a%20b"]);
});

test("repetitions are bounded", async () => {
  const { asked, url } = await serve({ status: 503, body: { message: "Service Unavailable" } });
  const w = waits();
  await assert.rejects(open({ url, retry: { ...w, attempts: 3 } }).GET("/things"), (error) => Problem.is(error) && error.status === 503);
  assert.deepEqual([asked.length, w.all], [3, [375, 750]]);
});

test("a wait that is too long fails at once", async () => {
  const { asked, url } = await serve({ status: 429, headers: { "Retry-After": "3600" }, body: {} });
  await assert.rejects(open({ url, retry: waits() }).GET("/things"), (error) => Problem.is(error) && error.retryAfter === 3600);
  assert.equal(asked.length, 1);
});

test("a wait ends when the call is aborted", async () => {
  const { url } = await serve({ status: 503 });
  const abort = new AbortController();
  const call = open({ url, retry: { attempts: 9, random: () => (abort.abort(new Error("left the screen")), 0) } }).GET("/things", { signal: abort.signal });
  await assert.rejects(call, /left the screen/);
});

test("a lost answer is asked for again if that has no second effect", async () => {
  const lost = await serve("hang up", created);
  await open({ url: lost.url, retry: waits() }).POST("/things", { body: { name: "x" } });
  assert.deepEqual([lost.asked.length, lost.asked[0]?.headers["idempotency-key"]], [2, lost.asked[1]?.headers["idempotency-key"]]);

  const patch = await serve("hang up");
  await assert.rejects(open({ url: patch.url, retry: waits() }).PATCH("/things/{id}", { params: { path: { id: "a" } }, body: { name: "x" } }), TypeError);
  assert.equal(patch.asked.length, 1);
});

test("an answer that breaks off is lost", async () => {
  const { asked, url } = await serve("break off", created, "break off");
  const client = open({ url, retry: waits() });
  assert.deepEqual(await client.POST("/things", { body: { name: "x" } }), { id: "a" });
  assert.deepEqual([asked.length, asked[0]?.headers["idempotency-key"]], [2, asked[1]?.headers["idempotency-key"]]);

  await assert.rejects(client.PATCH("/things/{id}", { params: { path: { id: "a" } }, body: { name: "x" } }), TypeError);
  assert.equal(asked.length, 3);
});

const missing = { status: 404, body: { type: "urn:problem-type:matchday:thing_not_found" } };

test("a DELETE whose answer was lost has had its effect if the API then answers 404", async () => {
  const lost = await serve("hang up", { status: 503 }, missing);
  assert.equal(await open({ url: lost.url, retry: waits() }).DELETE("/things"), undefined);
  assert.equal(lost.asked.length, 3);

  const refused = await serve({ status: 503 }, missing);
  await assert.rejects(open({ url: refused.url, retry: waits() }).DELETE("/things"), (error) => Problem.is(error, "thing_not_found"));

  const read = await serve("hang up", missing);
  await assert.rejects(open({ url: read.url, retry: waits() }).GET("/things"), (error) => Problem.is(error, "thing_not_found"));

  // Its answer is a thing, which nobody has any more.
  const answering = await serve("hang up", missing);
  const call = open({ url: answering.url, retry: waits() }).DELETE("/things/{id}", { params: { path: { id: "a" } } });
  await assert.rejects(call, (error) => Problem.is(error, "thing_not_found"));
});

test("a request with If-Match is not repeated without an answer", async () => {
  const { asked, url } = await serve("hang up");
  const params = { path: { id: "a" }, header: { "If-Match": '"7"' } };
  await assert.rejects(open({ url, retry: waits() }).DELETE("/things/{id}", { params }), TypeError);
  assert.equal(asked.length, 1);
});

test("read returns the ETag of an answer", async () => {
  const { url } = await serve({ status: 200, body: { things: ["a"] }, headers: { ETag: '"7"' } }, { status: 200, body: { things: [] } });
  assert.deepEqual(await open({ url }).read("/things"), { data: { things: ["a"] }, etag: '"7"' });
  assert.deepEqual(await open({ url }).read("/things"), { data: { things: [] }, etag: undefined });
});

test("pages follow next, and end without it or with the same", async () => {
  const { asked, url } = await serve({ status: 200, body: { things: ["a"], next: "2" } }, { status: 200, body: { things: ["b"], next: "2" } });
  const seen: string[] = [];
  for await (const page of open({ url }).pages("/things", { params: { query: { ids: ["1"] } } })) seen.push(...page.things);

  assert.deepEqual(seen, ["a", "b"]);
  assert.deepEqual(asked.map((a) => a.line), ["GET /lab/things?ids=1", "GET /lab/things?ids=1&cursor=2"]);
});

// memory is a store that notes what happens to it.
function memory(tokens: Tokens, log: string[]): TokenStore {
  return {
    load: async () => tokens,
    save: async (saved) => {
      await null; // a disk is slower than a call
      log.push(`stored ${saved.refreshToken}`);
      tokens = saved;
    },
  };
}

test("calls whose token has expired wait for one refresh, whose tokens are stored before use", async () => {
  const log: string[] = [];
  const session = new Session(memory({ accessToken: "old", refreshToken: "r1" }, log), async (token) => {
    log.push(`refresh ${token}`);
    return { accessToken: "new", refreshToken: "r2" };
  });
  const { url } = await serve({ status: 200, body: { things: [] } });
  const fetched: typeof fetch = async (request) => {
    const token = (request as Request).headers.get("Authorization");
    log.push(`${token}`);

    return token === "Bearer new" ? fetch(request) : new Response('{"message":"Unauthorized"}', { status: 401 });
  };
  const [a, b] = [open({ url, session, fetch: fetched }), open({ url, session, fetch: fetched })];
  await Promise.all([a.GET("/things"), b.GET("/things"), a.GET("/things")]);

  assert.deepEqual(log.filter((l) => l.startsWith("refresh") || l.startsWith("stored")), ["refresh r1", "stored r2"]);
  assert.ok(log.indexOf("stored r2") < log.indexOf("Bearer new"), log.join());
  assert.equal(log.filter((l) => l === "Bearer new").length, 3);
});

test("a token that is refused again is a Problem", async () => {
  const { asked, url } = await serve({ status: 401, body: { message: "Unauthorized" } });
  const session = new Session(memory({ accessToken: "old", refreshToken: "r1" }, []), async () => ({ accessToken: "new" }));
  await assert.rejects(open({ url, session }).GET("/things"), (error) => Problem.is(error) && error.status === 401);
  assert.equal(asked.length, 2);
});

test("a session that cannot be refreshed is SignedOut", async () => {
  const { url } = await serve({ status: 401, body: { message: "Unauthorized" } });
  const none = new Session(memory({ accessToken: "old" }, []), async () => assert.fail("there is nothing to refresh"));
  await assert.rejects(open({ url, session: none }).GET("/things"), SignedOut);
});

test("the user pool refreshes: the old token stays without a new one, and an invalid one is SignedOut", async () => {
  const pool = await serve({ status: 200, body: { access_token: "a2" } }, { status: 400, body: { error: "invalid_grant" } }, { status: 500 });
  const refresh = refreshAt(pool.url, "app");
  const log: string[] = [];
  assert.equal(await new Session(memory({ accessToken: "a1", refreshToken: "r1" }, log), refresh).renew("a1"), "a2");
  assert.deepEqual([pool.asked[0]?.body, log], ["grant_type=refresh_token&client_id=app&refresh_token=r1", ["stored r1"]]);
  await assert.rejects(refresh("r1"), SignedOut);
  await assert.rejects(refresh("r1"), /answers 500/);
});
