import { connect as open, type Client, type Options } from "../client.js";
import type { components, paths } from "./lab.types.js";

export type { components, operations, paths } from "./lab.types.js";

/** The objects of the contract, by name. */
export type Schemas = components["schemas"];

/** The codes of the problems that the operations may answer today. More may come. */
export type Code =
  | "no_things"
  | (string & {});

const keyed: ReadonlySet<string> = new Set([
  "POST /things",
]);

const removing: ReadonlySet<string> = new Set([
  "DELETE /things/{id}",
]);

/** connect returns a client of lab. */
export const connect = (options: Options): Client<paths> => open<paths>(options, keyed, removing);
