import type { AgentRecord } from "@gantry/sdk";
import { TextLink } from "../../ui/link.tsx";
import { Notice } from "../../ui/notice.tsx";
import { warningText } from "./warning-text.rules.ts";

export function AgentWarnings({ warnings }: Pick<AgentRecord, "warnings">) {
  if (warnings.length === 0) return null;
  return (
    <Notice tone="warn" title="Check this">
      <ul className="list-disc pl-4">
        {warnings.map(warningText).map(({ text, fix }) => (
          <li key={text}>
            {text} {fix && <TextLink to={fix.to}>{fix.label}</TextLink>}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
