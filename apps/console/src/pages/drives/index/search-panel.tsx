import type { DriveSearchResult } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { TextInput } from "../../../ui/field.tsx";
import { linkClass } from "../../../ui/link.tsx";
import { Empty, Loaded, Notice } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { citation } from "./citation.rules.ts";
import { driveSearchQuery } from "./index-queries.ts";

interface SearchPanelProps {
  driveId: string;
  /** What is searched. */
  q: string | undefined;
}

/** Searches the texts of an indexed drive. */
export function SearchPanel({ driveId, q }: SearchPanelProps) {
  const [typed, setTyped] = useState(q ?? "");
  const navigate = useNavigate();
  const open = (wanted: string) =>
    void navigate({ to: "/drives/$driveId", params: { driveId }, search: wanted === "" ? {} : { q: wanted } });
  return (
    <section aria-label="Search in files" className="flex flex-col gap-3">
      <search>
        <form
          className="flex gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            open(typed.trim());
          }}
        >
          <TextInput
            type="search"
            aria-label="Search in files"
            placeholder="Search in the texts of this drive"
            maxLength={1000}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          <Button type="submit" icon={<Search size={14} />}>
            Search
          </Button>
          {q !== undefined && (
            <Button
              kind="quiet"
              onClick={() => {
                setTyped("");
                open("");
              }}
            >
              Clear
            </Button>
          )}
        </form>
      </search>
      {q !== undefined && <Results key={q} driveId={driveId} q={q} />}
    </section>
  );
}

const modes = { hybrid: "by words and meaning", text: "by words", vector: "by meaning" };

function Results({ driveId, q }: { driveId: string; q: string }) {
  const found = useQuery(driveSearchQuery(driveId, q));
  return (
    <Panel flush title={`Results for “${q}”`}>
      <Loaded query={found}>
        {({ results, mode, is_complete }) => (
          <>
            {!is_complete && (
              <div className="p-4 pb-0">
                <Notice>Some files are not indexed yet, so results may be missing.</Notice>
              </div>
            )}
            {results.length === 0 ? (
              <Empty title="Nothing found">Try other words.</Empty>
            ) : (
              <ol aria-label="Results" className="divide-y divide-line">
                {results.map((result, n) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a file may have several equal passages.
                  <Result key={n} driveId={driveId} q={q} result={result} />
                ))}
              </ol>
            )}
            <p className="border-line border-t px-4 py-2 text-muted text-xs">
              {results.length === 1 ? "1 passage" : `${results.length} passages`}, found {modes[mode]}
            </p>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function Result({ driveId, q, result }: { driveId: string; q: string; result: DriveSearchResult }) {
  const { path, heading, text } = result;
  const where = citation(result);
  return (
    <li className="flex flex-col gap-1 px-4 py-3">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <Link
          to="/drives/$driveId"
          params={{ driveId }}
          search={{ q, file: path }}
          className={`wrap-anywhere font-medium ${linkClass}`}
        >
          {path}
        </Link>
        {where && <span className="text-muted text-xs">{where}</span>}
      </p>
      {heading && <p className="wrap-anywhere text-muted text-xs">{heading}</p>}
      <p className="wrap-anywhere line-clamp-4 whitespace-pre-line">{text}</p>
    </li>
  );
}
