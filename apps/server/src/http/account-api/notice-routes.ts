import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance } from "fastify";
import { type Notices, noticeRecord } from "../../features/notices/index.ts";
import { listEnvelope, rangeOf } from "../foundation/page-query.ts";
import { acceptEmptyBodies } from "../foundation/parse-json.ts";
import { route } from "../foundation/route.ts";

const operations = accountOperations;

export async function noticeRoutes(app: FastifyInstance, { notices }: { notices: Notices }): Promise<void> {
  acceptEmptyBodies(app);

  route(app, operations.listNotices, async ({ caller, query }) => {
    const { entries, total } = await notices.list(caller, { onlyOpen: query.status === "open", ...rangeOf(query) });
    return listEnvelope(entries.map(noticeRecord), query, total);
  });

  route(app, operations.dismissNotice, async ({ caller, params: { id } }) => {
    await notices.dismiss(caller, id);
  });

  route(app, operations.readNoticeSettings, async ({ caller }) => notices.readSettings(caller));

  route(app, operations.putNoticeSettings, async ({ caller, body }) => notices.putSettings(caller, body));
}
