import type { ResourceOf } from '../api/names.ts';
import type { ConfigMap } from '../api/types/core/v1.ts';
import type { Client } from '../verbs/client/client.ts';

const CONFIG_MAPS: ResourceOf<ConfigMap> = { group: '', resource: 'configmaps' };
const NAMESPACE = 'kube-system';
const NAME = 'kube-apiserver-legacy-service-account-token-tracking';

/**
 * Notes since when the use of service account tokens in secrets is recorded. A controller manager deletes those that were not
 * used for a year, and must know since when uses are seen.
 * @throws StatusError, StorageError
 */
export async function noteTokenTracking(client: Client, now: Date): Promise<void> {
  const since = now.toISOString().slice(0, '2026-01-01'.length);
  const begin = (map: ConfigMap): ConfigMap => ({ ...map, data: { ...map.data, since } });
  const metadata = { name: NAME, namespace: NAMESPACE };
  await client.ensure(CONFIG_MAPS, begin({ kind: 'ConfigMap', apiVersion: 'v1', metadata }), {
    mend: (found) => (isDate(found) ? undefined : begin(found)),
  });
}

const isDate = ({ data }: ConfigMap): boolean => /^\d{4}-\d{2}-\d{2}$/.test(data?.since ?? '');
