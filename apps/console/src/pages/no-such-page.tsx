import { Link, useRouter } from "@tanstack/react-router";
import { MissingPart } from "../shell/lazy-page.ts";
import { Failure } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";

export function NoSuchPage() {
  return (
    <Page title="There is no such page">
      <p>
        <Link to="/" className="text-accent hover:underline">
          Back to the overview
        </Link>
      </p>
    </Page>
  );
}

/** A page that could not be shown: the server is away, or this is a bug. */
export function BrokenPage({ error }: { error: unknown }) {
  const router = useRouter();
  const retry = async () => {
    if (error instanceof MissingPart && !(await canLoad(error))) {
      // After an upgrade a part of the old build is gone for good, and the page of the new one names those of the new.
      if (await isServed()) location.reload();
    } else await router.invalidate();
  };
  return (
    <Page title="This page could not be shown">
      <Failure error={error} onRetry={() => void retry()} />
    </Page>
  );
}

const canLoad = ({ tryAgain }: MissingPart): Promise<boolean> =>
  tryAgain().then(
    () => true,
    () => false,
  );

const isServed = (): Promise<boolean> =>
  fetch(import.meta.env.BASE_URL, { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );
