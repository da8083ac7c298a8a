import { Component, lazy, type ReactNode, Suspense, useState } from "react";
import { Button } from "../button.tsx";
import { CopyButton } from "../code.tsx";
import { usePaced } from "./use-paced.ts";

const MarkdownBlocks = lazy(async () => ({ default: (await import("./markdown-blocks.tsx")).MarkdownBlocks }));

/** Longer texts are shown as they are. */
const longestFormatted = 500_000;

interface MarkdownProps {
  text: string;
  /** More text may follow. */
  streaming?: boolean;
  /** A file whose author wrapped the lines, rather than an answer. */
  isDocument?: boolean;
  /** Shows buttons to copy the text and to see it as it was written. */
  hasTools?: boolean;
}

/** Text of users and models. Nothing in it becomes HTML, runs, or loads anything. */
export function Markdown({ text, streaming = false, isDocument = false, hasTools = false }: MarkdownProps) {
  const [isRaw, setRaw] = useState(false);
  const paced = usePaced(text, streaming);
  const plain = <p className="whitespace-pre-wrap break-words">{paced}</p>;
  const shown =
    isRaw || paced.length > longestFormatted ? (
      plain
    ) : (
      <PlainOnError plain={plain}>
        <Suspense fallback={plain}>
          <div className="flex flex-col gap-3 leading-relaxed">
            <MarkdownBlocks text={paced} streaming={streaming} breaks={!isDocument} />
          </div>
        </Suspense>
      </PlainOnError>
    );
  if (!hasTools) return <div className="wrap-anywhere min-w-0">{shown}</div>;
  return (
    <div className="wrap-anywhere min-w-0">
      <div className="mb-1 flex justify-end gap-1">
        <Button kind="quiet" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          {isRaw ? "Formatted" : "Raw"}
        </Button>
        <CopyButton text={text} />
      </div>
      {shown}
    </div>
  );
}

/** Without the parser, offline for example, the text itself must still be readable. */
class PlainOnError extends Component<{ plain: ReactNode; children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };
  static getDerivedStateFromError() {
    return { hasFailed: true };
  }
  override render() {
    return this.state.hasFailed ? this.props.plain : this.props.children;
  }
}
