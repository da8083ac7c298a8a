/** Wider than what AWS allows today, because other S3 servers and older AWS buckets use these names. */
export function isBucketName(text: string): boolean {
  return /^[A-Za-z0-9._-]{2,255}$/.test(text);
}
