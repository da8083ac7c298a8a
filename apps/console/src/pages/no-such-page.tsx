import { Link, useRouter } from "@tanstack/react-router";
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
  return (
    <Page title="This page could not be shown">
      <Failure error={error} onRetry={() => void router.invalidate()} />
    </Page>
  );
}
