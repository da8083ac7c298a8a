import { z } from "zod";
import { managementPage } from "./account-queries.ts";
import { moment, moments, onlyParameters } from "./query-schema.ts";

/** What the audit log records: `object.verb`, with a sentence about what happened. */
export const auditActions = {
  "session.open": "Signed in to the console.",
  "session.refuse": "Failed to sign in to the console.",
  "session.close": "Signed out of the console.",
  "session.end": "Ended sessions of a user.",
  "sign_in_link.create": "Created a sign-in link.",
  "user.create": "Created a user.",
  "user.update": "Changed role, plan, password or access of a user.",
  "user.delete": "Deleted an account: access ended at once, and its data is deleted in the background.",
  "user.change_password": "Changed the own password.",
  "user.create_reset_link": "Created a link that sets a new password.",
  "user.reset_password": "Set a new password with a link.",
  "user.export": "Downloaded all data of a user or a team.",
  "user.link": "Linked a user to a person of the OpenID provider.",
  "user.unlink": "Unlinked a user from the OpenID provider.",
  "key.create": "Created an API key.",
  "key.update": "Changed the name, expiry, models or limits of an API key.",
  "key.rotate": "Replaced the secret of an API key.",
  "key.revoke": "Revoked an API key.",
  "team.create": "Created a team.",
  "team.close": "Closed a team.",
  "member.add": "Added a member to a team.",
  "member.update": "Changed the role or the budget of a member.",
  "member.remove": "Removed a member from a team, or left it.",
  "plan.put": "Created or changed a plan.",
  "plan.delete": "Deleted a plan.",
  "credit.add": "Added money to a wallet or deducted some.",
  "notice_settings.put": "Changed when notices are created, or their webhook.",
  "model.put": "Created a model or replaced its manifest.",
  "model.update": "Changed a model.",
  "model.import": "Created or updated a model from a provider.",
  "model.delete": "Deleted a model.",
  "model.restore": "Restored a built-in model that was deleted.",
  "model.take_down": "Took a model down.",
  "model.reinstate": "Restored a model that was taken down.",
  "alias.put": "Created or changed an alias.",
  "alias.delete": "Deleted an alias.",
  "provider.put": "Created or changed a provider.",
  "provider.delete": "Deleted a provider.",
  "secret.put": "Stored or replaced a secret.",
  "secret.delete": "Deleted a secret.",
  "webhook_secret.rotate": "Replaced the signing secret of webhooks.",
  "agent.create": "Created an agent.",
  "agent.update": "Changed an agent.",
  "agent.publish": "Published a revision of an agent.",
  "agent.delete": "Deleted an agent.",
  "agent.take_down": "Took an agent down.",
  "agent.reinstate": "Restored an agent that was taken down.",
  "confirmation.approve": "Approved a tool call of a run.",
  "confirmation.deny": "Denied a tool call of a run.",
  "schedule.create": "Created a schedule.",
  "schedule.update": "Changed a schedule.",
  "schedule.delete": "Deleted a schedule.",
  "trigger.create": "Created a trigger.",
  "trigger.update": "Changed a trigger.",
  "trigger.rotate": "Replaced the secret address of a trigger.",
  "trigger.delete": "Deleted a trigger.",
  "drive.create": "Created a drive.",
  "drive.update": "Changed a drive.",
  "drive.delete": "Deleted a drive.",
  "tool_server.create": "Registered a tool server.",
  "tool_server.update": "Changed a tool server.",
  "tool_server.delete": "Removed a tool server.",
  "tool_server.authorize": "Authorized a tool server with an account of the user.",
  "tool_server.forget": "Removed the authorization of a tool server.",
  "connector.put": "Stored the identity connector.",
  "connector.delete": "Deleted the identity connector.",
  "settings.change": "Started the server with other settings.",
  "installation.rekey": "Re-encrypted stored credentials with another key.",
  "installation.restore": "Restored the installation from a backup.",
} as const;

export type AuditAction = keyof typeof auditActions;
export const auditActionNames = Object.keys(auditActions) as [AuditAction, ...AuditAction[]];

/** The part before the dot. */
export type AuditObjectType = AuditAction extends `${infer Type}.${string}` ? Type : never;

export const auditActorTypes = ["user", "operator", "system", "anonymous"] as const;
export type AuditActorType = (typeof auditActorTypes)[number];

const fields = z.record(z.string(), z.unknown()).nullable();

export const auditRecord = z.object({
  seq: z.int().describe("Number of the record, without gaps."),
  created_at: z.iso.datetime(),
  action: z.string().describe("What happened, such as `key.create`. The documentation lists all."),
  actor: z.object({
    type: z
      .enum(auditActorTypes)
      .describe(
        "`operator`: settings and commands on the server. `system`: the server itself. `anonymous`: a caller who was not identified.",
      ),
    id: z.string().nullable(),
    username: z.string().nullable(),
    key_id: z.string().nullable(),
    key_public: z.string().nullable().describe("Public part of the key that was presented."),
    session: z.boolean().describe("Whether the request came with a console session."),
  }),
  origin: z
    .object({
      address: z.string().nullable().describe("Network address of the client, or of the proxy before the server."),
      user_agent: z.string().nullable(),
      request_id: z.string().nullable(),
    })
    .nullable()
    .describe("Null for work without a request, and for actions of admins in the list of a user."),
  object: z.object({ type: z.string(), id: z.string(), name: z.string().nullable() }),
  owner: z
    .object({ id: z.string(), username: z.string().nullable() })
    .nullable()
    .describe("The user whose object it is. Null if it belongs to the installation."),
  before: fields.describe("Changed fields before. Null if the object was created."),
  after: fields.describe("Changed fields after. Null if the object was deleted."),
  hash: z.string().describe("SHA-256 of the record and of the hash before it, in hex."),
});
export type AuditRecord = z.infer<typeof auditRecord>;

const name = (description: string) => z.string().min(1).max(200).optional().describe(description);

const ownFilter = {
  action: name("Only this action, or those that begin with this text, such as `key`."),
  q: name("Only records with exactly this id or name: of an actor, key, object, owner or request."),
  from_date: moment.describe(`Only entries at or after this time, by \`created_at\`. ${moments}`),
  to_date: moment.describe(`Only entries at or before this time, by \`created_at\`. ${moments}`),
};

/** A misspelt filter must not show everything. */
export const ownAuditQuery = onlyParameters({ ...managementPage.shape, ...ownFilter });

export const auditQuery = onlyParameters({
  ...managementPage.shape,
  ...ownFilter,
  actor: name("Only actions of this user, by id or username."),
  owner: name("Only objects of this user, by id or username."),
  object: name("Only this object, by id or name."),
});

export const auditReport = z.object({
  intact: z.boolean(),
  records: z.int().describe("Records that were checked."),
  first: z.int().nullable().describe("`seq` of the first record."),
  last: z.int().describe("`seq` of the last record; 0 before the first one."),
  head: z.string().describe("Hash of the last record. Store it elsewhere and verify with it later."),
  broken: z
    .object({ seq: z.int(), reason: z.string() })
    .nullable()
    .describe("The first record that is not as it was written."),
});
export type AuditReport = z.infer<typeof auditReport>;
