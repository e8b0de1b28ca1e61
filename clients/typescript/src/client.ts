import createClient, { type MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, PathsWithMethod, RequiredKeysOf, SuccessResponseJSON } from "openapi-typescript-helpers";
import { Problem, seconds } from "./problem.js";
import type { Session } from "./session.js";

/** Options of a client. */
export interface Options {
  /** The address of the room's API, such as `https://api.example.com/pickem`. */
  readonly url: string;
  /** The tokens of the user. Without a session a browser's cookies are sent. */
  readonly session?: Session;
  /** By default the fetch of the platform. */
  readonly fetch?: typeof globalThis.fetch;
  readonly retry?: Partial<Retry>;
}

/** Retry bounds how long a call is repeated. */
export interface Retry {
  /** How often a request is sent at most; 4. */
  readonly attempts: number;
  /** The longest wait before a request is repeated, in seconds; 30. A call that the API wants repeated later fails at once. */
  readonly longest: number;
  /** Waits, in milliseconds; rejects when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Returns a number from 0 up to 1. */
  readonly random: () => number;
}

/** Success is what a call of an operation returns: its JSON, or nothing. */
export type Success<Operation> =
  Operation extends Record<string | number, any> ? ([SuccessResponseJSON<Operation>] extends [never] ? undefined : SuccessResponseJSON<Operation>) : never;

type Arguments<Init> = RequiredKeysOf<Init> extends never ? [init?: Init] : [init: Init];

type Method<Paths extends Record<string, any>, M extends HttpMethod> = <
  Path extends PathsWithMethod<Paths, M>,
  Init extends MaybeOptionalInit<Paths[Path], M>,
>(
  path: Path,
  ...init: Arguments<Init>
) => Promise<Success<Paths[Path][M]>>;

/**
 * Client calls a room. Each method takes a path of the contract, and its parameters and body. It returns the JSON of the answer, and
 * throws a Problem if the API refuses, SignedOut if the user has to sign in again, and a TypeError if there is no answer.
 *
 * A request that is answered 429 or 503 is repeated after its Retry-After; so is one without an answer if that has no second effect.
 * If a DELETE that answers with nothing is then answered 404, it succeeds: the request whose answer was lost had its effect.
 * An operation that takes an Idempotency-Key gets one, and the same for each repetition, unless the call has one.
 */
export interface Client<Paths extends Record<string, any>> {
  GET: Method<Paths, "get">;
  PUT: Method<Paths, "put">;
  POST: Method<Paths, "post">;
  PATCH: Method<Paths, "patch">;
  DELETE: Method<Paths, "delete">;
  /** Is GET, with the ETag of the answer, which a change sends as `If-Match`. */
  read: <Path extends PathsWithMethod<Paths, "get">, Init extends MaybeOptionalInit<Paths[Path], "get">>(
    path: Path,
    ...init: Arguments<Init>
  ) => Promise<{ data: Success<Paths[Path]["get"]>; etag: string | undefined }>;
  /** Yields the pages of a list, each when it is asked for: `for await (const page of client.pages("/teams"))`. */
  pages: <Path extends PathsWithMethod<Paths, "get">, Init extends MaybeOptionalInit<Paths[Path], "get">>(
    path: Path,
    ...init: Arguments<Init>
  ) => AsyncGenerator<Success<Paths[Path]["get"]>, void, void>;
}

/**
 * connect returns the client of a room. `keyed` are the operations that take an Idempotency-Key, such as `POST /leagues`, and `removing`
 * the DELETEs that answer with nothing.
 */
export function connect<Paths extends Record<string, any>>(
  options: Options,
  keyed: ReadonlySet<string>,
  removing: ReadonlySet<string> = new Set(),
): Client<Paths> {
  const http = createClient<Record<string, any>>({
    baseUrl: options.url,
    querySerializer: { array: { style: "form", explode: false } },
    credentials: options.session === undefined ? "include" : "omit",
  });

  const ask = async (method: HttpMethod, path: string, init: any) => {
    const operation = `${method.toUpperCase()} ${path}`;
    const headers = new Headers(init?.headers);
    if (keyed.has(operation) && !headers.has(key) && init?.params?.header?.[key] === undefined) {
      headers.set(key, crypto.randomUUID());
    }

    const { data, error, response } = await http.request(method, path as never, {
      fetch: (request: Request) => send(request, options, removing.has(operation)),
      ...init,
      headers: Object.fromEntries(headers),
    });
    if (!response.ok) throw Problem.from(response, error);

    return { data, etag: response.headers.get("ETag") ?? undefined };
  };

  const call = (method: HttpMethod) => async (path: string, init: any) => (await ask(method, path, init)).data;
  const get = call("get");

  return {
    GET: get,
    PUT: call("put"),
    POST: call("post"),
    PATCH: call("patch"),
    DELETE: call("delete"),
    read: (path: string, init: any) => ask("get", path, init),
    pages: (path: string, init: any) => pages(get, path, init),
  } as Client<Paths>;
}

/** Paged is an answer that may have a next page. */
interface Paged {
  next?: string;
  meta?: { next?: string };
}

async function* pages(get: (path: string, init: any) => Promise<any>, path: string, init: any) {
  for (let cursor: string | undefined = init?.params?.query?.cursor; ; ) {
    const query = { ...init?.params?.query, ...(cursor === undefined ? {} : { cursor }) };
    const page: Paged = await get(path, { ...init, params: { ...init?.params, query } });
    yield page;

    const next: string | undefined = page.next ?? page.meta?.next;
    if (next === undefined || next === cursor) return; // a list that does not move on has ended, too

    cursor = next;
  }
}

const key = "Idempotency-Key";

async function send(request: Request, options: Options, removes: boolean): Promise<Response> {
  const retry: Retry = { attempts: 4, longest: 30, sleep, random: Math.random, ...options.retry };
  // What has no second effect: a lost answer is no reason to fail. A second If-Match would fail after the first had its effect.
  const repeatable = request.headers.has(key) || (["GET", "PUT", "DELETE"].includes(request.method) && !request.headers.has("If-Match"));
  let renewed = false;
  let lost = false; // an answer

  for (let attempt = 1; ; attempt++) {
    const token = await options.session?.accessToken();
    const sent = request.clone();
    if (token !== undefined) sent.headers.set("Authorization", `Bearer ${token}`);

    let response: Response | undefined;

    try {
      response = await whole(await (options.fetch ?? globalThis.fetch)(sent));
    } catch (error) {
      if (!repeatable || attempt >= retry.attempts || request.signal.aborted) throw error;

      lost = true;
    }

    if (removes && lost && response?.status === 404) return new Response(null, { status: 204 });

    if (response?.status === 401 && token !== undefined && !renewed) {
      await options.session?.renew(token);

      renewed = true;
      attempt--; // the refusal was of the token

      continue;
    }

    const after = response && seconds(response);
    if (response && ![429, 503].includes(response.status)) return response;
    if (response && (attempt >= retry.attempts || (after ?? 0) > retry.longest)) return response;

    // Half a second, doubled each time. Phones that were refused together do not come back together.
    const backOff = Math.min(0.5 * 2 ** (attempt - 1), retry.longest);
    const wait = after === undefined ? backOff * (0.5 + retry.random() / 2) : after + backOff * retry.random();
    await retry.sleep(wait * 1000, request.signal);
  }
}

// whole reads the body of an answer, which may break off. An answer without a body must not have an empty one.
async function whole(response: Response): Promise<Response> {
  const { status, statusText, headers } = response;
  const body = await response.arrayBuffer();

  return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", aborted, { once: true });

    function done() {
      signal.removeEventListener("abort", aborted);
      resolve();
    }

    function aborted() {
      clearTimeout(timer);
      reject(signal.reason);
    }

    if (signal.aborted) aborted();
  });
}
