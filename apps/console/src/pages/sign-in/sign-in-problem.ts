import type { SignInProblem } from "@gantry/sdk";

/** Texts of the OpenID provider are not shown, because anyone can put a text into an address. */
export const problemTexts: Readonly<Record<SignInProblem, string>> = {
  expired: "This sign-in has expired or was started in another browser. Start again.",
  refused: "The provider did not sign you in. Start again, or choose another way to sign in.",
  unavailable: "The provider can't be reached. Try again in a minute.",
  invalid: "The provider's answer is not valid. Start again. If this happens again, ask the operator to read the log.",
  not_allowed: "Your account at the provider may not use this server. Ask an admin to add you.",
  no_account: "You have no account here yet. Ask an admin to create one.",
  name_invalid: "Your name at the provider can't be a username here. Ask the operator to choose another claim.",
  name_taken: "Your username is taken here by an account that isn't linked to you. Ask an admin.",
  disabled: "Your account is disabled. Ask an admin.",
};
