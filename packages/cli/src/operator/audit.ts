import type { AuditRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { describeFailure, Failure, wrongArguments } from "../frame/failure.ts";
import { ago } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { momentOf } from "../frame/moment.rules.ts";
import { withTools } from "../server-tools.ts";

const notChecked = 2;

export async function listAudit(context: Context): Promise<number> {
  const { text, signal } = context;
  const client = await context.client();
  const moment = (name: "from" | "to") => {
    const given = text(name);
    return given === undefined ? {} : { [`${name}_date`]: momentOf(name, given, "ago") };
  };
  const own = { action: text("action"), q: text("id"), ...moment("from"), ...moment("to"), signal };
  const others = { actor: text("actor"), owner: text("owner"), object: text("object") };
  const isOwn = context.flag("own");
  if (isOwn && Object.values(others).some((given) => given !== undefined)) {
    throw wrongArguments("--own lists the records of your account: leave out --actor, --owner and --object.");
  }
  return printList<AuditRecord>(
    context,
    isOwn ? client.account.eachAuditRecord(own) : client.admin.audit.each({ ...own, ...others }),
    [
      { title: "seq", align: "right", value: ({ seq }) => String(seq) },
      { title: "when", value: ({ created_at }) => ago(created_at) },
      { title: "who", value: ({ actor }) => actor.username ?? actor.type },
      { title: "from", value: ({ origin }) => origin?.address ?? "" },
      { title: "action", value: ({ action }) => action },
      { title: "object", value: ({ object }) => object.name ?? object.id },
      { title: "owner", value: ({ owner }) => owner?.username ?? "" },
    ],
    "No records match.",
  );
}

/** Reads the database of the settings: a server could not vouch for itself. */
export async function verifyAudit({ out, flag, text }: Context): Promise<number> {
  const noted = text("head");
  if (noted !== undefined && !/^[0-9a-f]{64}$/i.test(noted)) {
    throw new Failure(
      "--head takes a hash of 64 hexadecimal digits, as an earlier audit verify printed it.",
      notChecked,
    );
  }
  const report = await withTools((tools, options) =>
    tools.verifyAuditLog({ ...options, head: noted?.toLowerCase() }),
  ).catch((error: unknown) => {
    throw new Failure(describeFailure(error), notChecked);
  });
  const { intact, records, head, broken } = report;
  if (flag("json")) out.json(report);
  else if (intact) {
    out.line(`The audit log is intact: ${records} records`);
    out.line(`Head: ${head}`);
  } else if (broken) {
    out.note(`The audit log is not intact. Record ${broken.seq}: ${broken.reason}`);
  }
  return intact ? 0 : 1;
}
