import { Link, useRouter } from "@tanstack/react-router";
import { MissingChunk } from "../shell/lazy-page.ts";
import { buttonClass } from "../ui/button.tsx";
import { Empty, Failure } from "../ui/notice.tsx";
import { Page, Panel } from "../ui/page.tsx";

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <Panel>
        <Empty title="This page does not exist">
          <p>The link may be mistyped, or what it pointed to has been deleted.</p>
          <Link to="/" className={`${buttonClass("primary")} mt-3`}>
            Back to overview
          </Link>
        </Empty>
      </Panel>
    </Page>
  );
}

/** The server cannot be reached, or the page has a bug. */
export function BrokenPage({ error }: { error: unknown }) {
  const router = useRouter();
  const retry = async () => {
    if (error instanceof MissingChunk && !(await canLoad(error))) {
      // After an upgrade the old chunks no longer exist; reloading the page loads the new build.
      if (await isServed()) location.reload();
    } else await router.invalidate();
  };
  return (
    <Page title="This page couldn't be loaded">
      <Failure error={error} onRetry={() => void retry()} />
    </Page>
  );
}

const canLoad = ({ tryAgain }: MissingChunk): Promise<boolean> =>
  tryAgain().then(
    () => true,
    () => false,
  );

const isServed = (): Promise<boolean> =>
  fetch(import.meta.env.BASE_URL, { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );
