import { useQuery } from "@tanstack/react-query";
import { useParams, useRouter } from "@tanstack/react-router";
import type { MouseEvent } from "react";
import { Markdown } from "../../ui/markdown/markdown.tsx";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { documentOf, slugIn, withConsoleLinks } from "./docs.rules.ts";
import { documents } from "./docs-files.ts";
import { DocsMenu } from "./docs-menu.tsx";

/** The documentation of this version, as it is in the repository. */
export function DocsPage() {
  const slug = slugIn(useParams({ from: "/app/docs/$" })._splat);
  const router = useRouter();
  const home = `${location.origin}${router.basepath}/docs/`;
  const document = documents.get(slug);
  const text = useQuery({
    queryKey: ["docs", slug],
    queryFn: async () => (await document?.read()) ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const follow = (event: MouseEvent) => {
    const link = (event.target as Element).closest("a");
    if (!link?.href.startsWith(home) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    router.history.push(link.href.slice(location.origin.length));
  };
  const { title, body } = documentOf(text.data ?? "");
  return (
    <Page title={title}>
      <div className="flex flex-col gap-5 lg:flex-row lg:items-start">
        <Panel className="order-2 flex-1 lg:order-1">
          <Loaded query={text}>
            {(found) =>
              found === null ? (
                <Empty title="Page not found">Choose a page from the list.</Empty>
              ) : (
                // biome-ignore lint/a11y/noStaticElementInteractions: keeps links of the text inside the console; the links themselves work by keyboard.
                // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click.
                <div className="max-w-prose" onClick={follow}>
                  <Markdown
                    isDocument
                    text={withConsoleLinks(body, document?.file ?? "", (to) =>
                      documents.has(to) ? `${home}${to}` : undefined,
                    )}
                  />
                </div>
              )
            }
          </Loaded>
        </Panel>
        <DocsMenu slug={slug} />
      </div>
    </Page>
  );
}
