import type { ApiObject } from '../api/object-meta.ts';
import { StatusError } from '../api/status.ts';
import type { Registry } from '../registry/registry.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import { certificatesIn, toPem } from '../x509/pem.ts';
import { ControllerIdentity } from './identity.ts';

const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const NAMESPACE = 'kube-system';
const NAME = 'extension-apiserver-authentication';
const ATTEMPTS = 5;

/** The data by which servers behind this one verify its requests, for a config map. */
export interface PublishedAuthentication {
  /** Bundles of certificates in PEM form, by key. */
  readonly bundles: Readonly<Record<string, string>>;
  /** Lists, by key. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
}

/**
 * Maintains kube-system/extension-apiserver-authentication, from which API servers behind the aggregator learn which certificates
 * and headers to trust. Servers of one cluster may have authorities of their own, and each adds its own to the existing ones.
 * @throws StatusError
 */
export async function publishAuthentication(
  registry: Registry,
  writer: ObjectWriter,
  published: PublishedAuthentication,
): Promise<void> {
  const definition = registry.findStorage(CONFIG_MAPS);
  if (definition === undefined) throw new Error('the registry has no config maps');
  const context = new ControllerIdentity('pg-apiserver').context(definition, NAMESPACE);
  const merge = (object: ApiObject): ApiObject => ({ ...object, data: mergeData(object.data, published) });
  const create = (): ApiObject =>
    merge({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: NAME, namespace: NAMESPACE } });
  for (let attempt = 1; ; attempt += 1) {
    try {
      await writer.update(context, NAME, { apply: merge, create });
      return;
    } catch (error) {
      const raced = error instanceof StatusError && error.status.code === 409;
      if (!raced || attempt === ATTEMPTS) throw error;
    }
  }
}

function mergeData(
  data: ApiObject['data'],
  { bundles, lists }: PublishedAuthentication,
): Record<string, string> {
  const old = typeof data === 'object' && data !== null && !Array.isArray(data) ? data : {};
  const before = (key: string): string => (typeof old[key] === 'string' ? old[key] : '');
  const merged = new Map(Object.keys(old).map((key) => [key, before(key)]));
  for (const [key, bundle] of Object.entries(bundles)) merged.set(key, mergeBundles(before(key), bundle));
  for (const [key, list] of Object.entries(lists)) merged.set(key, mergeLists(before(key), list));
  return Object.fromEntries(merged);
}

function mergeBundles(some: string, others: string): string {
  const blocks = [some, others].flatMap((text) =>
    certificatesIn(text).map((der) => toPem('CERTIFICATE', der)),
  );
  return [...new Set(blocks)].join('');
}

const mergeLists = (text: string, list: readonly string[]): string =>
  JSON.stringify([...new Set([...parseList(text), ...list])]);

function parseList(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.map(String) : [];
  } catch {
    return [];
  }
}
