import { managementPage } from "../../account-queries.ts";
import { changePasswordBody, passwordResetRecord, signedInSessionRecord } from "../../sign-in.ts";
import { groupOf } from "../operation.ts";

const forAdmins = "Only for admins, with a key without limits.";

export const sessionGroup = groupOf("/api/v2", {
  tag: "Sessions",
  description: "Who is signed in to the console, and passwords. Not for keys with limits.",
  fails: [403],
  operations: {
    listSessions: {
      method: "get",
      path: "/sessions",
      summary: "List your sessions",
      description: "Newest first: each sign-in to the console that has not ended.",
      answer: signedInSessionRecord,
      list: "results",
      query: managementPage,
    },
    revokeSession: {
      method: "delete",
      path: "/sessions/{id}",
      summary: "End a session",
      description: "Runs that it started go on. An API key with which it was opened keeps working.",
      status: 204,
    },
    revokeOtherSessions: {
      method: "delete",
      path: "/sessions",
      summary: "End all your sessions but this one",
      description: "With an API key: all sessions. API keys keep working.",
      status: 204,
    },
    changePassword: {
      method: "put",
      path: "/me/password",
      summary: "Change your password",
      description: "Ends all your other sessions. An account without a password gets its first one from an admin.",
      body: changePasswordBody,
      example: { current_password: "what it was until now", new_password: "a walk in the rain" },
      status: 204,
      fails: [409, 429],
    },
    listSessionsOf: {
      method: "get",
      path: "/admin/users/{username}/sessions",
      summary: "List the sessions of a user",
      description: `Newest first. ${forAdmins}`,
      answer: signedInSessionRecord,
      list: "results",
      query: managementPage,
    },
    revokeSessionOf: {
      method: "delete",
      path: "/admin/users/{username}/sessions/{id}",
      summary: "End a session of a user",
      description: forAdmins,
      status: 204,
    },
    revokeSessionsOf: {
      method: "delete",
      path: "/admin/users/{username}/sessions",
      summary: "End all sessions of a user",
      description: `API keys of the user keep working. ${forAdmins}`,
      status: 204,
    },
    makePasswordReset: {
      method: "post",
      path: "/admin/users/{username}/password-reset",
      summary: "Create a link that sets a new password",
      description: `The link works once, within 24 hours, and ends all sessions of the user. A new link replaces the last one. ${forAdmins}`,
      answer: passwordResetRecord,
      status: 201,
    },
    unlinkIdentity: {
      method: "delete",
      path: "/admin/users/{username}/identity",
      summary: "Unlink a user from the OpenID provider",
      description: `The next person with this username can be linked, if the settings allow it. ${forAdmins}`,
      status: 204,
    },
  },
});
