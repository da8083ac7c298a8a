/** A property name, or null for any element. */
export type PlaceholderStep = string | null;

export interface Placeholder {
  /** From the root of the input. */
  path: readonly PlaceholderStep[];
  /** As written in the template. */
  text: string;
}

export interface TemplateCheck {
  /** Empty if the template can be used. */
  faults: readonly string[];
  /** Every path of the input that the template reads, as far as it does not depend on the input. */
  placeholders: readonly Placeholder[];
}

/**
 * The templates port turns the goal of an agent and the input of a run into a prompt. `check` runs when an agent is saved,
 * `render` when a run starts.
 *
 * One user writes a template and another sends the input, inside the server. Drivers guarantee:
 * - no template or input runs code, reads anything but the own properties of the input, or blocks the event loop for more
 *   than some tens of milliseconds;
 * - the result is bounded; exceeding a bound is a fault about `input`;
 * - nothing is escaped, and a missing value is empty.
 *
 * `input` is plain JSON data.
 */
export interface Templates {
  check(source: string): TemplateCheck;
  render(source: string, input: unknown): string;
  /**
   * Renders every text in a JSON value over `data`. A text that is one placeholder keeps the type of its value; a field
   * whose placeholder is missing is left out. The bounds hold for all texts together.
   */
  fill(template: unknown, data: unknown): unknown;
}
