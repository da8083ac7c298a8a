import { type Fault, fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";

interface RelayedCall {
  id: string;
  index: number;
  isNamed: boolean;
}

type Part = Record<string, unknown>;

/** As for answers that are not relayed. */
const mostCalls = 1024;

/**
 * Gives each tool call of a relayed stream its own index, and its id and name once. Some servers send the index 0 for every
 * call, or repeat the id and name, which some clients would join.
 */
export class RelayedCalls {
  #size = 0;
  #last: RelayedCall | undefined;
  /** The last call with an id, and with an index of the upstream. */
  readonly #byId = new Map<string, RelayedCall>();
  readonly #byGivenIndex = new Map<unknown, RelayedCall>();

  get size(): number {
    return this.#size;
  }

  repaired(parts: readonly unknown[]): Part[] {
    return parts.filter(isRecord).map((part) => this.#part(part));
  }

  #part({ id, index: givenIndex, type, ...rest }: Part): Part {
    const { name, arguments: given, ...others }: Part = isRecord(rest.function) ? rest.function : {};
    const newId = filled(id);
    const newName = filled(name);
    const text = textOf(given);
    const known = this.#continued(givenIndex, newId, newName);
    if (known) {
      const isNamedNow = newName !== undefined && !known.isNamed;
      known.isNamed ||= isNamedNow;
      const more = { ...(isNamedNow && { name: newName }), ...(text !== undefined && { arguments: text }) };
      return { index: known.index, ...rest, function: { ...others, ...more } };
    }
    const { index, id: ownId } = this.#started(newId, givenIndex, newName !== undefined);
    const start = { index, id: ownId, type: filled(type) ?? "function" };
    return { ...start, ...rest, function: { ...others, ...(newName && { name: newName }), arguments: text ?? "" } };
  }

  #started(id: string | undefined, givenIndex: unknown, isNamed: boolean): RelayedCall {
    if (this.#size >= mostCalls) throw tooManyCalls();
    const call = { id: id ?? `call_${crypto.randomUUID()}`, index: this.#size++, isNamed };
    this.#last = call;
    this.#byId.set(call.id, call);
    this.#byGivenIndex.set(givenIndex, call);
    return call;
  }

  /** The call that a part continues. Another id or, without an index, another name starts a call. */
  #continued(givenIndex: unknown, id: string | undefined, name: string | undefined): RelayedCall | undefined {
    const known = this.#latest(givenIndex, id);
    if (!known) return undefined;
    const isOther = id === undefined ? givenIndex === undefined : id !== known.id;
    return isOther && name !== undefined && known.isNamed ? undefined : known;
  }

  #latest(givenIndex: unknown, id: string | undefined): RelayedCall | undefined {
    if (givenIndex !== undefined) return this.#byGivenIndex.get(givenIndex);
    return id === undefined ? this.#last : this.#byId.get(id);
  }
}

function tooManyCalls(): Fault {
  return fault("downstream_service_error", "The service behind the model sent too many tool calls.");
}

function filled(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function textOf(given: unknown): string | undefined {
  if (given === undefined || given === null) return undefined;
  return typeof given === "string" ? given : JSON.stringify(given);
}
