import type { Cluster } from './cluster.ts';

/**
 * Waits until the server acts on what was written to this collection. Admission knows what the watch cache knows: a moment after
 * a write was answered, that write may be missing there.
 */
export async function settle(cluster: Pick<Cluster, 'request'>, path: string): Promise<void> {
  const { resourceVersion } = (await cluster.request('GET', path)).json.metadata;
  await cluster.request(
    'GET',
    `${path}?resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan`,
  );
}
