/** One step into the input: a property's name, or null for any element of what stands there. */
export type PlaceholderStep = string | null;

export interface Placeholder {
  /** From the root of the input. */
  path: readonly PlaceholderStep[];
  /** As the template spells it. */
  text: string;
}

export interface TemplateCheck {
  /** Why the template cannot be used; none when it can. */
  faults: readonly string[];
  /** Every place of the input that the template reads, as far as that can be told without an input. */
  placeholders: readonly Placeholder[];
}

/**
 * The templates port: what turns the goal of an agent and the input of a run into a prompt. `check` is called when an
 * agent is saved, `render` when a run starts.
 *
 * Templates are written by one user and filled with what another one sends, inside the server. What must hold:
 * - no template and no input, however they were made, runs code, reads anything but the own properties of the input, or
 *   holds the event loop for longer than some tens of milliseconds;
 * - the result is bounded; a template that would exceed a bound is refused with a fault about `input`;
 * - nothing is escaped, and a value that is missing is empty.
 *
 * `input` is plain data, as JSON gives it.
 */
export interface Templates {
  check(source: string): TemplateCheck;
  render(source: string, input: unknown): string;
}
