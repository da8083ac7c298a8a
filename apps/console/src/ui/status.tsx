import { Badge } from "./badge.tsx";
import { statusWord } from "./status.rules.ts";

interface StatusProps {
  /** Of a prediction, of a run or of a step of a run. */
  status: string;
  /** Of a failure: the HTTP status, or the error type of a run. */
  code?: number | string | null | undefined;
}

/** A status as a word; the tooltip of a failure has the code. */
export function Status({ status, code }: StatusProps) {
  const { word, tone } = statusWord(status, code);
  const detail = tone === "bad" && code ? (typeof code === "number" ? `HTTP ${code}` : code) : undefined;
  return (
    <span title={detail}>
      <Badge tone={tone}>{word}</Badge>
    </span>
  );
}
