import { type Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { request, request as requestHttps } from 'node:https';
import type { JsonValue } from '../api/object-meta.ts';
import type { RemoteServer } from './client-config.ts';
import type { Dial } from './egress/dial.ts';
import { createHttpAgent } from './egress/dialled-agents.ts';
import { SecureAgent } from './secure-agent.ts';
import { tlsTrouble } from './tls-trouble.ts';

/** An unsuccessful answer. */
class HttpStatusError extends Error {
  readonly code: number;
  /** Whether the answer has a Retry-After header. */
  readonly retryAfter: boolean;

  constructor(code: number, retryAfter: boolean) {
    super(`the server answered with status ${code}`);
    this.name = 'HttpStatusError';
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

interface AnswerRules {
  readonly succeeds: (code: number) => boolean;
  /** The size limit of the answer, regardless of the length that it announces. */
  readonly maxBytes: number;
}

/** The text of a successful answer. @throws Error for any other answer, or one that is too long */
async function readAnswer(response: IncomingMessage, { succeeds, maxBytes }: AnswerRules): Promise<string> {
  const code = response.statusCode ?? 0;
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) {
      response.destroy();
      throw new Error(`the server answered with more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  if (!succeeds(code)) throw new HttpStatusError(code, response.headers['retry-after'] !== undefined);
  return Buffer.concat(chunks).toString('utf8');
}

/** Fetches a document by HTTPS. @throws Error, also for an answer that is not 200 */
export type HttpsGet = (url: string, options?: GetOptions) => Promise<string>;

interface GetOptions {
  readonly authorization?: string;
  readonly signal?: AbortSignal;
}

/** Key sets and tokens are small. A redirect is an error, because it may lead anywhere. */
const DOCUMENT = { succeeds: (code: number): boolean => code === 200, maxBytes: 1024 * 1024 };
/** Limit for the whole answer (Kubernetes: the same for identity providers). */
const TIMEOUT_MS = 30_000;

/** `ca` in PEM form; undefined: the authorities that the host trusts. `dial` opens the connections; undefined: the system does. */
export function createHttpsGet(ca: string | undefined, dial?: Dial, timeoutMs = TIMEOUT_MS): HttpsGet {
  const kept = { keepAlive: true, maxFreeSockets: 2 };
  const agent = new SecureAgent({ ...kept, ...(ca === undefined ? {} : { ca }) }, dial);
  return (url, { authorization, signal } = {}) =>
    new Promise((resolve, reject) => {
      const limit = AbortSignal.timeout(timeoutMs);
      const options = {
        agent,
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        ...(authorization === undefined ? {} : { headers: { authorization } }),
      };
      const sent = request(
        url,
        options,
        (response) => void readAnswer(response, DOCUMENT).then(resolve, reject),
      );
      sent.once('error', reject);
      sent.end();
    });
}

/** Sends a JSON body and returns the JSON of the answer. @throws Error */
type JsonPost = (body: JsonValue, signal: AbortSignal) => Promise<JsonValue>;

const JSON_ANSWER = {
  succeeds: (code: number): boolean => code >= 200 && code <= 299,
  maxBytes: 3 * 1024 * 1024,
};
const IDLE_SOCKETS = 8;

/** Keeps connections to one server open between requests. */
export const createKeptAgent = (server: RemoteServer, secure: boolean): Agent =>
  secure
    ? new SecureAgent(
        {
          keepAlive: true,
          maxFreeSockets: IDLE_SOCKETS,
          rejectUnauthorized: !server.insecureSkipVerify,
          ...(server.ca === undefined ? {} : { ca: server.ca }),
          ...(server.certificate === undefined ? {} : { cert: server.certificate, key: server.key }),
          ...(server.serverName === undefined ? {} : { servername: server.serverName }),
        },
        server.dial,
      )
    : createHttpAgent({ keepAlive: true, maxFreeSockets: IDLE_SOCKETS }, server.dial);

/** A connection to one server, kept open between requests. */
export function createJsonPost(server: RemoteServer): JsonPost {
  const url = new URL(server.url);
  const secure = url.protocol === 'https:';
  const agent = createKeptAgent(server, secure);
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(server.authorization === undefined ? {} : { authorization: server.authorization }),
  };
  return (body, signal) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(JSON.stringify(body));
      const send = secure ? requestHttps : requestHttp;
      const options = {
        method: 'POST',
        agent,
        signal,
        headers: { ...headers, 'content-length': bytes.length },
      };
      const request = send(url, options, (response) => void read(response).then(resolve, reject));
      request.once('error', reject);
      request.end(bytes);
    });
}

const read = async (response: IncomingMessage): Promise<JsonValue> =>
  JSON.parse(await readAnswer(response, JSON_ANSWER));

/** Whether a failed request may succeed when it is tried again. */
export function isTransient(error: unknown): boolean {
  if (error instanceof HttpStatusError) {
    return (
      error.retryAfter || error.code === 429 || error.code === 500 || error.code === 503 || error.code === 504
    );
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return (
    typeof code === 'string' &&
    ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET'].includes(code)
  );
}

/** Go's texts for the error codes of Node and OpenSSL, which clients and operators know. */
const DIAL_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
  ETIMEDOUT: 'i/o timeout',
};

const CERTIFICATE_ERRORS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'x509: certificate signed by unknown authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'x509: certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'x509: certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'x509: certificate signed by unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'x509: certificate signed by unknown authority',
  CERT_SIGNATURE_FAILURE: 'x509: certificate signed by unknown authority',
  CERT_HAS_EXPIRED: 'x509: certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'x509: certificate has expired or is not yet valid',
};

interface Dialed {
  readonly host: string;
  /** `host:port` */
  readonly authority: string;
}

/** Describes a failed connection in Go's words. */
export function networkText(
  { code = '', message }: NodeJS.ErrnoException,
  { host, authority }: Dialed,
): string {
  const dialing = DIAL_ERRORS[code];
  if (dialing !== undefined) return `dial tcp ${authority}: ${dialing}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`;
  const certificate = CERTIFICATE_ERRORS[code];
  if (certificate !== undefined) return `tls: failed to verify certificate: ${certificate}`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `tls: failed to verify certificate: x509: certificate is not valid for ${host}`;
  // The server closed the connection before it answered.
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'EOF';
  return tlsTrouble(message) ?? message;
}
