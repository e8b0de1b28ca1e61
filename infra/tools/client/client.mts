// What the rooms' clients share. infra/rooms/ROOM/client.mts asks public operations of a
// running fleet, by a client whose types are generated from the OpenAPI document of the room:
// node client.mjs http://localhost:8080. It fails if an answer differs from its type in what it
// looks at. The compiler fails if it accepts a call that the types must refuse.

declare const process: { argv: string[] };

export function expect(ok: boolean, what: string): asserts ok {
  if (!ok) throw new Error(what);
}

const url = process.argv[2];
expect(url !== undefined, "usage: client.mjs URL");

// base is the URL of the fleet.
export const base: string = url;

// problem returns the problem document of a refusal, which a function has answered: API Gateway's own
// refusals have a message only.
export const problem = <E,>(error: E | undefined) => error as Exclude<E, { message: string }> | undefined;
