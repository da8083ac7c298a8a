import type { RunEvent, RunTextEvent } from "@gantry/sdk";
import { visible } from "../frame/format.rules.ts";
import type { Output } from "../frame/output.ts";
import { createTextReader, eventText } from "./run-text.rules.ts";

/** Shows a run while it works. Everything goes to stderr: stdout gets the result. */
export interface RunView {
  /** `who` names a sub-agent, `level` counts from 0 for the run itself. */
  show(event: RunEvent | RunTextEvent, who: string | undefined, level: number): void;
  /** A line that does not belong to an event. */
  note(text: string): void;
  /** Keeps what comes back until `release`, so that a question stays readable. */
  hold(): void;
  readonly isHeld: boolean;
  release(): void;
  /** The text of the last model call of the run, if all of it was shown. */
  lastText(): string;
}

export function createRunView(out: Output): RunView {
  const { stderr } = process;
  const readText = createTextReader();
  let isHeld = false;
  let held = "";
  /** Whether the cursor is behind a text without a line end. */
  let isInText = false;
  let text = "";
  const shownTexts = new Set<string>();

  const write = (piece: string): void => {
    if (isHeld) held += piece;
    else {
      out.progress(undefined);
      stderr.write(stderr.isTTY ? visible(piece) : piece);
    }
  };
  const endText = (): void => {
    if (isInText && !text.endsWith("\n")) write("\n");
    isInText = false;
  };
  const line = (content: string, level: number): void => {
    endText();
    write(`${"  ".repeat(level)}${content}\n`);
  };
  /** The text of a call was shown as it came; its event repeats it. */
  const paragraph = (message: string, level: number): void => {
    const trimmed = message.trim();
    if (trimmed === "" || (level === 0 && shownTexts.delete(trimmed))) return;
    for (const one of trimmed.split("\n")) line(one, level);
  };

  function showText({ data }: RunTextEvent): void {
    if (data.kind !== "text") return;
    const piece = readText(data);
    if (piece.isNewCall) {
      endText();
      text = "";
    }
    if (piece.text === "") return;
    text += piece.text;
    isInText = true;
    write(piece.text);
  }

  function show(event: RunEvent | RunTextEvent, who: string | undefined, level: number): void {
    if (event.type === "text") {
      // Texts of sub-agents that work at the same time would be mixed.
      if (level === 0) showText(event);
      return;
    }
    if (text.trim() !== "") shownTexts.add(text.trim());
    if (event.type === "planning" || event.type === "reasoning") {
      paragraph(event.data.message, level);
      return;
    }
    // The end of the run itself is reported with its result.
    const isEnd = event.type === "completed" || event.type === "error";
    const content = isEnd && level === 0 ? undefined : eventText(event);
    if (content === undefined) endText();
    else line(`${who === undefined ? "" : `${who}: `}${content}`, level);
  }

  return {
    show,
    note: (content) => line(content, 0),
    get isHeld() {
      return isHeld;
    },
    hold() {
      out.progress(undefined);
      endText();
      isHeld = true;
    },
    release() {
      isHeld = false;
      const kept = held;
      held = "";
      if (kept !== "") write(kept);
    },
    lastText: () => text,
  };
}
