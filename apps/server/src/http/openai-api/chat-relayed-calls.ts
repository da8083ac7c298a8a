import { isRecord } from "../../kernel/is-record.ts";

interface RelayedCall {
  id: string;
  /** The upstream's own index. */
  givenIndex: unknown;
  isNamed: boolean;
}

type Part = Record<string, unknown>;

/**
 * Gives each tool call of a relayed stream its own index, and its id and name once. Some servers send the index 0 for every
 * call, or repeat the id and name, which some clients would join.
 */
export class RelayedCalls {
  readonly #calls: RelayedCall[] = [];

  get size(): number {
    return this.#calls.length;
  }

  repaired(parts: readonly unknown[]): Part[] {
    return parts.filter(isRecord).map((part) => this.#part(part));
  }

  #part({ id, index: givenIndex, type, ...rest }: Part): Part {
    const { name, arguments: given, ...others }: Part = isRecord(rest.function) ? rest.function : {};
    const newId = filled(id);
    const newName = filled(name);
    const text = textOf(given);
    const index = this.#continued(givenIndex, newId, newName);
    const known = index === undefined ? undefined : this.#calls[index];
    if (known) {
      const isNamedNow = newName !== undefined && !known.isNamed;
      known.isNamed ||= isNamedNow;
      const more = { ...(isNamedNow && { name: newName }), ...(text !== undefined && { arguments: text }) };
      return { index, ...rest, function: { ...others, ...more } };
    }
    const call = { id: newId ?? `call_${crypto.randomUUID()}`, givenIndex, isNamed: newName !== undefined };
    this.#calls.push(call);
    const start = { index: this.#calls.length - 1, id: call.id, type: filled(type) ?? "function" };
    return { ...start, ...rest, function: { ...others, ...(newName && { name: newName }), arguments: text ?? "" } };
  }

  /** The index of the call that a part continues. Another id or, without an index, another name starts a call. */
  #continued(givenIndex: unknown, id: string | undefined, name: string | undefined): number | undefined {
    const known = this.#calls.findLastIndex((call) => {
      if (givenIndex !== undefined) return call.givenIndex === givenIndex;
      return id === undefined || call.id === id;
    });
    const call = this.#calls[known];
    if (!call) return undefined;
    const isOther = id === undefined ? givenIndex === undefined : id !== call.id;
    return isOther && name !== undefined && call.isNamed ? undefined : known;
  }
}

function filled(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function textOf(given: unknown): string | undefined {
  if (given === undefined || given === null) return undefined;
  return typeof given === "string" ? given : JSON.stringify(given);
}
