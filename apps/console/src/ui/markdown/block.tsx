import type { MarkedToken, Token, Tokens } from "marked";
import { memo, type ReactNode } from "react";
import { CodeFigure } from "../code.tsx";
import { decodeReferences } from "./inline.rules.ts";
import { Inline } from "./inline.tsx";

/** A block whose text did not change is the same token, and is not rendered again. */
export const BlockView = memo(function BlockView({ token }: { token: MarkedToken }): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return <Heading token={token} />;
    case "paragraph":
      return (
        <p>
          <Inline tokens={token.tokens} />
        </p>
      );
    case "text":
      return token.tokens ? <Inline tokens={token.tokens} /> : decodeReferences(token.text);
    case "code":
      return <Code token={token} />;
    case "blockquote":
      return (
        <blockquote className="flex flex-col gap-3 border-strong-line border-l-2 pl-3 text-muted">
          <Blocks tokens={token.tokens} />
        </blockquote>
      );
    case "list":
      return <List token={token} />;
    case "table":
      return <TableView token={token} />;
    case "hr":
      return <hr className="border-line" />;
    case "html":
      return <p className="whitespace-pre-wrap">{token.raw.trimEnd()}</p>;
    default:
      return token.raw;
  }
});

function Blocks({ tokens }: { tokens: readonly Token[] }) {
  return tokens.map((token, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a changed block is rendered again as a whole.
    <BlockView key={n} token={token as MarkedToken} />
  ));
}

const headingSizes: Readonly<Record<number, string>> = { 1: "text-lg", 2: "text-base" };

/** Not an h1 to h6, which would enter the outline of the page. */
function Heading({ token: { depth, tokens } }: { token: Tokens.Heading }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: see above.
    <p role="heading" aria-level={Math.min(6, depth + 2)} className={`mt-2 font-semibold ${headingSizes[depth] ?? ""}`}>
      <Inline tokens={tokens} />
    </p>
  );
}

/** The language is what follows the fence: "ts title=a.ts" is ts. */
function Code({ token: { lang, text } }: { token: Tokens.Code }) {
  const [language = ""] = (lang ?? "").trim().split(/[\s{,]/);
  return <CodeFigure text={text} language={language.slice(0, 40)} />;
}

function List({ token: { ordered, start, items } }: { token: Tokens.List }) {
  const entries = items.map((item, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a changed block is rendered again as a whole.
    <Item key={n} item={item} />
  ));
  return ordered ? (
    <ol start={start === "" ? 1 : start} className="flex list-decimal flex-col gap-1.5 pl-7">
      {entries}
    </ol>
  ) : (
    <ul className="flex list-disc flex-col gap-1.5 pl-6">{entries}</ul>
  );
}

function Item({ item: { task, checked, loose, tokens } }: { item: Tokens.ListItem }) {
  const shown = tokens.filter(({ type }) => type !== "checkbox" && type !== "space");
  return (
    <li className={task ? "-ml-5 flex list-none items-baseline gap-2" : ""}>
      {task && <input type="checkbox" disabled checked={checked === true} aria-label={checked ? "Done" : "Not done"} />}
      <div className={`min-w-0 flex-1 ${loose ? "flex flex-col gap-2" : "flex flex-col gap-1.5"}`}>
        {shown.map((token, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a changed block is rendered again as a whole.
          <div key={n}>
            <BlockView token={token as MarkedToken} />
          </div>
        ))}
      </div>
    </li>
  );
}

const aligned = { left: "text-left", center: "text-center", right: "text-right" } as const;

function TableView({ token: { header, rows } }: { token: Tokens.Table }) {
  const cellClass = ({ align }: Tokens.TableCell) =>
    `border border-line px-2.5 py-1.5 align-top ${aligned[align ?? "left"]}`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard.
    <section className="overflow-x-auto" tabIndex={0} aria-label="Table">
      <table className="border-collapse">
        <thead className="bg-sunken">
          <tr>
            {header.map((cell, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a changed block is rendered again as a whole.
              <th key={n} scope="col" className={`${cellClass(cell)} font-semibold`}>
                <Inline tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, line) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a changed block is rendered again as a whole.
            <tr key={line}>
              {row.map((cell, n) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a changed block is rendered again as a whole.
                <td key={n} className={cellClass(cell)}>
                  <Inline tokens={cell.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
