import { authorityOf, type BackendTransport } from '../request/backend.ts';
import type { RemoteVersion } from './managed-api-services.ts';
import { AGGREGATOR, userHeaders } from './remote-user.ts';
import type { ServiceResolver } from './service-resolver.ts';

export interface FetchParts {
  readonly resolver: Pick<ServiceResolver, 'resolve'>;
  readonly transport: BackendTransport;
}

export interface Wanted {
  /** GET by default. */
  readonly method?: 'GET' | 'DELETE';
  readonly path: string;
  readonly accept: string;
  /** The etag of the known document; '' for none. */
  readonly etag: string;
  readonly limits: { readonly bytes: number; readonly ms: number };
}

export interface Fetched {
  readonly code: number;
  readonly etag: string;
  readonly contentType: string;
  readonly text: string;
}

/** Fetches a document from another server, as this server. Aborts an answer that is too large or too slow. @throws Error */
export async function fetchRemote(
  { resolver, transport }: FetchParts,
  { service, tls }: Pick<RemoteVersion, 'service' | 'tls'>,
  { method = 'GET', path, accept, etag, limits, signal }: Wanted & { readonly signal: AbortSignal },
): Promise<Fetched> {
  const { host, port } = await resolver.resolve(service);
  const backend = { scheme: 'https', host, port: String(port), path, query: '', trust: tls } as const;
  const known = etag === '' ? [] : ['If-None-Match', etag];
  const headers = ['Host', authorityOf(backend), 'Accept', accept, ...known, ...userHeaders(AGGREGATOR)];
  const until = AbortSignal.any([signal, AbortSignal.timeout(limits.ms)]);
  try {
    const answer = await transport.send(backend, { method, headers, signal: until, hurried: true });
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const part of answer.body) {
      const chunk: Buffer = part;
      sizeBytes += chunk.length;
      if (sizeBytes > limits.bytes) throw new Error(`${path} has more than ${limits.bytes} bytes`);
      chunks.push(chunk);
    }
    return {
      code: answer.code,
      etag: answer.headers.etag ?? '',
      contentType: answer.headers['content-type'] ?? '',
      text: Buffer.concat(chunks).toString(),
    };
  } catch (error) {
    if (until.aborted && !signal.aborted)
      throw new Error(`${path} did not come within ${limits.ms / 1000}s`, { cause: error });
    throw error;
  }
}
