import { StatusError } from '../api/status.ts';
import type { ConfigMap } from '../api/types/core/v1.ts';
import type { Registry } from '../registry/registry.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import { ControllerIdentity } from './identity.ts';

const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const NAMESPACE = 'kube-system';
const NAME = 'kube-apiserver-legacy-service-account-token-tracking';

/**
 * Records the day from which the use of service account tokens in secrets is tracked. A controller manager deletes tokens that
 * were not used for a year, and must know since when their use is known.
 * @throws StatusError
 */
export async function noteTokenTracking(registry: Registry, writer: ObjectWriter, now: Date): Promise<void> {
  const definition = registry.findStorage(CONFIG_MAPS);
  if (definition === undefined) throw new Error('the registry has no config maps');
  const since = now.toISOString().slice(0, '2026-01-01'.length);
  const context = new ControllerIdentity('pg-apiserver').context(definition, NAMESPACE);
  const begin = (object: ConfigMap): ConfigMap => ({ ...object, data: { ...object.data, since } });
  const create = (): ConfigMap =>
    begin({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: NAME, namespace: NAMESPACE } });
  try {
    await writer.update(context, NAME, { apply: (found) => (isDate(found) ? found : begin(found)), create });
  } catch (error) {
    // Another server was faster, and recorded the same.
    if (!(error instanceof StatusError) || error.status.code !== 409) throw error;
  }
}

const isDate = ({ data }: ConfigMap): boolean => /^\d{4}-\d{2}-\d{2}$/.test(data?.since ?? '');
