/** Wider than what AWS gives out today: stores that speak S3 take these, and AWS itself did. */
export function isBucketName(text: string): boolean {
  return /^[A-Za-z0-9._-]{2,255}$/.test(text);
}
