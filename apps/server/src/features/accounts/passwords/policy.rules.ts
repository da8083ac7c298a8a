const mostBytes = 1024;
const fewestDifferent = 4;

/** Long enough for the policy, and tried first by everyone who guesses. Compared without case, digits and signs at the end. */
const common: ReadonlySet<string> = new Set(
  `password passwort passw0rd p@ssw0rd p@ssword mypassword thepassword passwordpassword password1password
   letmein letmeinnow letmeinplease qwerty qwertyuiop qwertyqwerty qwertz qwertzuiop azertyuiop asdfghjkl asdfghjklö
   1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx3edc q1w2e3r4t5 zaq12wsxcde zxcvbnm welcome welcomehome welcome2gantry
   iloveyou iloveyouforever changeme changemenow changeit secret topsecret supersecret administrator
   admin adminadmin superadmin sunshine princess football baseball basketball superman batman trustno1 whatever
   correcthorsebatterystaple correct-horse-battery-staple gantry gantrygantry gantryadmin hello helloworld`.split(
    /\s+/,
  ),
);

/** Why a new password is refused; undefined: it is accepted. */
export function passwordProblem(password: string, username: string, minLength: number): string | undefined {
  if ([...password].length < minLength) return `Use at least ${minLength} characters`;
  if (Buffer.byteLength(password) > mostBytes) return `Use at most ${mostBytes} bytes`;
  const plain = password.normalize("NFKC").toLowerCase();
  if (new Set(plain).size < fewestDifferent) return `Use at least ${fewestDifferent} different characters`;
  const core = plain.replace(/[\d\p{P}\p{S}\s]+$/u, "");
  if (plain === username || core === username || plain === username.repeat(plain.length / username.length)) {
    return "Do not use your username as the password";
  }
  if (common.has(plain) || common.has(core) || isSequence(plain)) return "This password is too common";
  return undefined;
}

const rows = ["0123456789012345678901234567890", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm"];

function isSequence(text: string): boolean {
  const backwards = [...text].reverse().join("");
  return rows.some((row) => row.includes(text) || row.includes(backwards));
}
