import type { ResourceTarget } from './api-request.ts';

/** Subresources whose answers last as long as somebody listens (Kubernetes: the server's long-running check). */
const LONG_RUNNING: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Whether a request may last: it has no deadline of the server's, counts against no limit, and ends with the server. */
export function isLongRunning({
  verb,
  target,
}: {
  readonly verb: string;
  readonly target: ResourceTarget | undefined;
}): boolean {
  return verb === 'watch' || (target !== undefined && LONG_RUNNING.has(target.subresource));
}
