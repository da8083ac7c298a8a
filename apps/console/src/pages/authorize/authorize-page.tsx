import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { readAuthorization } from "../../api/authorization.ts";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { ConsentForm } from "./consent-form.tsx";

/** An app has sent the browser here, to get access to /mcp. */
export function AuthorizePage() {
  const { request = "" } = useSearch({ from: "/app/authorize" });
  const asked = useQuery({
    queryKey: ["authorization", request],
    queryFn: ({ signal }) => readAuthorization(request, signal),
    enabled: request !== "",
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Page title="Connect an app">
      {request === "" ? (
        <Empty title="Nothing to approve">Add Gantry in the app. The app then opens this page.</Empty>
      ) : (
        <Loaded query={asked}>{(data) => <ConsentForm asked={data} request={request} />}</Loaded>
      )}
    </Page>
  );
}
