import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface IssuedKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
  expiration: Date;
}

export interface CredentialServer {
  url: string;
  /** What is issued from now on; undefined: an error. */
  keys: IssuedKeys | undefined;
  /** Bodies and authorizations of the requests. */
  asked: string[];
  close(): void;
}

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** As the agent of ECS and EKS answers at AWS_CONTAINER_CREDENTIALS_FULL_URI. */
export async function startContainerCredentials(keys: IssuedKeys): Promise<CredentialServer> {
  const server = createServer((request, response) => {
    issuer.asked.push(request.headers.authorization ?? "");
    if (!issuer.keys) {
      response.writeHead(500, { "content-type": "application/json" }).end("{}");
      return;
    }
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = issuer.keys;
    const text = JSON.stringify({
      AccessKeyId: accessKeyId,
      SecretAccessKey: secretAccessKey,
      Token: sessionToken,
      Expiration: expiration.toISOString(),
    });
    response.writeHead(200, { "content-type": "application/json" }).end(text);
  });
  const issuer: CredentialServer = {
    url: `${await listen(server)}/credentials`,
    keys,
    asked: [],
    close: () => server.close(),
  };
  return issuer;
}

/** As STS answers AssumeRoleWithWebIdentity. */
export async function startSts(keys: IssuedKeys): Promise<CredentialServer> {
  const server = createServer(async (request, response) => {
    issuer.asked.push(Buffer.concat(await request.toArray()).toString());
    if (!issuer.keys) {
      response.writeHead(403, { "content-type": "text/xml" }).end(`<ErrorResponse><Error><Type>Sender</Type>
        <Code>AccessDenied</Code><Message>Not authorized to perform sts:AssumeRoleWithWebIdentity</Message></Error>
        </ErrorResponse>`);
      return;
    }
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = issuer.keys;
    response
      .writeHead(200, { "content-type": "text/xml" })
      .end(`<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
        <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${accessKeyId}</AccessKeyId>
        <SecretAccessKey>${secretAccessKey}</SecretAccessKey><SessionToken>${sessionToken}</SessionToken>
        <Expiration>${expiration.toISOString()}</Expiration></Credentials>
        <AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/gantry/s</Arn><AssumedRoleId>A:s</AssumedRoleId></AssumedRoleUser>
        </AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`);
  });
  const issuer: CredentialServer = { url: await listen(server), keys, asked: [], close: () => server.close() };
  return issuer;
}
