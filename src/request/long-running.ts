import type { ApiRequest } from './api-request.ts';

const SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Requests that last as long as the caller likes: no timeout and no limit on concurrency is meant for them. */
export function isLongRunning({ verb, target, path }: Pick<ApiRequest, 'verb' | 'target' | 'path'>): boolean {
  if (verb === 'watch' || verb === 'proxy') return true;
  return target === undefined ? path.startsWith('/debug/pprof/') : SUBRESOURCES.has(target.subresource);
}
