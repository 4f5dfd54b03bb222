import { readYamlAside } from '../codec/yaml-aside.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { MAX_BODY_BYTES } from './context.ts';

/**
 * The body of a request. One in YAML has been read already when this resolves, aside of the event loop, so that the parser
 * only fetches what came of it.
 * @throws StatusError 400, 413, 429
 */
export async function receive(request: ApiRequest): Promise<Buffer> {
  const bytes = await request.body(MAX_BODY_BYTES);
  const isYaml = /yaml/i.test(request.headers['content-type'] ?? '');
  if (isYaml) await readYamlAside(bytes);
  return bytes;
}
