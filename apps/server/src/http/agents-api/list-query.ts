import { type AgentVisibility, agentVisibilities } from "@gantry/wire";
import { type Issue, throwIfAny } from "../../kernel/errors.ts";
import { searchTextIssue } from "../foundation/search-text.ts";

export interface Range {
  limit: number;
  offset: number;
}

type Query = Readonly<Record<string, unknown>>;

const largestLimit = 100;
const defaultLimit = 20;
/** No list is that long; it keeps the offset within what every number on the way can hold. */
const largestOffset = 1_000_000_000;

/** Reads the parameters of a list and collects what is wrong with them; `done` throws all of it at once. */
export class ListQuery {
  readonly #query: Query;
  readonly #issues: Issue[] = [];

  constructor(query: unknown) {
    this.#query = (query ?? {}) as Query;
  }

  /** `limit` 1..100 and `offset` from 0. */
  range(otherwise: number = defaultLimit): Range {
    return {
      limit: this.#wholeNumber("limit", otherwise, 1, largestLimit),
      offset: this.#wholeNumber("offset", 0, 0, largestOffset),
    };
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const given = this.#query[name];
    if (given === undefined || values.includes(given as T)) return given as T | undefined;
    const msg = `Must be one of ${values.join(", ")}`;
    this.#issues.push({ type: "one_of", loc: ["query", name], msg, ctx: { expected: [...values] } });
    return undefined;
  }

  /** A text that is searched for, or an id; the empty text is none. */
  text(name: string): string | undefined {
    const given = this.#query[name];
    const issue = searchTextIssue(name, given);
    if (!issue) return (given as string | undefined) || undefined;
    this.#issues.push(issue);
    return undefined;
  }

  done(): void {
    throwIfAny(this.#issues);
  }

  #wholeNumber(name: string, otherwise: number, least: number, most: number): number {
    const given = this.#query[name];
    const loc = ["query", name];
    if (given === undefined) return otherwise;
    if (typeof given !== "string" || !/^[+-]?\d+$/.test(given)) {
      this.#issues.push({ type: "int_parsing", loc, msg: "Must be a whole number" });
      return otherwise;
    }
    const value = Number(given);
    if (value < least) {
      this.#issues.push({ type: "greater_than_equal", loc, msg: `Must be at least ${least}`, ctx: { ge: least } });
    } else if (value > most) {
      this.#issues.push({ type: "less_than_equal", loc, msg: `Must be at most ${most}`, ctx: { le: most } });
    }
    return value;
  }
}

/** The range of a list without other parameters. */
export function readRange(query: unknown, otherwise?: number): Range {
  const read = new ListQuery(query);
  const range = read.range(otherwise);
  read.done();
  return range;
}

export function readAgentsQuery(query: unknown): Range & { visibility: AgentVisibility | undefined } {
  const read = new ListQuery(query);
  const wanted = { ...read.range(), visibility: read.oneOf("visibility", agentVisibilities) };
  read.done();
  return wanted;
}
