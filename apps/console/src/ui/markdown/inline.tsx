import type { MarkedToken, Token, Tokens } from "marked";
import type { ReactNode } from "react";
import { decodeReferences, safeAddress } from "./inline.rules.ts";

/** Elements, never HTML: tags in the text are shown as they are written. */
export function Inline({ tokens }: { tokens: readonly Token[] | undefined }): ReactNode {
  return tokens?.map((token, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a changed block is rendered again as a whole.
    <InlineToken key={n} token={token as MarkedToken} />
  ));
}

function InlineToken({ token }: { token: MarkedToken }): ReactNode {
  switch (token.type) {
    case "strong":
      return (
        <strong className="font-semibold">
          <Inline tokens={token.tokens} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline tokens={token.tokens} />
        </del>
      );
    case "codespan":
      return <code className="rounded bg-sunken px-1 py-0.5 font-mono text-[0.9em]">{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return <LinkText token={token} />;
    case "image":
      return <PictureLink token={token} />;
    case "escape":
      return token.text;
    case "text":
      return token.tokens ? <Inline tokens={token.tokens} /> : decodeReferences(token.text);
    default:
      return token.raw;
  }
}

function LinkText({ token: { href, tokens } }: { token: Tokens.Link }) {
  const address = safeAddress(href);
  return address === undefined ? (
    <Inline tokens={tokens} />
  ) : (
    <Outside address={address}>{<Inline tokens={tokens} />}</Outside>
  );
}

/** Not loaded: the address would learn who reads the text, and when. */
function PictureLink({ token: { href, text, raw } }: { token: Tokens.Image }) {
  const address = safeAddress(href);
  if (address === undefined) return text || raw;
  return <Outside address={address}>Image: {text || address}</Outside>;
}

function Outside({ address, children }: { address: string; children: ReactNode }) {
  return (
    <a
      href={address}
      title={address}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="text-accent underline underline-offset-2 hover:no-underline"
    >
      {children}
    </a>
  );
}
