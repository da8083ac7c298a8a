import type { ArrivingToolCall } from "../text/answer.ts";
import { JsonEnd } from "./json-end.ts";

/** The calls of an answer. Each part is read in the time of its own length, because an upstream may send millions. */
export class ArrivingCalls {
  /** The first call with an id, and the last one with an index of the upstream. */
  readonly #byId = new Map<string, ArrivingToolCall>();
  readonly #byIndex = new Map<unknown, ArrivingToolCall>();
  readonly #ends = new Map<ArrivingToolCall, JsonEnd>();
  #last: ArrivingToolCall | undefined;

  add(call: ArrivingToolCall, index: unknown): void {
    if (!this.#byId.has(call.id)) this.#byId.set(call.id, call);
    this.#byIndex.set(index, call);
    this.#ends.set(call, new JsonEnd());
    this.#last = call;
  }

  readArguments(call: ArrivingToolCall, fragment: string): void {
    this.#ends.get(call)?.read(fragment);
  }

  /**
   * Some servers send no index, or the index 0 for every call. Without one, an id or else the last call is continued. A
   * name with another id, or without any id, starts a new call if the arguments of the call before are complete.
   */
  continued(index: unknown, id: string | undefined, name: string): ArrivingToolCall | undefined {
    if (index === undefined && id !== undefined) return this.#byId.get(id);
    const call = index === undefined ? this.#last : this.#byIndex.get(index);
    if (!call || name === "" || call.name === "") return call;
    const isOther = id === undefined ? index === undefined : id !== call.id;
    return isOther && this.#ends.get(call)?.isReached ? undefined : call;
  }
}
