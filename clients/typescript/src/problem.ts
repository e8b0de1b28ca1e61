const prefix = "urn:problem-type:matchday:";

/** Detail is one wrong field of a request. */
export interface Detail {
  /** The field, such as `body.name` or `query.cursor`. */
  readonly location?: string;
  readonly message?: string;
}

/**
 * Problem is the error of a call that the API refused. `Code` are the codes of a room:
 * `Problem<Code>` of `@matchday/client/pickem`.
 */
export class Problem<Code extends string = string> extends Error {
  override readonly name = "Problem";

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** What an app decides by, such as `too_many_leagues`; undefined if API Gateway refused. More codes may come. */
    readonly code: Code | undefined,
    /** What is wrong, for people. */
    readonly detail: string,
    /** The wrong fields. */
    readonly errors: readonly Detail[],
    /** When to repeat the request at the earliest, in seconds from now; undefined if the API does not say. */
    readonly retryAfter: number | undefined,
  ) {
    super(`${status}${code === undefined ? "" : ` ${code}`}: ${detail}`);
  }

  /** is reports whether an error is a problem, with this code if one is given. */
  static is<Code extends string = string>(error: unknown, code?: Code): error is Problem<Code> {
    return error instanceof Problem && (code === undefined || error.code === code);
  }

  /** from reads the problem of an answer. `body` is its JSON, or its text. */
  static from(response: Response, body: unknown): Problem {
    const member = (name: string) => (typeof body === "object" && body !== null ? (body as Record<string, unknown>)[name] : undefined);
    const text = (name: string) => (typeof member(name) === "string" ? (member(name) as string) : undefined);
    const type = text("type");
    const errors = member("errors");

    return new Problem(
      response.status,
      type?.startsWith(prefix) ? type.slice(prefix.length) : undefined,
      text("detail") ?? text("message") ?? response.statusText,
      Array.isArray(errors) ? (errors as Detail[]) : [],
      seconds(response),
    );
  }
}

/** seconds returns the Retry-After of an answer, in seconds; undefined if there is none. */
export function seconds(response: Response): number | undefined {
  const after = response.headers.get("Retry-After");

  return after !== null && /^\d+$/.test(after) ? Number(after) : undefined;
}
