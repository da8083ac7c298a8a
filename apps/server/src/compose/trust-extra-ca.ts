import { getCACertificates, setDefaultCACertificates } from "node:tls";

/** Must run before S3, RabbitMQ or PostgreSQL connect: their libraries open connections of their own. */
export function trustExtraCa(pem: string | undefined): void {
  if (pem !== undefined) setDefaultCACertificates([...getCACertificates("default"), pem]);
}
