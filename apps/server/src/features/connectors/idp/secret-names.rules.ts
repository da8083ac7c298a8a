/** Texts under such names are secrets wherever they stand, also where no path of the table names them. */
const secret = new RegExp(
  [
    "secret$",
    "password(?!less)",
    "(private|access|master|sas|api|secret)[_-]?key",
    "(access|refresh|id|auth|twilio)[_-]?token$",
    "client_?assertion$",
    "^(proxy-)?authorization$",
    "^(set-)?cookie$",
  ].join("|"),
  "i",
);

/** Names that only sound so: rules for passwords and moments of them, names and ids of keys, and the script of that name. */
const harmless = /(policy|reset|changed|date|_at|method|type|(key|password)[_-]?(name|id))$|^change_password$/i;

export function isSecretName(name: string): boolean {
  return secret.test(name) && !harmless.test(name);
}
