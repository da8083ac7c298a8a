export const exportArchive = {
  media: "application/gzip",
  description: "A `.tar.gz`. The last file is `manifest.json`; without it the archive was cut.",
};

export const archive = (who: string): string =>
  `A \`.tar.gz\` that is written while it is read: lists as JSON Lines with the records of this API, the files and the contents of drives. Secrets are not part of it. Nothing is stored: if the connection breaks, ask again; closing it stops the work. One export of an account runs at a time, and few on a server. Each is recorded in the audit log. ${who}`;
